package simtest

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/enginetest"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// who changed an attribute last.
type who int

const (
	byNobody who = iota
	byPerson
	byDaemon
	byProgram // of a rule
	byCrash   // a change that was not durable went away again
)

// levers are the attributes that are followed.
var levers = []string{"PUT", "CLWLRANK", "CLWLPRTY", "CLWLUSEQ"}

// instance is a queue on a queue manager as everybody may know it, and who made it so.
type instance struct {
	values  map[string]string
	by      map[string]who
	at      map[string]time.Time // of a person's change
	seen    map[string]bool      // a sample that shows a person's change has reached the daemon
	acts    map[string]*act      // that lowered it
	raised  time.Time            // by a daemon
	changes int                  // by daemons
	last    map[string]was
	ours    map[string]string    // what a daemon or program set last
	other   map[string]time.Time // since when samples of this daemon's life show another value than ours
	past    map[string][]was     // what it was before, for what a crash takes back
	base    map[string]string    // what our first lowering found
	deleted []time.Time          // when it was
}

// act is one action of one edge: what the journal calls an id.
type act struct {
	id      string
	lowered int
	excused int // reasons for lowering once more
}

// view is what the repository told a daemon of a queue.
type view struct {
	at        time.Time
	instances []qmgr.Instance
}

// leverOf is the attribute by which the rules of a queue lower it.
func leverOf(queue string) string {
	switch queue {
	case queueRank:
		return "CLWLRANK"
	case queuePrty:
		return "CLWLPRTY"
	}
	return "PUT"
}

// read gives the attributes of a queue as they are in the machine.
func (h *host) read(queue string) map[string]string {
	for _, row := range h.m.Display("DISPLAY QLOCAL(%s) PUT CLWLRANK CLWLPRTY CLWLUSEQ", queue) {
		return row
	}
	return nil
}

// look compares a queue with what was known of it, and says who changed it.
func (h *host) look(queue string, by who, d *daemon) {
	in := h.queues[queue]
	if in == nil || !h.m.Up() {
		return
	}
	row := h.read(queue)
	for _, attr := range levers {
		before, after := in.values[attr], row[attr]
		if before == after {
			continue
		}
		owner, how := by, by
		if by == byNobody && before != "" && after != "" {
			owner, how = in.takenBack(attr, after), byCrash
		}
		in.past[attr] = append(in.past[attr], was{by: in.by[attr], value: before})
		if how == byDaemon && lower(attr, before, after) && (in.by[attr] != byDaemon || in.base[attr] == "") {
			in.base[attr] = before
		}
		in.values[attr], in.by[attr], in.seen[attr] = after, owner, false
		h.w.note("%s %s %s %s -> %s by %d", h.name, queue, attr, before, after, how)
		if how == byDaemon || how == byProgram {
			in.ours[attr] = after
			delete(in.other, attr)
		}
		switch how {
		case byDaemon:
			in.changes++
			h.daemonChanged(d, queue, attr, before, after)
		case byPerson:
			in.at[attr] = h.w.cluster.Now()
			h.w.counts.PersonsChanges++
			in.excuse()
		case byNobody, byProgram, byCrash:
			in.excuse()
		}
		if after == "" {
			in.deleted = append(in.deleted, time.Now())
		}
	}
}

// deletedWithin says that it was deleted last no longer ago than that.
func (in *instance) deletedWithin(d time.Duration) bool {
	n := len(in.deleted)
	return n > 0 && time.Since(in.deleted[n-1]) <= d
}

// takenBack says whose value it is that is there again after a crash took away
// what was not durable.
func (in *instance) takenBack(attr, value string) who {
	for i := len(in.past[attr]) - 1; i >= 0; i-- {
		if was := in.past[attr][i]; was.value == value {
			in.past[attr] = in.past[attr][:i]
			return was.by
		}
	}
	return byNobody
}

// excuse allows every act on the instance to lower it once more.
func (in *instance) excuse() {
	for _, a := range in.acts {
		a.excused++
	}
}

// dwell is two intervals of the rules.
const dwell = 2 * time.Second

// lower says that a change of an attribute lowers the instance.
func lower(attr, before, after string) bool {
	switch attr {
	case "PUT":
		return before == "ENABLED" && after == "DISABLED"
	case "CLWLRANK", "CLWLPRTY":
		b, err := strconv.Atoi(before)
		a, err2 := strconv.Atoi(after)
		return err == nil && err2 == nil && a < b
	}
	return false
}

