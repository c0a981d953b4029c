package simtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/situations"
)

var (
	errDead = errors.New("this process is dead")
	errFull = errors.New("no space left on device")
)

// disk stands between a daemon and its state and journal. The process may die
// between any two writes; from then on nothing that it writes counts, and the next
// life finds what was there.
type disk struct {
	d *daemon

	mu     sync.Mutex
	state  app.State
	book   app.Recorder
	synced int64                    // length of the journal that power cannot take
	full   bool                     // the journal cannot be written
	ended  bool                     // the next life has its copy
	open   map[string]actions.Entry // by queue: what the journal says is under way
}

func newDisk(d *daemon) *disk { return &disk{d: d, open: map[string]actions.Entry{}} }

func (k *disk) around(s app.State, r app.Recorder) (app.State, app.Recorder) {
	k.state, k.book, k.synced = s, r, k.length()
	return k, k
}

func (k *disk) journal() string {
	return filepath.Join(k.d.data, "daemon", k.d.h.name, "actions.jsonl")
}

func (k *disk) length() int64 {
	info, err := os.Stat(k.journal())
	if err != nil {
		return 0
	}
	return info.Size()
}

// write carries out one write, and may let the process die before or after it.
func (k *disk) write(what string, do func() error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.maybeDie("before " + what) {
		return errDead
	}
	err := do()
	if k.maybeDie("after " + what) {
		return errDead
	}
	return err
}

func (k *disk) maybeDie(when string) bool {
	if !k.d.alive.Load() {
		return true
	}
	w := k.d.h.w
	if !k.d.unlucky(when) {
		return false
	}
	k.dies(false)
	w.ask(k.d.h.number, "died", func() {
		w.counts.DaemonDiedWriting++
		k.d.buried("died at its disk")
	})
	return true
}

// unlucky draws whether a daemon dies at a write.
func (d *daemon) unlucky(when string) bool {
	w := d.h.w
	w.mu.Lock()
	calm := w.calmDisks
	w.mu.Unlock()
	return !calm && float64(d.draw(when, 1<<30)) < w.shape.dieAtWrite*(1<<30)
}

// draw is a number below most. Daemons do many things at once in goroutines of
// their own, so that what is drawn depends on what it is for, not on who was first.
func (d *daemon) draw(what string, most int64) int64 {
	d.drawing.Lock()
	d.drawn[what]++
	n := d.drawn[what]
	d.drawing.Unlock()
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %d %s %d", d.h.w.seed, d.h.name, d.life, what, n)
	return int64(rand.New(rand.NewPCG(h.Sum64(), d.h.w.seed)).Uint64N(uint64(most)))
}

// die ends the process; false if it was dead already.
func (k *disk) die(power bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.d.alive.Load() {
		return false
	}
	k.dies(power)
	return true
}

func (k *disk) dies(power bool) {
	k.d.alive.Store(false)
	k.copy(power)
}

// end hands on the disk of a process that ended in good order.
func (k *disk) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.d.alive.Swap(false) {
		k.copy(false)
	}
}

// copy gives the next life what is on the disk now.
func (k *disk) copy(power bool) {
	if k.ended {
		return
	}
	k.ended = true
	from, to := filepath.Join(k.d.data, "daemon", k.d.h.name), filepath.Join(k.d.h.data(k.d.life+1), "daemon", k.d.h.name)
	if err := os.MkdirAll(to, 0o750); err != nil {
		k.d.h.w.fail("%v", err)
		return
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		k.d.h.w.fail("%v", err)
		return
	}
	for _, e := range entries {
		if e.IsDir() || e.Name() == "lock" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err == nil && power && e.Name() == "actions.jsonl" {
			lost := int64(len(text)) - k.synced
			if lost > 0 {
				text = text[:int64(len(text))-k.d.draw("power", lost+1)]
			}
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), text, 0o600)
		}
		if err != nil {
			k.d.h.w.fail("%v", err)
		}
	}
}

