package actions

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// Property 9: what the claims on an attribute come to does not depend on the
// order in which they came: all of one value have it, different ones leave what
// is there, and in the end what was found is back.
func TestProperty_ClaimsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		values := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "3"}), 2, 4).Draw(rt, "values")
		order := rapid.Permutation(seq(len(values))).Draw(rt, "order")
		leave := rapid.Permutation(seq(len(values))).Draw(rt, "leave")
		c := NewClaims(nil)
		now := time.Unix(0, 0)
		value := "9"
		held := map[int]bool{}
		want := func(i int) { // as decideSet and the engine do
			owner := fmt.Sprint(i)
			if cl := c.get(here, attrRank); cl != nil {
				if cl.disputes(owner, values[i]) != nil {
					return
				}
				if value == values[i] {
					c.join(here, attrRank, owner, now)
					held[i] = true
					return
				}
			}
			c.hold(here, attrRank, owner, value, values[i], now)
			c.settle(here, attrRank, values[i])
			value, held[i] = values[i], true
		}
		for _, i := range order {
			want(i)
		}
		same := !slices.ContainsFunc(values, func(v string) bool { return v != values[0] })
		if same && (value != values[0] || len(held) != len(values)) {
			rt.Fatalf("all want %s: it is %s, held by %v", values[0], value, held)
		}
		for i := range held {
			if values[i] != value {
				rt.Fatalf("%d holds %s while it is %s", i, values[i], value)
			}
		}
		for n, i := range leave {
			if !held[i] {
				continue
			}
			cl := c.get(here, attrRank)
			back := cl.without(fmt.Sprint(i))
			c.explain(here, attrRank, value, back)
			c.settle(here, attrRank, back)
			c.release(here, attrRank, fmt.Sprint(i))
			value = back
			delete(held, i)
			for _, j := range leave[n+1:] { // those that waited have their turn
				if !held[j] {
					want(j)
				}
			}
		}
		if value != "9" || len(c.All()) > 0 {
			rt.Fatalf("in the end %s, claims %+v", value, c.All())
		}
	})
}

func seq(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// Property 12: a dry run never touches anything, and decides what the real one
// decides when everything works.
func TestProperty_DryRunDecidesTheSame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			kind := ruleKind(rapid.IntRange(0, int(availabilityPut)).Draw(rt, "kind"))
			walk := rapid.SliceOfN(rapid.IntRange(0, 1), 2, 12).Draw(rt, "readers")
			run := func(observe bool) []string {
				w := newWorld(failer{t, rt})
				w.opt.Observe = observe
				d := &drive{world: w, kind: kind}
				w.run()
				for _, readers := range walk {
					w.readers = readers
					for range 4 { // beyond the dwell
						w.sleep(w.interval)
						d.step()
					}
				}
				w.end()
				if observe && (len(w.sets) > 0 || w.programs.count() > 0 || w.mover.runs > 0) {
					rt.Fatalf("a dry run set %v", w.sets)
				}
				var out []string
				for _, l := range w.journal.all() {
					switch l.Result {
					case resultDone, resultWould:
						out = append(out, string(l.Edge)+" "+l.Action)
					case resultNoChange:
						out = append(out, string(l.Edge)+" "+l.Action+" no change")
					default:
					}
				}
				return out
			}
			real, dry := run(false), run(true)
			if !slices.Equal(real, dry) {
				rt.Fatalf("real\n%s\ndry\n%s", strings.Join(real, "\n"), strings.Join(dry, "\n"))
			}
		})
	})
}

// Property 15: however many queues want something, no more actions than the
// budget begin in any minute, and in the end all of it is done.
func TestProperty_BudgetHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rapid.Check(struct{ testing.TB }{t}, func(rt *rapid.T) {
			w := newWorld(failer{t, rt})
			w.opt.Budget = rapid.IntRange(1, 5).Draw(rt, "budget")
			w.run()
			n := rapid.IntRange(1, 12).Draw(rt, "programs")
			for i := range n {
				in := w.intent(fmt.Sprint("S", i), open, script)
				w.tick(in)
				w.sleep(time.Duration(rapid.IntRange(0, 20).Draw(rt, "pause")) * time.Second)
			}
			w.pass(13 * 60)
			w.end()
			var starts []time.Time
			for _, l := range w.journal.all() {
				if l.Result != resultStarted {
					continue
				}
				starts = append(starts, l.Time)
				if i := len(starts) - 1 - w.opt.Budget; i >= 0 && l.Time.Sub(starts[i]) < time.Minute {
					rt.Fatalf("%d actions within %s, the budget is %d", w.opt.Budget+1, l.Time.Sub(starts[i]), w.opt.Budget)
				}
			}
			if len(starts) != n {
				rt.Fatalf("%d of %d programs ran", len(starts), n)
			}
		})
	})
}