// daemonChanged judges one change that a daemon made.
func (h *host) daemonChanged(d *daemon, queue, attr, before, after string) {
	w := h.w
	entry, journaled := d.disk.underWay(queue)
	journaled = journaled && entry.After != nil && strings.Contains(*entry.After, after)
	if attr == "CLWLUSEQ" {
		return
	}
	in := h.queues[queue]
	if !lower(attr, before, after) {
		if before == "" {
			return // the queue is new
		}
		w.counts.Raisings++
		if journaled && entry.Edge == "guard" {
			w.counts.PutBacks++
		}
		if journaled && entry.Edge == "guard" || d.disk.unwritable() { // then a raising has no line
			in.excuse()
		}
		in.raised = w.cluster.Now()
		if in.persons(attr, before) && claims(queue) && entry.Edge != "manual" {
			w.fail("%s on %s: the daemon raised %s to %s, which a person had set, and it knew", queue, h.name, attr, after)
		}
		return
	}
	w.counts.Lowerings++
	if !journaled {
		w.fail("%s on %s was lowered to %s(%s), and the journal has no line of it", queue, h.name, attr, after)
		return
	}
	a := in.acts[entry.ID]
	if a == nil {
		a = &act{id: entry.ID}
		in.acts[entry.ID] = a
	}
	if since := w.cluster.Now().Sub(in.raised); since < dwell {
		w.fail("%s on %s was lowered %s after it was raised", queue, h.name, since)
	}
	if a.lowered++; a.lowered > 1+a.excused {
		w.fail("%s on %s was lowered %d times by %s", queue, h.name, a.lowered, entry.ID)
	}
	h.checkOthers(d, queue, attr, after)
}

// persons says that the value of before was a person's, and that the daemon knew: it
// had seen the value, and that it is not its own. It is asked when the value is gone,
// so it looks at what was noted.
func (in *instance) persons(attr, before string) bool {
	was := in.last[attr]
	return was.by == byPerson && was.value == before && was.seen && was.other
}

// dies: what a daemon saw just before it died it may not have kept.
func (in *instance) dies(now time.Time) {
	for attr, since := range in.other {
		if now.Sub(since) < 2*time.Second {
			delete(in.other, attr)
		}
	}
}

// checkOthers: the guard. Of what the daemon had been told within the last
// samples something must say that messages have somewhere else to go; and where the
// daemons ask each other, somebody must be left in fact, unless a person did it.
func (h *host) checkOthers(d *daemon, queue, attr, after string) {
	w := h.w
	views := d.views[queue]
	recent := w.cluster.Now().Add(-3 * time.Second)
	ok, looked := false, 0
	for i := len(views) - 1; i >= 0 && (looked == 0 || views[i].at.After(recent)); i-- {
		looked++
		ok = ok || elsewhere(views[i].instances, attr, after)
	}
	if !ok {
		w.fail("%s on %s was lowered, and none of %d looks showed another instance that could be chosen: %+v", queue, h.name, looked, views[max(0, len(views)-2):])
	}
	if !w.shape.peers {
		return
	}
	for _, o := range w.hosts {
		in := o.queues[queue]
		if in == nil || in.values[attr] == "" && !in.deletedWithin(10*time.Second) {
			continue
		}
		if in.values[attr] == "" {
			return // a person took it away, and that need not be known everywhere yet
		}
		if in.by[attr] != byDaemon || in.values[attr] != "DISABLED" && in.values[attr] != "0" {
			return
		}
	}
	w.fail("%s was lowered on %s, and its daemons have now lowered it everywhere", queue, h.name)
}

// elsewhere says that messages have another instance to go to, once the local one
// has the new value: in the words of the workload algorithm from MQ 8 on.
func elsewhere(list []qmgr.Instance, attr, after string) bool {
	number, _ := strconv.Atoi(after)
	rank := -1
	var all []qmgr.Instance
	for _, in := range list {
		if in.Local {
			switch attr {
			case "PUT":
				in.Put = false
			case "CLWLRANK":
				in.Rank = number
			case "CLWLPRTY":
				in.Prty = number
			}
		}
		rank = max(rank, 10*in.ChlRank+in.Rank)
		all = append(all, in)
	}
	best := -1
	var left []qmgr.Instance
	for _, in := range all {
		bad := in.Suspended || in.Status == mqi.MQCHS_RETRYING || in.Status == mqi.MQCHS_PAUSED || in.Status == mqi.MQCHS_STOPPED
		if 10*in.ChlRank+in.Rank == rank && in.Put && (in.Local || !bad) {
			best = max(best, in.Prty)
			left = append(left, in)
		}
	}
	for _, in := range left {
		if !in.Local && (attr != "CLWLPRTY" || in.Prty > number) {
			return true
		}
	}
	return false
}

