package redistribute

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func (s *fakeStore) LoadLedger(queue string, since time.Time) ([]LedgerEntry, error) {
	if s.fail != nil {
		return nil, s.fail
	}
	var out []LedgerEntry
	for _, e := range s.entries[queue] {
		if !e.At.Before(since) {
			out = append(out, e)
		}
	}
	if s.entries != nil {
		s.entries[queue] = slices.Clone(out)
	}
	return out, nil
}

func (s *fakeStore) AppendLedger(queue string, entries []LedgerEntry) error {
	if s.fail != nil {
		return s.fail
	}
	if s.entries == nil {
		s.entries = map[string][]LedgerEntry{}
	}
	s.entries[queue] = append(s.entries[queue], entries...)
	return nil
}

func job(q *fakeQueue, r Rules) *Job {
	return &Job{Name: "DCQ1", Queue: q, Ledger: NewLedger(0, nil), Rules: r}
}

func TestRunOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		depth   int
		set     func(*fakeQueue)
		rules   Rules
		want    Outcome
		moved   int
		remain  int
		reason  string
		started bool
	}{
		{name: "all", depth: 130, want: Empty, moved: 130, started: true},
		{name: "nothing there", want: Empty},
		{name: "never", depth: 3, rules: Rules{Never: true}, want: Refused, remain: 3, reason: "never"},
		{name: "reader", depth: 3, set: func(q *fakeQueue) { q.readers = 1 }, want: Reader, remain: 3},
		{name: "no instance", depth: 3, set: func(q *fakeQueue) { q.ready = 0 }, want: Waiting, remain: 3},
		{name: "not known", depth: 3, set: func(q *fakeQueue) { q.unknown = true }, want: Waiting, remain: 3, reason: "not known"},
		{
			name: "priority needs any", depth: 3, set: func(q *fakeQueue) { q.useQ = "LOCAL" },
			rules: Rules{Lever: "CLWLPRTY"}, want: Refused, remain: 3, reason: "CLWLUSEQ(LOCAL)",
		},
		{name: "rank needs it only before 8", depth: 3, set: func(q *fakeQueue) { q.useQ = "LOCAL" }, rules: Rules{Lever: "CLWLRANK"}, want: Empty, moved: 3, started: true},
		{
			name: "rank before 8", depth: 3, set: func(q *fakeQueue) { q.useQ = "LOCAL" },
			rules: Rules{Lever: "CLWLRANK", V6: true}, want: Refused, remain: 3,
		},
		{
			name: "binding cannot be seen", depth: 3, set: func(q *fakeQueue) { q.shown, q.defBind = false, "OPEN" },
			want: Refused, remain: 3, reason: "even_if_bound",
		},
		{
			name: "bound to a group of queue managers", depth: 3, set: func(q *fakeQueue) { q.shown, q.defBind = false, "GROUP" },
			want: Refused, remain: 3, reason: "DEFBIND(GROUP)",
		},
		{name: "nothing can be got", depth: 3, set: func(q *fakeQueue) { q.getOff = true }, want: Refused, remain: 3, reason: "GET(DISABLED)"},
		{
			name: "it would land here", depth: 3, set: func(q *fakeQueue) { q.stopped = "landed here" },
			want: Left, remain: 3, reason: "stopped: landed here", started: true,
		},
		{
			name: "even if bound", depth: 3, set: func(q *fakeQueue) { q.shown, q.defBind = false, "OPEN" },
			rules: Rules{EvenIfBound: true}, want: Empty, moved: 3, started: true,
		},
		{
			name: "what must stay", depth: 60, set: func(q *fakeQueue) {
				q.here[0].addressed, q.here[10].poison, q.here[59].bound = true, true, true
			},
			want: Left, moved: 57, remain: 3, started: true,
			reason: "1 addressed to this queue manager, 1 bound on open, 1 backed out too often",
		},
		{
			name: "uncommitted only", depth: 2, set: func(q *fakeQueue) { q.here[0].taken, q.here[1].taken = true, true },
			want: Left, reason: "may come back",
		},
		{
			name: "uncommitted too", depth: 3, set: func(q *fakeQueue) { q.here[1].taken = true },
			want: Left, moved: 2, reason: "1 uncommitted", started: true,
		},
		{
			name: "the reader comes back", depth: 500, set: func(q *fakeQueue) {
				q.before = func(n int) {
					if n == 3 {
						q.readers = 1
					}
				}
			},
			want: Reader, moved: 150, remain: 350, started: true,
		},
		{
			name: "the other instance goes", depth: 500, set: func(q *fakeQueue) {
				q.before = func(n int) {
					if n == 2 {
						q.ready = 0
					}
				}
			},
			want: Waiting, moved: 100, remain: 400, started: true,
		},
		{
			name: "bounded by the depth at the start", depth: 100, set: func(q *fakeQueue) {
				q.before = func(int) {
					for i := range 50 {
						q.put(1000*q.units + i)
					}
				}
			},
			// The horizon of the first unit already leaves out what came later.
			want: Left, moved: 100, remain: 100, reason: "came meanwhile", started: true,
		},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			q := newFakeQueue(tc.depth)
			if tc.set != nil {
				tc.set(q)
			}
			j := job(q, tc.rules)
			started := 0
			j.Started = func() error { started++; return nil }
			got := j.Run(t.Context())
			if got.Outcome != tc.want || got.Moved != tc.moved || got.Remaining != tc.remain {
				t.Errorf("outcome %s moved %d remaining %d (%s), want %s %d %d", got.Outcome, got.Moved, got.Remaining, got.Reason, tc.want, tc.moved, tc.remain)
			}
			if !strings.Contains(got.Reason, tc.reason) {
				t.Errorf("reason %q, want %q in it", got.Reason, tc.reason)
			}
			if (started == 1) != tc.started || started > 1 {
				t.Errorf("started called %d times, want %v", started, tc.started)
			}
			if got.Outcome == Empty && got.Moved > 0 && got.To["QM3"] != got.Moved {
				t.Errorf("to %v, want %d to QM3", got.To, got.Moved)
			}
		})
	}
}

