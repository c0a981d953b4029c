package simtest

import (
	"sync"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// moves follows what a daemon moves, to compare it with what its journal says.
type moves struct {
	d  *daemon
	mu sync.Mutex
	of map[string]*moving // by queue
}

// moving is the run on one queue.
type moving struct {
	moved, depth, looks int
	lost                bool // an answer did not come: nobody knows what it would have said
	readers             int  // as the last answer said
	since               time.Time
}

func newMoves(d *daemon) *moves { return &moves{d: d, of: map[string]*moving{}} }

func (m *moves) on(queue string) *moving {
	r := m.of[queue]
	if r == nil {
		r = &moving{}
		m.of[queue] = r
	}
	return r
}

// asks is told before a unit is asked for. The queue's reader comes first: whoever
// was told of one asks for no more.
func (m *moves) asks(req *qmgr.MoveReq) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.on(req.To)
	if !req.DryRun && r.readers > 0 && time.Since(r.since) > time.Millisecond && m.d.alive.Load() {
		m.d.h.w.fail("%s on %s has %d readers, the daemon was told so, and it moves messages off it", req.To, m.d.h.name, r.readers)
	}
}

// got is told of each answer.
func (m *moves) got(req *qmgr.MoveReq, res *qmgr.MoveResult, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.on(req.To)
	if err != nil {
		r.lost = true
		return
	}
	if res.Readers > 0 != (r.readers > 0) {
		r.since = time.Now()
	}
	if !req.DryRun {
		r.moved += len(res.Moved)
	}
	r.readers, r.depth = res.Readers, res.Depth
	r.looks++
}

// line is told of each line of the journal on moving messages.
func (m *moves) line(e *actions.Entry) {
	if e.Action != "redistribute" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.on(e.Queue)
	if e.Result == "started" {
		r.moved, r.lost, r.looks = 0, false, 0
		return
	}
	w := m.d.h.w
	switch {
	case e.Result == "in_doubt", e.Result == "no_change" && e.Moved == 0:
	case r.lost:
		w.unknownMoves.Add(1)
	case e.Moved != r.moved:
		w.fail("%s on %s: the journal says that %d messages were moved (%s), and %d were", e.Queue, m.d.h.name, e.Moved, e.Result, r.moved)
	case e.Result == "done" && r.looks > 0 && e.Remaining != r.depth:
		w.fail("%s on %s: the journal says that %d messages remain, and the last look showed %d", e.Queue, m.d.h.name, e.Remaining, r.depth)
	}
	r.moved = 0
}