// asked is told before a call of a daemon gets to its queue manager.
func (h *host) asked(req qmgr.Request) {
	if c, ok := req.(qmgr.CommandReq); ok && c.Command.Verb == "ALTER" {
		h.note(c.Command.Name)
		h.look(c.Command.Name, byNobody, nil)
		h.note(c.Command.Name)
	}
}

// asks is told when the queue manager has carried out a call, before it answers.
func (h *host) asks(d *daemon, req qmgr.Request) {
	if c, ok := req.(qmgr.CommandReq); ok && c.Command.Verb == "ALTER" {
		h.look(c.Command.Name, byDaemon, d)
	}
}

// was is who had set a value when it was last looked at.
type was struct {
	by    who
	value string
	seen  bool
	other bool
}

// note keeps what is known of a queue before it may change.
func (h *host) note(queue string) {
	in := h.queues[queue]
	if in == nil {
		return
	}
	for _, attr := range levers {
		in.last[attr] = was{in.by[attr], in.values[attr], in.seen[attr], !in.other[attr].IsZero()}
	}
}

// answered is told when an answer leaves the queue manager.
func (h *host) answered(d *daemon, req qmgr.Request, ans *enginetest.Answer) {
	now := h.w.cluster.Now()
	switch res := ans.Result.(type) {
	case *qmgr.InstancesResult:
		asked, ok := req.(qmgr.InstancesReq)
		if !ok || res == nil {
			return
		}
		for _, q := range asked.Queues {
			v := view{at: now}
			if old := d.views[q]; res.Unchanged && len(old) > 0 {
				v.instances = old[len(old)-1].instances
			}
			for _, in := range res.Instances {
				if in.Queue == q {
					v.instances = append(v.instances, in)
				}
			}
			d.views[q] = append(d.views[q], v)
		}
	case *qmgr.MoveResult:
		if asked, ok := req.(qmgr.MoveReq); ok && res != nil && !asked.DryRun {
			h.w.counts.Moved += len(res.Moved)
			h.w.counts.LeftAddressed += res.Addressed
			h.w.counts.LeftBound += res.Bound
		}
	}
}

// sampled is told what a sample shows to a daemon.
func (h *host) sampled(s *mqengine.Sample) {
	h.w.counts.Samples++
	for i := range s.Queues {
		q := &s.Queues[i]
		in := h.queues[q.Name]
		if in == nil || q.Attributes == nil {
			continue
		}
		shown := map[string]string{"CLWLRANK": strconv.Itoa(q.Attributes.ClwlRank), "CLWLPRTY": strconv.Itoa(q.Attributes.ClwlPrty), "PUT": "DISABLED"}
		if q.Attributes.Put {
			shown["PUT"] = "ENABLED"
		}
		for attr, value := range shown {
			if in.values[attr] != value {
				continue
			}
			in.seen[attr] = true
			if in.ours[attr] != value && in.other[attr].IsZero() {
				in.other[attr] = time.Now()
			}
		}
	}
}

// adminSession is the connection of the people at this host; nil while the queue
// manager is down.
func (h *host) adminSession() *enginetest.Session {
	if h.admin == nil {
		h.admin = h.m.Connect(qmgr.Appl{Tag: "runmqsc", UserID: "mqm"}, func() { h.admin = nil })
	}
	return h.admin
}

// command has somebody run one command. then is told how it went.
func (h *host) command(by who, text string, then func(error)) {
	c := h.adminSession()
	if c == nil {
		if then != nil {
			then(fmt.Errorf("%s does not run", h.name))
		}
		return
	}
	for _, q := range queues {
		h.look(q, byNobody, nil)
	}
	c.Command(text, func(res mqsc.Result, ans enginetest.Answer) {
		err := ans.Err("MQSC", text)
		if err == nil && res.Failed {
			err = fmt.Errorf("%s: %v", text, res.Responses)
		}
		h.w.printf("%s: %s: %v", h.name, text, err)
		if then != nil {
			then(err)
		}
	})
	for _, q := range queues {
		h.look(q, by, nil)
	}
}