func TestUnitsInFlight(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		q.inFlight = 16
		slow := &slowQueue{fakeQueue: q}
		j := job(q, Rules{})
		j.Queue = slow
		rep := j.Run(t.Context())
		if rep.Outcome != Empty || rep.Moved != 1000 {
			t.Errorf("got %+v", rep)
		}
		if slow.most != MaxInFlight {
			t.Errorf("%d units in flight at most, want %d", slow.most, MaxInFlight)
		}
	})
}

// Units in flight start at one place, so each of them meets the messages that stay.
func TestSkippedAreCountedOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		q.inFlight = MaxInFlight
		for i, m := range q.here {
			m.addressed = i%10 == 0
		}
		j := job(q, Rules{})
		j.Queue = &slowQueue{fakeQueue: q}
		rep := j.Run(t.Context())
		if rep.Outcome != Left || rep.Moved != 900 || rep.Skipped.Addressed != 100 {
			t.Errorf("got %+v, want 900 moved and 100 that stay", rep)
		}
	})
}

// slowQueue takes a second for each unit, so that units are in flight together.
type slowQueue struct {
	*fakeQueue
	flying, most int
}

func (s *slowQueue) MoveUnit(ctx context.Context, u Unit) (Result, error) {
	s.mu.Lock()
	s.flying++
	s.most = max(s.most, s.flying)
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	r, err := s.fakeQueue.MoveUnit(ctx, u)
	s.mu.Lock()
	s.flying--
	s.mu.Unlock()
	return r, err
}

// slowLook takes five seconds for the answer of one look.
type slowLook struct {
	slowQueue
	at, looks int
}

func (s *slowLook) Look(ctx context.Context) (State, error) {
	state, err := s.slowQueue.Look(ctx)
	s.mu.Lock()
	s.looks++
	slow := s.looks == s.at
	s.mu.Unlock()
	if slow {
		time.Sleep(5 * time.Second)
	}
	return state, err
}

// A look whose answer takes its time does not undo what later ones told.
func TestProgressOnlyGoesOn(t *testing.T) {
	t.Parallel()
	for at := range 8 {
		synctest.Test(t, func(t *testing.T) {
			q := newFakeQueue(1000)
			q.inFlight = MaxInFlight
			j := job(q, Rules{})
			j.Queue = &slowLook{slowQueue: slowQueue{fakeQueue: q}, at: at}
			last := 1000
			j.Progress = func(r Report) {
				if r.Remaining > last || r.Taken != 0 {
					t.Errorf("look %d is slow: %d remained, then %d, %d taken", at, last, r.Remaining, r.Taken)
				}
				last = r.Remaining
			}
			if rep := j.Run(t.Context()); rep.Outcome != Empty || rep.Moved != 1000 || rep.Taken != 0 {
				t.Errorf("look %d is slow: %+v", at, rep)
			}
		})
	}
}

func TestCancelEndsAtUnit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		j := job(q, Rules{})
		j.Queue = &slowQueue{fakeQueue: q}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		start := time.Now()
		rep := j.Run(ctx)
		// The third unit was in flight when the run was cancelled; it is waited for and counts.
		if rep.Outcome != Cancelled || rep.Moved != 150 || rep.Remaining != 850 {
			t.Errorf("got %+v", rep)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("took %s, want 3s", took)
		}
	})
}

