package situations

import (
	"strings"
	"testing"
	"time"
)

// minute is the interval of the machines under test.
const minute = time.Minute

// walker drives one machine with a word of verdicts, one a minute.
type machineWalk struct {
	l     limits
	state State
	at    time.Time
	now   int
}

func newWalk(l limits) *machineWalk {
	l.interval = minute
	l.open.Samples, l.clear.Samples = max(l.open.Samples, 1), max(l.clear.Samples, 1)
	return &machineWalk{l: l, at: time.Unix(1_000_000, 0).UTC()}
}

var verdictLetters = map[rune]Verdict{'T': True, 'F': False, 'H': Hold, 'U': Unknown, 'G': Gone}

// sample steps once; lower case is an extra sample half a minute later.
func (w *machineWalk) sample(letter rune) outcome {
	v, scheduled := verdictLetters[letter], true
	if letter >= 'a' {
		v, scheduled = verdictLetters[letter-'a'+'A'], false
		w.at = w.at.Add(minute / 2)
	} else {
		w.now++
		w.at = time.Unix(1_000_000, 0).UTC().Add(time.Duration(w.now) * minute)
	}
	ticks := 0
	if !w.state.LastGood.IsZero() {
		s := Schedule{Every: minute}
		ticks = s.ticks(w.state.LastGood, w.at, time.Unix(1_000_000, 0), maxGap+1)
	}
	var out outcome
	w.state, out = step(&w.l, w.state, input{verdict: v, at: w.at, scheduled: scheduled, ticks: ticks, epoch: int64(w.now + 1)})
	return out
}

func edgeLetter(o outcome) byte {
	switch {
	case o.removed:
		return 'x'
	case o.edge == EdgeOpen:
		return 'O'
	case o.edge == EdgeClear:
		return 'C'
	case o.edge == EdgeRepeat:
		return 'R'
	}
	return '.'
}

func phaseLetter(p Phase) byte { return "ipor"[p] }

// TestMachine_Walks shows for every sample the phase it leads to and the edge it
// gives: O open, C clear, R repeat, x removed.
func TestMachine_Walks(t *testing.T) {
	t.Parallel()
	two := Persistence{Samples: 2}
	three := Persistence{Samples: 3}
	cases := []struct {
		name     string
		l        limits
		verdicts string
		phases   string
		edges    string
	}{
		{"an initial false is no edge", limits{}, "FFF", "iii", "..."},
		{"one sample opens and clears", limits{}, "TTFFT", "ooiio", "O.C.O"},
		{"two samples open", limits{open: two}, "TTF", "poi", ".OC"},
		{"consecutive means consecutive", limits{open: two}, "TFTFTT", "pipipo", ".....O"},
		{"hold breaks a count", limits{open: two}, "THTT", "pipo", "...O"},
		{"hold keeps an open one", limits{}, "THHF", "oooi", "O..C"},
		{"two samples clear", limits{clear: two}, "TFF", "ori", "O.C"},
		{"true while recovering is no second open", limits{clear: two}, "TFTFF", "ororI", "O...C"},
		{"hold while recovering", limits{clear: two}, "TFHFF", "orori", "O...C"},
		{"unknown decides nothing", limits{}, "TUUUUF", "oooooi", "O....C"},
		{"unknown before anything", limits{}, "UUT", "iio", "..O"},
		{"unknown keeps a count", limits{open: three}, "TUTT", "pppo", "...O"},
		{"two unknown keep it too", limits{open: two}, "TUUT", "pppo", "...O"},
		{"a long gap begins anew", limits{open: two}, "TUUUTT", "pppppo", ".....O"},
		{"a long gap while recovering", limits{clear: two}, "TFUUUFF", "orrrrri", "O.....C"},
		{"one sample without the queue is nothing", limits{}, "TGTF", "oooi", "O..C"},
		{"two are the end, without a clear edge", limits{}, "TGGT", "ooio", "O.xO"},
		{"the count of missing samples is not kept", limits{}, "TGTGTGG", "oooooOi", "O.....x"},
		{"gone of what is not open", limits{open: two}, "TGGF", "ppii", "..x."},
		{"every sample", limits{again: ActAgain{EverySample: true}}, "TTUTHTF", "ooooooi", "OR.R.RC"},
		{"after two minutes", limits{again: ActAgain{After: 2 * minute}}, "TTTTTF", "oooooi", "O.R.RC"},
		{"extra samples do not count", limits{open: two}, "TtttT", "ppppo", "....O"},
		{"an extra sample opens where none is asked for", limits{}, "Ftt", "ioo", ".O."},
		{"an extra sample breaks a count", limits{open: two}, "TfTT", "pipo", "...O"},
		{"an extra sample clears", limits{}, "Tff", "oii", "OC."},
		{"an extra sample does not repeat", limits{again: ActAgain{EverySample: true}}, "TttT", "oooo", "O..R"},
		{"an extra sample does not make a queue gone", limits{}, "TgggT", "ooooo", "O...."},
		{"for ninety seconds", limits{open: Persistence{Duration: 90 * time.Second}}, "TTTF", "ppoi", "..OC"},
		{"time that nobody saw does not count in full", limits{open: Persistence{Duration: 3 * minute}}, "TUUTTTT", "pppppoo", ".....O."},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(c.l)
			var phases, edges strings.Builder
			for _, v := range c.verdicts {
				edges.WriteByte(edgeLetter(w.sample(v)))
				phases.WriteByte(phaseLetter(w.state.Phase))
			}
			if phases.String() != strings.ToLower(c.phases) || edges.String() != c.edges {
				t.Errorf("%s: phases %s edges %s, want %s %s", c.verdicts, phases.String(), edges.String(), strings.ToLower(c.phases), c.edges)
			}
		})
	}
}

