package simtest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/enginetest"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// message is one message of the run.
type message struct {
	text  string
	queue string
	acked bool
	read  int // units with it that were committed
	maybe int // units whose commit was not answered
}

// ledger knows every message.
type ledger struct {
	w        *world
	messages map[string]*message
}

func (l *ledger) init(w *world) { l.w, l.messages = w, map[string]*message{} }

func (l *ledger) unread() (n int) {
	for _, m := range l.messages {
		if m.acked && m.read+m.maybe == 0 {
			n++
		}
	}
	return n
}

// check is the last word on every message.
func (l *ledger) check() {
	for _, text := range slices.Sorted(maps.Keys(l.messages)) {
		switch m := l.messages[text]; {
		case m.acked && m.read+m.maybe == 0:
			l.w.fail("%s for %s was put and acknowledged, and is lost", text, m.queue)
		case m.read > 1:
			l.w.fail("%s was read %d times", text, m.read)
		}
	}
}

// putSomething puts one persistent message somewhere, in one of the ways that
// decide whether it may be moved.
func (w *world) putSomething() {
	h, queue := pick(w.rng, w.hosts...), pick(w.rng, queues...)
	c := h.m.Connect(qmgr.Appl{Tag: "putter", PID: 100 + h.number, UserID: "sim"}, nil)
	if c == nil {
		return
	}
	m := &message{text: fmt.Sprintf("m%d", len(w.ledger.messages)+1), queue: queue}
	w.ledger.messages[m.text] = m
	od, bound := mqi.OD{ObjectName: queue}, false
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	done := func(ans enginetest.Answer) {
		if !ans.Lost && ans.CompCode != mqi.MQCC_FAILED {
			m.acked = true
			w.printf("%s is put at %s for %s %s, bound %v", m.text, h.name, queue, od.ObjectQMgrName, bound)
			w.counts.Puts++
		}
		c.Close(false)
	}
	switch way := w.rng.IntN(12); way {
	case 0: // to one queue manager
		od.ObjectQMgrName = pick(w.rng, w.hosts...).name
		w.counts.Addressed++
		c.Put(qmgr.PutReq{OD: od, MD: md, PMO: mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}}, m.text, done)
	case 1: // bound when the queue is opened
		w.counts.Bound++
		bound = true
		c.Call(qmgr.OpenReq{OD: od, Options: mqi.MQOO_OUTPUT | mqi.MQOO_BIND_ON_OPEN}, func(ans enginetest.Answer) {
			if ans.Lost || ans.CompCode == mqi.MQCC_FAILED {
				c.Close(false)
				return
			}
			res, _ := ans.Result.(qmgr.OpenResult)
			c.Put(qmgr.PutReq{Handle: res.Handle, MD: md, PMO: mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}}, m.text, done)
		})
	default:
		c.Put(qmgr.PutReq{OD: od, MD: md, PMO: mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT}}, m.text, done)
	}
}

// keepPutting goes on until the world is dry.
func (w *world) keepPutting() {
	if !w.wet {
		return
	}
	w.putSomething()
	w.cluster.After(w.between(0, 2*w.shape.every.put), w.keepPutting)
}

// reader reads one queue of one queue manager, in units of work.
type reader struct {
	w      *world
	h      *host
	queue  string
	wanted bool // it shall run
	sess   *enginetest.Session
	life   int
	handle uint32
	unit   []*message
	commit bool
	quit   bool // it ends in good order once its call is answered
}

func (w *world) addReader(h *host, queue string) *reader {
	r := &reader{w: w, h: h, queue: queue}
	w.readers = append(w.readers, r)
	return r
}

// start lets the program run; it comes back by itself when its queue manager dies.
func (r *reader) start() {
	if r.wanted {
		r.quit = false
		return
	}
	r.wanted, r.quit = true, false
	r.connect()
}

func (r *reader) later(d time.Duration, do func()) {
	life := r.life
	r.w.cluster.After(d, func() {
		if r.life == life && r.wanted {
			do()
		}
	})
}

