package simtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// Bounds of the end of a run, in its own time.
const (
	untilLoaded  = 8 * time.Second // a rule file is looked at twice
	untilAlone   = 50 * time.Second
	untilQuiet   = 6 * time.Minute
	quietFor     = 15 * time.Second
	alonePeriods = 30
	untilRead    = 15 * time.Minute
)

// heal ends every fault and gives every instance its reader back.
func (w *world) heal() {
	w.printf("calm")
	w.calm, w.wet = true, false
	w.setDeaths(false)
	w.cluster.Disturb(false)
	w.mu.Lock()
	w.am = amUp
	clear(w.down)
	w.mu.Unlock()
	for _, a := range w.hosts {
		a.m.Start()
		for _, b := range w.hosts {
			a.m.Heal(b.m)
		}
	}
	// What was planned to come back by itself comes back; then what is missing is put right.
	w.runFor(16*time.Second, nil)
	for _, h := range w.hosts {
		h.m.Start()
		h.putRight()
		h.writeRules(variant{label: "the last"})
		if h.daemon == nil {
			h.startDaemon()
		}
		h.daemon.disk.setFull(false)
	}
}

// alone is the calm in which nobody reads anywhere: of each queue one instance stays
// for those who put, and then nothing changes any more.
func (w *world) alone() {
	for _, r := range w.readers {
		r.start()
	}
	w.runFor(2*untilLoaded, nil)
	for _, r := range w.readers {
		if r.wanted {
			r.end(true)
		}
	}
	// The daemons begin together, so that the grace of all of them is over in the same
	// moment: what they lower they lower at once.
	for _, h := range w.hosts {
		if d := h.daemon; d != nil && d.alive.Load() {
			w.counts.DaemonKilled++
			d.kill(false)
		}
		if h.daemon == nil {
			h.startDaemon()
		}
	}
	// Publications wait behind a message that is retried, as in MQ: as long as there are
	// such, a daemon acts on what its queue manager knows.
	for range alonePeriods {
		if w.heard(untilAlone) {
			break
		}
	}
	before := w.changed()
	heard := w.heard(quietFor)
	if heard {
		w.counts.HeardAlone++
	}
	if after := w.changed(); heard && before != after {
		w.fail("nobody reads and nothing happens, and there were %d changes in %s", after-before, quietFor)
	}
	if w.everywhere(false) != "" {
		w.runFor(quietFor, nil) // without peers the guard takes a lowering back a few intervals later
	}
	if q := w.everywhere(true); q != "" {
		w.fail("nobody reads %s, and its daemons have lowered all instances", q)
	}
	for _, r := range w.readers {
		r.start()
	}
}

// heard lets time pass and says whether no receiver was between retries meanwhile.
func (w *world) heard(d time.Duration) bool {
	paused := false
	w.runFor(d, func() bool {
		if paused || w.tooSoon(500*time.Millisecond) {
			return false
		}
		for _, h := range w.hosts {
			paused = paused || slices.ContainsFunc(h.m.Display("DISPLAY CHSTATUS(*) ALL"), func(row map[string]string) bool { return row["STATUS"] == "PAUSED" })
		}
		return false
	})
	return !paused
}

// everywhere is a queue of which the daemons have lowered every instance, blank if there is none.
func (w *world) everywhere(count bool) string {
	for _, q := range queues {
		attr, all, instances := leverOf(q), true, 0
		for _, h := range w.hosts {
			in := h.queues[q]
			if in == nil {
				continue
			}
			instances++
			h.look(q, byNobody, nil)
			ours := in.by[attr] == byDaemon && (in.values[attr] == "DISABLED" || in.values[attr] == "0")
			all = all && ours
			if ours && count {
				w.counts.LoweredAlone++
			}
		}
		if all && instances > 0 {
			return q
		}
	}
	return ""
}

// changed counts what daemons did to the queues of which nothing keeps them busy: no
// window of maintenance, no budget that is used up, no rules at odds.
func (w *world) changed() (n int) {
	for _, h := range w.hosts {
		for q, in := range h.queues {
			switch {
			case q == queuePlain && w.shape.maintenance, q == queueRank && w.shape.conflict, w.shape.limits.Budget < 60:
			default:
				n += in.changes
			}
		}
	}
	return n
}

// putRight undoes what people did to a queue manager, but for what they set on purpose.
func (h *host) putRight() {
	h.command(byNobody, "RESUME QMGR CLUSTER(C1)", nil)
	for _, o := range h.w.hosts {
		if o != h {
			h.command(byNobody, fmt.Sprintf("START CHANNEL(TO.%s)", o.name), nil)
		}
	}
	for _, q := range queues {
		if h.queues[q] != nil {
			h.command(byNobody, define(q), nil)
			h.command(byNobody, fmt.Sprintf("ALTER QLOCAL(%s) NOTRIGGER", q), nil)
		}
	}
	h.release("*")
}

