package simtest

import (
	"context"
	"fmt"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// trouble begins everything that gets into the way.
func (w *world) trouble() {
	r := &w.shape.every
	w.calm = false
	w.setDeaths(true)
	w.cluster.Disturb(true)
	w.every(r.reader, w.changeReader)
	w.every(300*time.Millisecond, w.flap)
	w.every(r.kill, w.killDaemon)
	w.every(r.stop, w.stopDaemon)
	w.every(r.power, w.losePower)
	w.every(r.crash, w.crashQMgr)
	w.every(r.rules, w.changeRules)
	w.every(r.alter, w.alterSomething)
	w.every(r.define, w.deleteSomething)
	w.every(r.trigger, w.triggerSomething)
	w.every(r.hold, w.holdSomething)
	w.every(r.revert, w.revertSomething)
	w.every(r.cut, w.cutSomething)
	w.every(r.suspend, w.suspendSomebody)
	w.every(r.channel, w.stopChannel)
	w.every(r.clock, func() {
		w.counts.ClockJumps++
		pick(w.rng, w.hosts...).m.Clock(w.between(0, 3*time.Hour))
	})
	w.every(r.peer, w.cutPeer)
	w.every(r.am, w.troubleAlertmanager)
	w.every(r.journal, w.fillJournal)
}

func (w *world) some() *host { return pick(w.rng, w.hosts...) }

// changeReader lets a reader come, go, or die.
func (w *world) changeReader() {
	r := pick(w.rng, w.readers...)
	switch {
	case !r.wanted || r.quit:
		w.counts.ReadersCame++
		r.start()
	case w.chance(0.5):
		w.counts.ReadersDied++
		r.stop(true)
	default:
		w.counts.ReadersWent++
		r.stop(false)
	}
	// What ends one reader often ends those of other instances, or all on its host, in
	// the same moment.
	if w.chance(0.3) {
		host := w.chance(0.3)
		for _, o := range w.readers {
			if o.wanted && (!host && o.queue == r.queue || host && o.h == r.h) {
				w.counts.ReadersDied++
				o.stop(true)
			}
		}
	}
}

// flap has the readers of one queue come and go for a while, faster than anybody should act on.
func (w *world) flap() {
	if time.Since(w.start).Truncate(20*time.Second)%(40*time.Second) == 0 {
		return
	}
	for _, r := range w.readers {
		if r.queue != queueFlap {
			continue
		}
		if r.wanted {
			r.stop(true)
		} else {
			r.start()
		}
		return
	}
}

func (w *world) killDaemon() {
	if d := w.some().daemon; d != nil && d.alive.Load() {
		w.counts.DaemonKilled++
		d.kill(false)
	}
}

func (w *world) stopDaemon() {
	h := w.some()
	if d := h.daemon; d != nil && d.alive.Load() && !d.stopping {
		w.counts.DaemonStopped++
		d.stopping = true
		d.stop()
		h.comeBack()
	}
}

// losePower ends a queue manager and its daemon in the same moment, with everything
// that was not synced.
func (w *world) losePower() {
	h := w.some()
	w.counts.HostsLost++
	if h.daemon != nil {
		h.daemon.kill(true)
	}
	h.crash()
}

func (h *host) crash() {
	h.m.Crash()
	h.w.cluster.After(h.w.between(100*time.Millisecond, h.w.shape.weather.DownMax), h.m.Start)
}

func (w *world) crashQMgr() { w.some().crash() }

// changeRules writes another rule file, or a broken one. The daemon finds it by itself.
func (w *world) changeRules() {
	h := w.some()
	w.written++
	v := variant{label: fmt.Sprint("change ", w.written)}
	switch w.rng.IntN(4) {
	case 0:
		v.broken = 1 + w.written%brokenKinds
		w.counts.BrokenReloads++
	case 1:
		v.without = pick(w.rng, queues...)
		w.counts.Reloads++
	default:
		w.counts.Reloads++
	}
	h.writeRules(v)
}

func (h *host) writeRules(v variant) {
	h.w.printf("%s: rules %+v", h.name, v)
	if err := writeFile(h.rules, h.w.rulesText(v)); err != nil {
		h.w.fail("%v", err)
	}
}

// hosting draws an instance.
func (w *world) hosting() (*host, string) {
	for {
		h, q := w.some(), pick(w.rng, queues...)
		if h.queues[q] != nil {
			return h, q
		}
	}
}

// lowered draws an instance, if there is one that a daemon has lowered: there a person
// and a rule may come into each other's way.
func (w *world) lowered() (*host, string) {
	for range 8 {
		h, q := w.hosting()
		if in, attr := h.queues[q], leverOf(q); in.by[attr] == byDaemon && (in.values[attr] == "DISABLED" || in.values[attr] == "0") {
			return h, q
		}
	}
	return w.hosting()
}

// alterSomething is a person who sets what rules set too.
func (w *world) alterSomething() {
	h, q := w.lowered()
	what := map[string][]string{
		"PUT": {"PUT(DISABLED)", "PUT(ENABLED)"}, "CLWLRANK": {"CLWLRANK(3)", "CLWLRANK(9)", "CLWLRANK(0)"}, "CLWLPRTY": {"CLWLPRTY(2)", "CLWLPRTY(5)", "CLWLPRTY(0)"},
	}[leverOf(q)]
	h.command(byPerson, fmt.Sprintf("ALTER QLOCAL(%s) %s", q, pick(w.rng, what...)), nil)
}

// deleteSomething takes an instance away, if nobody uses it, and brings it back.
func (w *world) deleteSomething() {
	h, q := w.hosting()
	h.command(byNobody, fmt.Sprintf("DELETE QLOCAL(%s)", q), countDone(&w.counts.Deleted))
	w.cluster.After(w.between(time.Second, 10*time.Second), func() { h.command(byNobody, define(q), nil) })
}

func (w *world) triggerSomething() {
	h, q := w.hosting()
	h.command(byNobody, fmt.Sprintf("ALTER QLOCAL(%s) TRIGGER TRIGTYPE(FIRST)", q), countDone(&w.counts.Triggers))
	for _, r := range w.readers { // such a queue's reader is there when there is something to read
		if r.h == h && r.queue == q && r.wanted {
			r.stop(false)
		}
	}
	w.cluster.After(w.between(2*time.Second, 10*time.Second), func() { h.command(byNobody, fmt.Sprintf("ALTER QLOCAL(%s) NOTRIGGER", q), nil) })
}

// holdSomething is a person who wants a queue left alone, for a while or until he says otherwise.
func (w *world) holdSomething() {
	h, q := w.hosting()
	d := h.daemon
	if d == nil || !d.alive.Load() {
		return
	}
	name := pick(w.rng, q, q, "*")
	req := httpapi.HoldRequest{Queue: name, Reason: "test", For: pick(w.rng, "", "5s", "1h")}
	w.person(func() {
		_, err := d.app.Hold("person", req)
		w.answered(&w.counts.Holds, "hold", err)
	})
	w.cluster.After(w.between(2*time.Second, 15*time.Second), func() { h.release(name) })
}

func (h *host) release(name string) {
	d := h.daemon
	if d == nil || !d.alive.Load() {
		return
	}
	h.w.person(func() {
		_, err := d.app.Release("person", httpapi.ReleaseRequest{Queue: name})
		h.w.answered(&h.w.counts.Releases, "release "+name, err)
	})
}

// person has somebody ask a daemon for something, in a goroutine of his own: he waits for the answer.
func (w *world) person(do func()) {
	w.touched = true
	w.ending.Go(do)
}

// answered counts what a person asked for and got; what he did not get is told.
func (w *world) answered(n *int, what string, err error) {
	if err != nil {
		w.printf("%s: %v", what, err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	*n++
}

// countDone counts a command that was carried out.
func countDone(n *int) func(error) {
	return func(err error) {
		if err == nil {
			*n++
		}
	}
}

// revertSomething is a person who wants a queue, or all, given back.
func (w *world) revertSomething() {
	h, q := w.hosting()
	d := h.daemon
	if d == nil || !d.alive.Load() {
		return
	}
	req := httpapi.RevertRequest{Queue: q}
	if w.chance(0.3) {
		req = httpapi.RevertRequest{All: true}
	}
	w.person(func() {
		_, err := d.app.Revert(context.Background(), "person", req)
		w.answered(&w.counts.Reverts, "revert", err)
	})
}

func (w *world) two() (a, b *host) {
	i := w.rng.IntN(len(w.hosts))
	return w.hosts[i], w.hosts[(i+1+w.rng.IntN(len(w.hosts)-1))%len(w.hosts)]
}

// cutSomething cuts the way between two queue managers, in one direction or both, or one off from all.
func (w *world) cutSomething() {
	a, b := w.two()
	quiet := w.chance(0.5)
	w.counts.Cuts++
	if quiet {
		w.counts.QuietCuts++
	}
	to := []*host{b}
	if w.chance(0.4) {
		to = w.hosts
	}
	both := w.chance(0.7)
	for _, o := range to {
		if o == a {
			continue
		}
		a.m.Cut(o.m, quiet)
		if both {
			o.m.Cut(a.m, quiet)
		}
	}
	w.cluster.After(w.between(time.Second, 15*time.Second), func() {
		for _, o := range to {
			if o != a {
				a.m.Heal(o.m)
				o.m.Heal(a.m)
			}
		}
	})
}

func (w *world) suspendSomebody() {
	h := w.some()
	h.command(byNobody, "SUSPEND QMGR CLUSTER(C1)", countDone(&w.counts.Suspensions))
	w.cluster.After(w.between(2*time.Second, 10*time.Second), func() { h.command(byNobody, "RESUME QMGR CLUSTER(C1)", nil) })
}

func (w *world) stopChannel() {
	a, b := w.two()
	a.command(byNobody, fmt.Sprintf("STOP CHANNEL(TO.%s)", b.name), countDone(&w.counts.ChannelStops))
	w.cluster.After(w.between(2*time.Second, 10*time.Second), func() { a.command(byNobody, fmt.Sprintf("START CHANNEL(TO.%s)", b.name), nil) })
}

func (w *world) cutPeer() {
	a, b := w.two()
	if w.shape.peers { // without, nobody goes that way
		w.counts.PeersCut++
	}
	set := func(down bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.down[way{a.name, b.name}] = down
	}
	set(true)
	w.cluster.After(w.between(time.Second, 10*time.Second), func() { set(false) })
}

func (w *world) troubleAlertmanager() {
	w.counts.AlertmanagersDown++
	set := func(s amState) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.am = s
	}
	set(pick(w.rng, amDown, amBusy))
	w.cluster.After(w.between(time.Second, 15*time.Second), func() { set(amUp) })
}

func (w *world) fillJournal() {
	d := w.some().daemon
	if d == nil {
		return
	}
	w.counts.JournalsFull++
	d.disk.setFull(true)
	d.h.linesLost = append(d.h.linesLost, time.Now())
	w.cluster.After(w.between(time.Second, 10*time.Second), func() {
		d.disk.setFull(false)
		d.h.linesLost = append(d.h.linesLost, time.Now())
	})
}

// setDeaths lets daemons die at their disks, or stops that.
func (w *world) setDeaths(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calmDisks = !on
}