func (r *reader) connect() {
	r.life++
	r.sess = r.h.m.Connect(qmgr.Appl{Tag: "reader", PID: 500 + r.h.number, UserID: "sim"}, r.died)
	if r.sess == nil {
		r.life++ // one try is enough, if it died of it
		r.later(300*time.Millisecond, r.connect)
		return
	}
	sess := r.sess
	r.sess.Call(qmgr.OpenReq{OD: mqi.OD{ObjectName: r.queue}, Options: mqi.MQOO_INPUT_SHARED}, func(ans enginetest.Answer) {
		if ans.Lost || sess != r.sess {
			return
		}
		if ans.CompCode == mqi.MQCC_FAILED {
			r.again()
			return
		}
		res, _ := ans.Result.(qmgr.OpenResult)
		r.handle = res.Handle
		r.get()
	})
}

// again connects anew: the queue is not there, or not as it was.
func (r *reader) again() {
	r.leave(true) // what it got under syncpoint is backed out
	r.later(500*time.Millisecond, r.connect)
}

func (r *reader) leave(abrupt bool) {
	sess := r.sess
	r.sess, r.unit = nil, nil
	if sess != nil {
		sess.Close(abrupt)
	}
	r.life++
}

// stop ends the program: killed, or in good order, which it does once its call is
// answered: MQDISC commits, also what a get has taken and not answered.
func (r *reader) stop(abrupt bool) {
	if !abrupt && r.sess != nil {
		r.quit = true
		return
	}
	r.end(abrupt)
}

func (r *reader) end(abrupt bool) {
	if r.commit { // what becomes of an open MQCMIT is not known
		for _, m := range r.unit {
			m.maybe++
		}
		r.commit = false
		abrupt = true
	}
	if len(r.unit) > 0 {
		abrupt = true // MQDISC would commit
	}
	r.wanted = false
	r.leave(abrupt)
}

// died: the queue manager is gone, and with it the unit unless its commit got through.
func (r *reader) died() {
	r.sess = nil
	if r.commit {
		for _, m := range r.unit {
			m.maybe++
		}
	}
	r.commit, r.unit = false, nil
	r.life++
	r.later(300*time.Millisecond, r.connect)
}

func (r *reader) get() {
	sess := r.sess
	gmo := mqi.GMO{Options: mqi.MQGMO_WAIT | mqi.MQGMO_SYNCPOINT, WaitInterval: 700, MaxLength: -1}
	sess.Call(qmgr.GetReq{Handle: r.handle, GMO: gmo}, func(ans enginetest.Answer) {
		if ans.Lost || sess != r.sess {
			return
		}
		if ans.CompCode == mqi.MQCC_FAILED {
			if ans.Reason != mqi.MQRC_NO_MSG_AVAILABLE {
				r.again()
				return
			}
			r.settle()
			return
		}
		text := enginetest.Letter(string(ans.Body))
		m := r.w.ledger.messages[text]
		if m == nil {
			r.w.fail("%s on %s: nobody put %q", r.queue, r.h.name, text)
			return
		}
		r.w.printf("%s is got from %s at %s", text, r.queue, r.h.name)
		r.unit = append(r.unit, m)
		if len(r.unit) < 4 && r.w.chance(0.7) {
			r.get()
			return
		}
		r.settle()
	})
}

// settle commits what was got and goes on.
func (r *reader) settle() {
	if len(r.unit) == 0 {
		if r.quit {
			r.end(false)
			return
		}
		r.later(r.w.between(0, 100*time.Millisecond), r.get)
		return
	}
	sess := r.sess
	if r.w.chance(0.05) && !r.w.calm {
		r.unit = nil
		sess.Call(qmgr.BackReq{}, func(ans enginetest.Answer) {
			if !ans.Lost && sess == r.sess {
				r.later(r.w.between(0, 100*time.Millisecond), r.get)
			}
		})
		return
	}
	r.commit = true
	unit := r.unit
	sess.Call(qmgr.CommitReq{}, func(ans enginetest.Answer) {
		if ans.Lost || sess != r.sess {
			return
		}
		r.commit, r.unit = false, nil
		for _, m := range unit {
			m.read++
			r.w.counts.Reads++
		}
		if r.quit {
			r.end(false)
			return
		}
		r.later(r.w.between(0, 50*time.Millisecond), r.get)
	})
}