// settled says why the daemons are not done yet, blank if they are.
func (w *world) settled() string {
	for _, h := range w.hosts {
		d := h.daemon
		if d == nil {
			return h.name + " has no daemon"
		}
		s := d.app.Status()
		if !s.Ready || s.Rules.Error != "" {
			return h.name + " is not ready: " + s.Rules.Error
		}
		if len(s.Holds) > 0 {
			h.release("*")
			return h.name + " is held"
		}
		for _, b := range s.Breaker {
			w.person(func() {
				if _, err := d.app.Release("person", httpapi.ReleaseRequest{Situation: b}); err != nil {
					w.printf("release %s: %v", b, err)
				}
			})
			return h.name + " has an open breaker: " + b
		}
		items := 0
		for i := range s.Items {
			items++
			if it := &s.Items[i]; it.Intent != "" || (it.State == "open") != raises(it.Situation) {
				return fmt.Sprintf("%s: %s of %s is %s, wants %q, held %v", h.name, it.Situation, it.Queue, it.State, it.Intent, it.Held)
			}
		}
		if items == 0 {
			return h.name + " has no items"
		}
		for _, l := range d.app.Lowered().Lowered {
			if l.By != "other" && !h.raisedByRead(&l) {
				return fmt.Sprintf("%s: %s of %s is still %s", h.name, l.Attribute, l.Queue, l.Value)
			}
		}
	}
	return ""
}

// raisedByRead: the reading half of availability by rank holds what it set.
func (h *host) raisedByRead(l *httpapi.LoweredItem) bool {
	return l.Queue == queueRank && l.Value == "9"
}

// raises says that a situation is open while there is a reader.
func raises(situation string) bool {
	return strings.HasSuffix(situation, ".read") || strings.HasSuffix(situation, "Up")
}

// judge is the end of a run: what has to hold once everything is well again.
func (w *world) judge() {
	w.runFor(untilLoaded, nil)
	why := ""
	w.runFor(untilQuiet, func() bool {
		if w.tooSoon(500 * time.Millisecond) {
			return false
		}
		why = w.settled()
		return why == ""
	})
	if w.failed() {
		return
	}
	if why != "" {
		w.fail("the daemons do not come to rest: %s", why)
		return
	}
	w.printf("settled")
	changes := w.counts.Lowerings + w.counts.Raisings
	w.runFor(quietFor, nil)
	// What still comes out of channels may make a queue deep for a moment.
	if n := w.counts.Lowerings + w.counts.Raisings - changes; n > 0 && !w.shape.conflict {
		w.fail("%d changes in %s in which nothing happened", n, quietFor)
	}
	for _, h := range w.hosts {
		h.checkValues()
	}
	for _, h := range w.hosts {
		h.finishReading()
	}
	w.runFor(untilRead, func() bool { return !w.tooSoon(time.Second) && w.ledger.unread() == 0 })
	w.runFor(5*time.Second, nil) // what would come twice comes now
	if !w.failed() {
		w.ledger.check()
	}
	if w.failed() {
		w.tellDepths()
	}
	for _, h := range w.hosts {
		h.collect()
	}
}

// readerFor has the reader of an instance come back.
func (w *world) readerFor(h *host, queue string) {
	for _, r := range w.readers {
		if r.h == h && r.queue == queue && !r.wanted {
			w.counts.ReadersCame++
			r.start()
		}
	}
}

// tellDepths says where messages are, for whoever looks for a lost one.
func (w *world) tellDepths() {
	for _, h := range w.hosts {
		for _, row := range h.m.Display("DISPLAY QLOCAL(*) CURDEPTH IPPROCS WHERE(CURDEPTH GT 0)") {
			w.printf("%s has %s messages on %s, read by %s", h.name, row["CURDEPTH"], row["QUEUE"], row["IPPROCS"])
		}
		for _, row := range h.m.Display("DISPLAY CHSTATUS(*) ALL") {
			w.printf("%s %v", h.name, row)
		}
	}
}

// tooSoon limits how often something costly is looked at.
func (w *world) tooSoon(d time.Duration) bool {
	if now := time.Now(); now.Sub(w.looked) >= d {
		w.looked = now
		return false
	}
	return true
}

// checkValues: everything that is ours was put back, what a person set is there.
func (h *host) checkValues() {
	for _, q := range queues {
		in := h.queues[q]
		if in == nil {
			continue
		}
		h.look(q, byNobody, nil)
		attr := leverOf(q)
		value := in.values[attr]
		low := value == "DISABLED" || value == "0"
		switch by := in.by[attr]; {
		case by == byPerson:
			if low {
				h.w.counts.PersonsKept++
			}
		case low:
			h.w.fail("%s on %s is still %s(%s), which was set by %d", q, h.name, attr, value, by)
		case q == queuePrty && by == byDaemon && value != in.base[attr]:
			h.w.fail("%s on %s was given back as %s(%s), and %s was found", q, h.name, attr, value, in.base[attr])
		}
		if in.by["CLWLUSEQ"] == byDaemon && in.values["CLWLUSEQ"] != "QMGR" {
			h.w.fail("%s on %s is still CLWLUSEQ(%s)", q, h.name, in.values["CLWLUSEQ"])
		}
	}
}