// setFull lets the journal fail, or write again.
func (k *disk) setFull(full bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.full = full
}

// budgetMinute is a minute less the time that peers may take to agree, which is between
// the reservation and the line.
const budgetMinute = time.Minute - 6*time.Second

// lowers says that a line is of taking an instance out of the balancing.
func lowers(e *actions.Entry) bool {
	return e.Action == "put DISABLED" || e.Action == "rank 0" || e.Action == "priority 0"
}

// budget checks that no more begins in a minute than the daemon's file allows. The
// journal is written by one goroutine at a time.
func (h *host) budget(e *actions.Entry) {
	first, _, _ := strings.Cut(e.Action, " ")
	if e.Result != "started" || !lowers(e) && first != "exec" && first != "mqsc" {
		return
	}
	now := time.Now()
	h.taken = slices.DeleteFunc(h.taken, func(at time.Time) bool { return now.Sub(at) >= budgetMinute })
	h.taken = append(h.taken, now)
	if most := h.w.shape.limits.Budget; len(h.taken) > most {
		h.w.fail("the daemon of %s began %d actions within a minute, and may %d", h.name, len(h.taken), most)
	}
}

func (k *disk) unwritable() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full
}

func (k *disk) Append(e actions.Entry, sync bool) error {
	return k.write(fmt.Sprint(e.ID, e.Attempt, e.Result), func() error {
		if k.full {
			return errFull
		}
		if err := k.book.Append(e, sync); err != nil {
			return err
		}
		if sync {
			k.synced = k.length()
		}
		k.d.moves.line(&e)
		k.d.h.budget(&e)
		if e.Result == "started" && sync {
			k.open[e.Queue] = e
		} else if o := k.open[e.Queue]; o.ID == e.ID && o.Attempt == e.Attempt {
			delete(k.open, e.Queue)
		}
		k.d.h.w.note("journal %s %s %s %s %s %s.%d %s moved %d remaining %d", k.d.h.name, e.Queue, e.Action, e.Edge, e.Result, e.ID, e.Attempt, e.Reason, e.Moved, e.Remaining)
		return nil
	})
}

func (k *disk) Ready() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.full && k.d.alive.Load() && k.book.Ready()
}

func (k *disk) Ends() map[string]actions.Result { return k.book.Ends() }

// underWay is the attempt on a queue that the journal has synced the beginning of.
func (k *disk) underWay(queue string) (actions.Entry, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	e, ok := k.open[queue]
	return e, ok
}

func (k *disk) Load() ([]situations.ItemRecord, error) { return k.state.Load() }

func (k *disk) Commit(ctx context.Context, changes []situations.ItemChange, intents []situations.Intent) error {
	return k.write("commit", func() error { return k.state.Commit(ctx, changes, intents) })
}

func (k *disk) LoadActions() (actions.Stored, error) { return k.state.LoadActions() }

func (k *disk) SaveActions(u actions.Update) error {
	return k.write("save "+keyOf(&u), func() error { return k.state.SaveActions(u) })
}

// keyOf tells one transaction of the engine from others.
func keyOf(u *actions.Update) string {
	ids := slices.Sorted(maps.Keys(u.Progress))
	return strings.Join(append(ids, u.Finished...), " ")
}

func (k *disk) LoadAlerts() ([]actions.SentAlert, error) { return k.state.LoadAlerts() }

func (k *disk) SaveAlerts(a []actions.SentAlert) error {
	return k.write("alerts", func() error { return k.state.SaveAlerts(a) })
}

func (k *disk) LoadLedger(queue string, since time.Time) ([]actions.MovedMessage, error) {
	var out []actions.MovedMessage
	err := k.write("ledger "+queue, func() (err error) { out, err = k.state.LoadLedger(queue, since); return err })
	return out, err
}

func (k *disk) AppendLedger(queue string, entries []actions.MovedMessage) error {
	return k.write("ledger "+queue, func() error { return k.state.AppendLedger(queue, entries) })
}