// cancelledLook is a queue whose run is told to end while it is looked at.
type cancelledLook struct {
	*fakeQueue
	cancel func()
}

func (q cancelledLook) Look(ctx context.Context) (State, error) {
	q.cancel()
	return State{}, ctx.Err()
}

// A run that is told to end before it began has not failed.
func TestCancelledLookIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	j := job(newFakeQueue(10), Rules{})
	j.Queue = cancelledLook{newFakeQueue(10), cancel}
	if rep := j.Run(ctx); rep.Outcome != Cancelled || rep.Err != nil || rep.Moved != 0 {
		t.Errorf("got %+v", rep)
	}
}

func TestTimeoutEndsAtUnit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		j := job(q, Rules{Timeout: 2500 * time.Millisecond})
		j.Queue = &slowQueue{fakeQueue: q}
		rep := j.Run(t.Context())
		if rep.Outcome != Left || rep.Moved != 150 || !strings.Contains(rep.Reason, "timeout") {
			t.Errorf("got %+v", rep)
		}
	})
}

func TestInDoubtUnitIsNotNoted(t *testing.T) {
	t.Parallel()
	q := newFakeQueue(100)
	q.fault = func(n int) (error, bool) {
		if n == 2 {
			return errDown, true
		}
		return nil, false
	}
	j := job(q, Rules{})
	rep := j.Run(t.Context())
	if rep.Outcome != Failed || rep.Moved != 50 || !errors.Is(rep.Err, errDown) || !rep.Doubt {
		t.Errorf("got %+v", rep)
	}
	known, err := j.Ledger.Known("DCQ1", time.Now())
	if err != nil || len(known) != 50 {
		t.Errorf("%d entries (%v), want the 50 whose commit was answered", len(known), err)
	}
}

// A failure is told, whatever else ended the run in the same moment.
func TestFailureIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(1000)
		q.inFlight = MaxInFlight
		q.before = func(n int) {
			if n == 3 {
				q.readers = 1
			}
		}
		q.fault = func(n int) (error, bool) {
			if n == 5 { // in flight when the reader is seen
				return errDown, true
			}
			return nil, false
		}
		j := job(q, Rules{})
		j.Queue = &slowQueue{fakeQueue: q}
		if rep := j.Run(t.Context()); rep.Outcome != Failed || !rep.Doubt || !errors.Is(rep.Err, errDown) {
			t.Errorf("got %+v", rep)
		}
	})
}

// A queue that tells its horizon only with the first unit is bounded by that.
func TestHorizonOfTheFirstUnit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(200)
		q.blind, q.inFlight = true, MaxInFlight
		for _, m := range q.here[:150] {
			m.addressed = true
		}
		q.before = func(n int) {
			if n > 1 {
				q.put(1000 + n)
			}
		}
		j := job(q, Rules{UnitSize: 60})
		j.Queue = &slowQueue{fakeQueue: q}
		if rep := j.Run(t.Context()); rep.Moved != 50 {
			t.Errorf("%d moved of the 50 that were there: %+v", rep.Moved, rep)
		}
	})
}

// A ledger with many entries is compared with the whole queue, however many looks
// that takes.
func TestReturnedMessagesStay_LongLedgerDeepQueue(t *testing.T) {
	t.Parallel()
	q := newFakeQueue(100)
	q.scan = 7
	j := job(q, Rules{})
	var sent []Sent
	for i := range skipMost + 50 {
		sent = append(sent, Sent{Key: keyOf(50 + i)})
	}
	if err := j.Ledger.Note("DCQ1", sent, time.Now()); err != nil {
		t.Fatal(err)
	}
	if rep := j.Run(t.Context()); rep.Moved != 50 || rep.Skipped.Returned != 50 {
		t.Errorf("got %+v", rep)
	}
}

// What moved twice is remembered from the second time on, and a ledger keeps so
// many entries and no more.
func TestLedgerKeepsTheLatest(t *testing.T) {
	t.Parallel()
	l := NewLedger(time.Minute, nil)
	now := time.Now()
	known := func(at time.Time) int {
		k, err := l.Known("Q", at)
		if err != nil {
			t.Fatal(err)
		}
		return len(k)
	}
	for _, at := range []time.Duration{0, 50 * time.Second} {
		if err := l.Note("Q", []Sent{{Key: keyOf(1)}}, now.Add(at)); err != nil {
			t.Fatal(err)
		}
	}
	if n := known(now.Add(61 * time.Second)); n != 1 {
		t.Errorf("%d known a minute after it moved first", n)
	}
	if n := known(now.Add(111 * time.Second)); n != 0 {
		t.Errorf("%d known a minute after it moved last", n)
	}
	many := make([]Sent, ledgerMost+10)
	for i := range many {
		many[i].Key = keyOf(i)
	}
	if err := l.Note("Q", many, now); err != nil {
		t.Fatal(err)
	}
	if n := known(now); n != ledgerMost {
		t.Errorf("%d entries, want %d", n, ledgerMost)
	}
}

