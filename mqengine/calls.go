package mqengine

import (
	"context"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// cancelGrace is how long a cancelled call waits for the answer that the
// cancellation brings, before it is given up.
const cancelGrace = 5 * time.Second

// call is one call that waits for its answer.
type call struct {
	done chan struct{} // one token when rep or err is set
	rep  reply
	err  error
}

// calls are the outstanding calls of one connection. Closing it fails them and all later ones.
type calls struct {
	slots  chan struct{} // one per outstanding call: more wait here
	closed chan struct{} // by fail

	mu      sync.Mutex
	waiting map[uint64]*call
	lastTag uint64
	err     error // why there will be no more answers
	spare   []*call
}

func newCalls() *calls {
	return &calls{
		slots: make(chan struct{}, maxOutstanding), closed: make(chan struct{}),
		waiting: make(map[uint64]*call),
	}
}

// begin takes a slot and a tag.
func (cs *calls) begin(ctx context.Context) (*call, uint64, error) {
	select {
	case cs.slots <- struct{}{}:
	default:
		select {
		case cs.slots <- struct{}{}:
		case <-cs.closed:
			return nil, 0, cs.err
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.err != nil {
		<-cs.slots
		return nil, 0, cs.err
	}
	var c *call
	if n := len(cs.spare); n > 0 {
		c, cs.spare = cs.spare[n-1], cs.spare[:n-1]
	} else {
		c = &call{done: make(chan struct{}, 1)}
	}
	cs.lastTag++
	cs.waiting[cs.lastTag] = c
	return c, cs.lastTag, nil
}

// finish gives the answer to the call that waits for it; false if none does.
func (cs *calls) finish(rep reply) bool {
	cs.mu.Lock()
	c, ok := cs.waiting[rep.tag]
	delete(cs.waiting, rep.tag)
	cs.mu.Unlock()
	if ok {
		c.rep = rep
		c.done <- struct{}{}
	}
	return ok
}

// end takes the answer and gives back the slot. The call must be done.
func (cs *calls) end(c *call) (reply, error) {
	rep, err := c.rep, c.err
	c.rep, c.err = reply{}, nil
	cs.mu.Lock()
	if len(cs.spare) < 16 {
		cs.spare = append(cs.spare, c)
	}
	cs.mu.Unlock()
	<-cs.slots
	return rep, err
}

// abandon forgets a call whose answer is not waited for any more. Its slot stays
// taken until the answer comes (late), as the call still counts at the other side.
func (cs *calls) abandon(tag uint64) (answered bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if _, ok := cs.waiting[tag]; !ok {
		return true
	}
	delete(cs.waiting, tag)
	return false
}

// late is told of an answer that nobody waits for.
func (cs *calls) late() {
	select {
	case <-cs.slots:
	default:
	}
}

// fail ends every outstanding call and all later ones with err.
func (cs *calls) fail(err error) {
	cs.mu.Lock()
	if cs.err != nil {
		cs.mu.Unlock()
		return
	}
	cs.err = err
	waiting := cs.waiting
	cs.waiting = make(map[uint64]*call)
	close(cs.closed)
	cs.mu.Unlock()
	for _, c := range waiting {
		c.err = err
		c.done <- struct{}{}
	}
}

// wait waits for the answer. When ctx ends, cancel asks the queue manager to end
// the call, which then answers at once; nil cancel gives the call up. An answer
// that was a success counts, so that a message that was got is not lost.
func (cs *calls) wait(ctx context.Context, c *call, tag uint64, cancel func() error) (reply, error) {
	select {
	case <-c.done:
		return cs.end(c)
	case <-ctx.Done():
	}
	if cancel != nil && cancel() == nil {
		grace := time.NewTimer(cancelGrace)
		defer grace.Stop()
		select {
		case <-c.done:
			rep, err := cs.end(c)
			if err != nil || rep.compCode == mqi.MQCC_FAILED {
				return reply{}, ctx.Err()
			}
			return rep, nil
		case <-grace.C:
		}
	}
	if cs.abandon(tag) {
		<-c.done
		return cs.end(c)
	}
	return reply{}, ctx.Err()
}

// connectionBroken is what calls get once the queue manager is gone.
func connectionBroken(detail string) error {
	return &mqi.Error{CompCode: mqi.MQCC_FAILED, Reason: mqi.MQRC_CONNECTION_BROKEN, Op: "MQI", Detail: detail}
}

// errDisconnected is what calls get after MQDISC. Never changed.
var errDisconnected = &mqi.Error{CompCode: mqi.MQCC_FAILED, Reason: mqi.MQRC_HCONN_ERROR, Op: "MQI", Detail: "the connection was disconnected"}
