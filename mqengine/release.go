package mqengine

import (
	"sync"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// sink is one application's connection as the release sees it. Its methods run
// in the releasing goroutine and must not block.
type sink interface {
	deliver(rep reply)
	// lost tells that the queue manager is gone; nothing follows.
	lost(err error)
}

// sinks are the connected applications.
type sinks struct {
	mu     sync.Mutex
	byConn map[qmgr.ConnID]sink
	last   qmgr.ConnID
	err    error // why there are no more connections
}

func newSinks() *sinks { return &sinks{byConn: make(map[qmgr.ConnID]sink)} }

// add registers a connection and numbers it.
func (s *sinks) add(k sink) (qmgr.ConnID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	s.last++
	s.byConn[s.last] = k
	return s.last, nil
}

func (s *sinks) remove(id qmgr.ConnID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byConn, id)
}

func (s *sinks) get(id qmgr.ConnID) sink {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byConn[id]
}

// close tells everybody that the queue manager is gone.
func (s *sinks) close(err error) {
	s.mu.Lock()
	s.err = err
	all := make([]sink, 0, len(s.byConn))
	for _, k := range s.byConn {
		all = append(all, k)
	}
	clear(s.byConn)
	s.mu.Unlock()
	for _, k := range all {
		k.lost(err)
	}
}

// release lets a turn out that is durable: what can be sampled first, so that
// whoever has an answer also sees its effect; then answers, frames and dials. With an
// error nothing gets out but that error.
func (q *QueueManager) release(t *turn, err error) {
	if err == nil {
		q.publish(t)
		// Before its answer, so that the port is free when STOP LISTENER is answered.
		if err := q.links.stopListening(t.fx.Unlistens); err != nil {
			q.say("AMQ9206W", "Error closing a listener: %v", err)
		}
	}
	for i := range t.fx.Replies {
		r := &t.fx.Replies[i]
		k := q.sinks.get(r.Conn)
		if k == nil {
			continue // the application is gone
		}
		if err != nil {
			k.deliver(failedReply(r.Tag, err))
		} else {
			k.deliver(reply{
				tag: r.Tag, compCode: r.CompCode, reason: r.Reason, detail: r.Detail,
				result: r.Result, body: t.bodies[i],
			})
		}
	}
	if err == nil {
		q.disconnect(t.fx.Stopped)
		q.links.carryOut(t)
		q.errorLog.write(t.fx.Log)
	}
	for _, f := range t.after {
		f()
	}
	if t.fx.ChannelsEnded && err == nil {
		q.quietOnce.Do(func() { close(q.quiet) })
	}
	if t.fx.Ended && err == nil {
		q.end(nil)
	}
}

// disconnect breaks connections that a command has stopped. Their answers are out.
func (q *QueueManager) disconnect(stopped []qmgr.ConnID) {
	for _, id := range stopped {
		if k := q.sinks.get(id); k != nil {
			q.sinks.remove(id)
			k.lost(connectionBroken("the connection was stopped by a command"))
		}
	}
}

// publish makes the touched queues' states visible and tells the watchers what changed.
func (q *QueueManager) publish(t *turn) {
	q.samples.Publish(t.rows, t.old)
	if !q.watches.watched() {
		return
	}
	q.changes = q.changes[:0]
	for i, now := range t.rows {
		name := now.Name
		if now.Gone {
			if t.old[i] == nil {
				continue
			}
			name = t.old[i].Name
		}
		if kind := changeOf(t.old[i], now); kind != 0 {
			q.changes = append(q.changes, Change{Queue: name, Kind: kind})
		}
	}
	if t.fx.ClusterChanged {
		q.changes = append(q.changes, Change{Kind: ClusterChanged})
	}
	q.watches.tell(q.changes)
}