func TestReturnedMessagesStay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newFakeQueue(120)
		q.backTo = true
		store := &fakeStore{}
		j := job(q, Rules{})
		j.Ledger = NewLedger(0, store)
		for run := range 10 {
			rep := j.Run(t.Context())
			if run == 0 && rep.Moved != 120 || run > 0 && rep.Moved != 0 {
				t.Errorf("run %d moved %d", run, rep.Moved)
			}
			if run > 0 && rep.Skipped.Returned != 120 {
				t.Errorf("run %d: %+v", run, rep.Skipped)
			}
			if run == 4 { // the daemon restarts
				j.Ledger = NewLedger(0, store)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(LedgerTTL)
		if rep := j.Run(t.Context()); rep.Moved != 120 {
			t.Errorf("after the ledger's time %d moved, want 120", rep.Moved)
		}
	})
}

func TestLargeLedgerIsComparedFirst(t *testing.T) {
	t.Parallel()
	q := newFakeQueue(0)
	j := job(q, Rules{})
	var sent []Sent
	for i := range skipMost + 1 {
		sent = append(sent, Sent{Key: keyOf(i)})
	}
	if err := j.Ledger.Note("DCQ1", sent, time.Now()); err != nil {
		t.Fatal(err)
	}
	for i := range 30 { // of these, the even ones moved before
		id := i
		if i%2 == 1 {
			id += 1_000_000
		}
		q.put(id)
	}
	rep := j.Run(t.Context())
	if rep.Moved != 15 || rep.Skipped.Returned != 15 || q.dry != 1 {
		t.Errorf("moved %d, skipped %+v, %d dry runs", rep.Moved, rep.Skipped, q.dry)
	}
}

func TestStartedErrorMovesNothing(t *testing.T) {
	t.Parallel()
	q := newFakeQueue(10)
	j := job(q, Rules{})
	refuse := errors.New("journal full")
	j.Started = func() error { return refuse }
	rep := j.Run(t.Context())
	if rep.Outcome != Failed || !errors.Is(rep.Err, refuse) || q.units != 0 {
		t.Errorf("got %+v after %d units", rep, q.units)
	}
}

func TestLedgerFailure(t *testing.T) {
	t.Parallel()
	q := newFakeQueue(10)
	store := &fakeStore{fail: errors.New("disk full")}
	j := job(q, Rules{})
	j.Ledger = NewLedger(0, store)
	if rep := j.Run(t.Context()); rep.Outcome != Failed || rep.Moved != 0 {
		t.Errorf("an unreadable ledger: got %+v", rep)
	}
	store.fail = nil
	if _, err := j.Ledger.Known("DCQ1", time.Now()); err != nil {
		t.Fatal(err)
	}
	store.fail = errors.New("disk full")
	rep := j.Run(t.Context())
	if rep.Outcome != Empty || rep.Moved != 10 || rep.Err == nil {
		t.Errorf("a ledger that cannot be written: got %+v", rep)
	}
	store.fail = nil
	if err := j.Ledger.Flush("DCQ1"); err != nil || len(store.entries["DCQ1"]) != 10 {
		t.Errorf("after the disk has room: %v, %d entries", err, len(store.entries["DCQ1"]))
	}
}

// A store that never forgot would grow for as long as the daemon runs.
func TestLedgerForgetsInTheStoreToo(t *testing.T) {
	t.Parallel()
	store := &fakeStore{}
	l := NewLedger(0, store)
	now := time.Now()
	for i := range 5 {
		at := now.Add(time.Duration(i) * (LedgerTTL + time.Second))
		known, err := l.Known("DCQ1", at)
		if err != nil || len(known) != 0 {
			t.Fatalf("round %d: %d known, %v", i, len(known), err)
		}
		var sent []Sent
		for n := range 10 {
			sent = append(sent, Sent{Key: keyOf(10*i + n)})
		}
		if err := errors.Join(l.Note("DCQ1", sent, at), l.Flush("DCQ1")); err != nil {
			t.Fatal(err)
		}
		if n := len(store.entries["DCQ1"]); n != 10 {
			t.Errorf("round %d: the store has %d entries, want the 10 that are not too old", i, n)
		}
	}
}

func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	k := keyOf(7)
	k.CorrelID[3] = 9
	got, ok := decodeKey(encodeKey(k))
	if diff := cmp.Diff(k, got); !ok || diff != "" {
		t.Error(diff)
	}
	if _, ok := decodeKey([]byte("short")); ok {
		t.Error("a short key was taken")
	}
}