// finishReading lets everything that still waits somewhere get to a reader.
func (h *host) finishReading() {
	for _, q := range queues {
		if h.queues[q] != nil {
			h.command(byPerson, fmt.Sprintf("ALTER QLOCAL(%s) PUT(ENABLED)", q), nil)
		}
	}
	h.w.addReader(h, "SYSTEM.DEAD.LETTER.QUEUE").start()
}

// collect counts what a host's journal tells, and checks that its lines come in pairs.
func (h *host) collect() {
	w := h.w
	text, err := os.ReadFile(filepath.Join(h.daemon.data, "daemon", h.name, "actions.jsonl"))
	if err != nil {
		w.fail("%v", err)
		return
	}
	open, ended := map[string]actions.Entry{}, map[string]actions.Entry{} // by ID
	for line := range strings.Lines(string(text)) {
		var e actions.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			w.fail("the journal of %s has a line that is none: %q", h.name, line)
			return
		}
		h.countLine(&e)
		began, under := open[e.ID]
		switch e.Result {
		case "started":
			if under && !h.excusedLine(began, e.Time) {
				w.fail("the journal of %s has %s twice begun, at %s and %s, and not ended between", h.name, e.ID, began.Time, e.Time)
			}
			open[e.ID] = e
		case "done", "failed", "in_doubt", "superseded", "blocked":
			if under && began.Attempt == e.Attempt {
				delete(open, e.ID)
				ended[e.ID] = e
			} else if e.Result == "done" && changesSomething(&e) && !foundLater(ended[e.ID], &e) && !h.beganUnwritten(&e) {
				w.fail("the journal of %s says that %s.%d is done, and not that it began: %s", h.name, e.ID, e.Attempt, line)
			}
		}
	}
	for id, e := range open {
		if !h.excusedLine(e, time.Now()) {
			w.fail("the journal of %s does not say how %s.%d (%s of %s at %s) ended", h.name, id, e.Attempt, e.Action, e.Queue, e.Time)
		}
	}
}

// foundLater: an attempt that failed as far as the daemon saw, for its connection
// broke before the answer came, may be found made by the next life, if the one
// before died with that line.
func foundLater(ended actions.Entry, e *actions.Entry) bool {
	return e.Reason == "found after a restart" && ended.Attempt == e.Attempt && ended.Result != "done"
}

// beganUnwritten: what gives back is begun although the journal cannot be written.
func (h *host) beganUnwritten(e *actions.Entry) bool {
	began := e.Time.Add(-time.Duration(e.DurationMS)*time.Millisecond - time.Second)
	return !lowers(e) && slices.ContainsFunc(h.linesLost, func(at time.Time) bool { return at.After(began) && !at.After(e.Time) })
}

// excusedLine: the end of an attempt, which had to come until a moment, may be among
// the lines that a loss of power took meanwhile, or that could not be written, and an
// attempt on a queue that was deleted has none.
func (h *host) excusedLine(began actions.Entry, until time.Time) bool {
	meanwhile := func(at time.Time) bool {
		return at.After(began.Time.Add(-time.Second)) && !at.After(until)
	}
	in := h.queues[began.Queue]
	return slices.ContainsFunc(h.linesLost, meanwhile) || in != nil && slices.ContainsFunc(in.deleted, meanwhile)
}

func changesSomething(e *actions.Entry) bool {
	return e.Edge != "manual" && (strings.HasPrefix(e.Action, "put") || strings.HasPrefix(e.Action, "rank") || strings.HasPrefix(e.Action, "priority") || strings.HasPrefix(e.Action, "exec") || strings.HasPrefix(e.Action, "redistribute"))
}

func (h *host) countLine(e *actions.Entry) {
	c := &h.w.counts
	switch e.Result {
	case "in_doubt":
		c.InDoubt++
	case "superseded":
		c.Superseded++
	case "no_change":
		c.NoChange++
	case "failed":
		c.Failed++
	case "done":
		if e.Reason == "found after a restart" {
			c.FoundAfterRestart++
		}
		if e.Action == "redistribute" {
			c.MoveRuns++
			if e.Reason == "a reader is back" {
				c.StoppedForReaders++
			}
		}
		if strings.HasPrefix(e.Action, "event") {
			c.Events++
		}
	case "blocked":
		if strings.Contains(e.Reason, "first") {
			c.WithdrawnToPeers++
		}
		if strings.Contains(e.Reason, ", and this wants ") {
			c.HeldConflict++
		}
	}
}

// watchHolds counts what holds back actions, now and then.
func (w *world) watchHolds() {
	for _, h := range w.hosts {
		d := h.daemon
		if d == nil || !d.alive.Load() {
			continue
		}
		s := d.app.Status()
		for i := range s.Items {
			for _, code := range s.Items[i].Held {
				if n := w.counts.held(code); n != nil {
					*n++
				}
			}
		}
		for i := range s.Jobs {
			if j := &s.Jobs[i]; j.State == "moving" && !w.calm && w.chance(0.2) {
				w.readerFor(h, j.Queue)
			}
		}
	}
	if !w.calm {
		w.cluster.After(300*time.Millisecond, w.watchHolds)
	}
}