func TestMachine_Flapping_IsKeptOverSamplesAndEnds(t *testing.T) {
	t.Parallel()
	w := newWalk(limits{})
	for _, v := range "TFTFT" {
		w.sample(v)
	}
	if w.state.Flapping {
		t.Fatal("five changes are not flapping")
	}
	w.sample('F')
	if !w.state.Flapping {
		t.Fatal("six changes in six samples are flapping")
	}
	n := 0
	for ; w.state.Flapping && n < 2*flapWindow; n++ {
		w.sample('F')
	}
	if n >= flapWindow {
		t.Errorf("flapping ended %d quiet samples later, want less than %d", n, flapWindow)
	}
	for range flapWindow {
		w.sample('F')
	}
	if !w.state.pristine() {
		t.Errorf("a quiet item keeps a history: %+v", w.state)
	}
}

func TestState_Codec_KeepsEverything(t *testing.T) {
	t.Parallel()
	s := State{
		Phase: Recovering, Count: 3, Held: 90 * time.Second, LastGood: time.Unix(5, 6).UTC(), Opened: time.Unix(1, 0).UTC(),
		Acted: true, LastActed: time.Unix(2, 0).UTC(), Epoch: 7, Sequence: 8, Gone: 1, History: 5, Flapping: true, Disarmed: true,
		Claim: "DCQ1", Fingerprint: 1 << 63, Cluster: "C1", Summary: "s", Description: "d",
	}
	b, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeState(b)
	if err != nil {
		t.Fatal(err)
	}
	if got != s {
		t.Errorf("got %+v\nwant %+v", got, s)
	}
	again, err := got.encode()
	if err != nil || string(again) != string(b) {
		t.Errorf("encoding it again gives other bytes:\n%s\n%s (%v)", b, again, err)
	}
}

func TestState_Decode_RefusesWhatNoMachineWrote(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "{", "[]", "{}", `{"v":2}`, `{"v":1,"phase":9}`, `{"v":1,"count":-1}`, `{"v":1,"phase":"open"}`} {
		if _, err := decodeState([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