// TestCrashAtEveryEffect kills a daemon at each thing it does to the world, one
// by one: each transaction, each line of the journal, each command. It has a
// journal and a state of its own on disk. After the restart the queue is as the
// rule says, nothing is claimed or lowered without a reason, and the journal
// tells of every attempt how it ended.
func TestCrashAtEveryEffect(t *testing.T) {
	t.Parallel()
	killAtEach(t, 15, crashAt)
}

// killAtEach runs a life in which the daemon is killed at its n-th effect, for
// every n until it comes through, and wants at least so many of them.
func killAtEach(t *testing.T, least int, life func(t *testing.T, n int) (killed bool)) {
	t.Helper()
	points := 0
	for killed := true; killed; points++ {
		killed = false
		t.Run(fmt.Sprint(points+1), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { killed = life(t, points+1) })
		})
	}
	if points--; points < least { // the last life was whole
		t.Errorf("only %d points to crash at", points)
	}
	t.Logf("killed at %d points", points)
}

// toDisk gives a world a state and a journal on disk.
func (w *world) toDisk(dir string) {
	w.t.Helper()
	var err error
	w.db, err = OpenDB(filepath.Join(dir, "state.db"))
	must(w.t, err)
	w.file, err = OpenJournal(filepath.Join(dir, "actions.jsonl"))
	must(w.t, err)
}

func (w *world) offDisk() {
	w.t.Helper()
	must(w.t, w.db.Close())
	must(w.t, w.file.Close())
}

// diskJournal is the journal on disk, behind a gate, and remembers its lines.
type diskJournal struct {
	file *Journal
	mem  *memJournal
	g    *gate
}

func (j diskJournal) Append(e Entry, sync bool) error {
	if err := j.g.pass(); err != nil {
		return err
	}
	if err := j.file.Append(e, sync); err != nil {
		return err
	}
	return j.mem.Append(e, sync)
}

func (j diskJournal) Ready() bool { return j.file.Ready() }

func (j diskJournal) Ends() map[string]Result { return j.file.Ends() }

func crashAt(t *testing.T, n int) bool {
	w := newWorld(t)
	dir := t.TempDir()
	w.toDisk(dir)
	defer w.offDisk()
	w.run()
	w.depth = 30
	w.gate.set(n)
	w.send(w.intent("Q", open, claimed(put(disabled)), moving, script))
	lowering := w.survive(6)
	w.want(attrPut, disabled)
	if w.depth != 0 || w.programs.count() == 0 || w.programs.count() > 2 {
		t.Errorf("depth %d, %d programs", w.depth, w.programs.count())
	}
	if s := w.engine.Lowered(); len(s) != 1 || s[0].Before != enabled || !s[0].Claimed {
		t.Errorf("lowered %+v", s)
	}
	w.readers = 1
	w.send(w.intent("Q", closed, revert))
	raising := w.survive(6)
	w.want(attrPut, enabled)
	if len(w.engine.Lowered())+len(w.engine.Claims()) > 0 {
		t.Errorf("left %+v %+v", w.engine.Lowered(), w.engine.Claims())
	}
	journalTells(t, filepath.Join(dir, "actions.jsonl"), w)
	w.end()
	return lowering || raising
}

// journalTells reads the file: every attempt that started has an end.
func journalTells(t *testing.T, path string, w *world) {
	t.Helper()
	page, err := ReadJournal(path, "", 1000)
	must(t, err)
	if len(page.Lines) != len(w.journal.all()) {
		t.Errorf("%d lines in the file, %d were written", len(page.Lines), len(w.journal.all()))
	}
	d := &drive{world: w}
	d.pairs()
	sets := 0
	for _, l := range w.journal.all() {
		if l.Action == "put DISABLED" && l.Result == resultDone {
			sets++
		}
	}
	if sets != 1 {
		t.Errorf("the journal has %d lowerings that were done", sets)
	}
}

// gatedDB is the state on disk behind a gate.
type gatedDB struct {
	*DB
	g *gate
}

func (s gatedDB) SaveActions(u Update) error {
	if err := s.g.pass(); err != nil {
		return err
	}
	return s.DB.SaveActions(u)
}

// TestResume_JournalKnowsTheEnd: the last line was written and the state was
// not. What is done is not done again, and what a person changed since is his.
func TestResume_JournalKnowsTheEnd(t *testing.T) {
	t.Parallel()
	for _, since := range []string{"", enabled} {
		t.Run("changed to "+since, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				var err error
				w.file, err = OpenJournal(filepath.Join(t.TempDir(), "actions.jsonl"))
				must(t, err)
				defer w.file.Close()
				w.run()
				w.gate.set(6) // save, line, set, read back, line; then nothing more gets out
				w.tick(w.intent("D", open, put(disabled), script))
				w.end()
				w.want(attrPut, disabled)
				if since != "" {
					w.person(attrPut, since)
				}
				w.run()
				w.pass(4)
				want := disabled
				if since != "" {
					want = since
				}
				w.want(attrPut, want)
				if len(w.sets) != 1 || w.programs.count() != 1 {
					t.Errorf("%d changes, %d programs", len(w.sets), w.programs.count())
				}
				w.end()
			})
		})
	}
}
