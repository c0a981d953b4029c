package mqengine

import (
	"context"
	"errors"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// endRetry is how often a queue manager is tried that is still starting.
const endRetry = 20 * time.Millisecond

// endTag is the APPLTAG of the command that ends a queue manager.
const endTag = "endmqm"

// EndMode is how a queue manager ends. The zero value ends it at once:
// applications lose their connection, and what they did not commit is backed out.
type EndMode struct {
	// Controlled waits until no application has an object open or a unit of work.
	// Nobody new may connect, and calls with FAIL_IF_QUIESCING get 2161.
	Controlled bool
	// Within bounds that wait: the end is immediate then. 0 waits for as long as it takes.
	Within time.Duration
}

// append encodes the mode; part of a second counts as one.
func (m EndMode) append(b []byte) []byte {
	return wire.AppendUint(wire.AppendBool(b, m.Controlled), uint64((m.Within+time.Second-1)/time.Second))
}

// endWithinMax is the longest wait that a controlled end may be given.
const endWithinMax = 365 * 24 * time.Hour

func readEndMode(r *wire.Reader) EndMode {
	m := EndMode{Controlled: r.Bool()}
	m.Within = time.Duration(min(r.Uint(), uint64(endWithinMax/time.Second))) * time.Second
	return m
}

// quiesce begins a controlled end, once; a later call only changes how long it may take.
func (q *QueueManager) quiesce(within time.Duration) {
	q.quiesceMu.Lock()
	defer q.quiesceMu.Unlock()
	if q.patience != nil {
		q.patience.Stop()
	}
	if within > 0 {
		q.patience = time.AfterFunc(within, func() { q.end(nil) })
	}
	if q.ebbing.Swap(true) {
		return
	}
	q.say("AMQ8156I", "The queue manager is quiescing.")
	if q.lock != nil {
		if err := q.lock.quiescing(); err != nil {
			q.say("AMQ6150E", "The lock file cannot be written: %v", err)
		}
	}
	q.mailbox.post(item{event: qmgr.Quiesce{}})
}

// quiescing reports whether a controlled end has begun.
func (q *QueueManager) quiescing() bool { return q.ebbing.Load() }

// calm stops the clock of a controlled end.
func (q *QueueManager) calm() {
	q.quiesceMu.Lock()
	defer q.quiesceMu.Unlock()
	if q.patience != nil {
		q.patience.Stop()
	}
}

// End asks the queue manager in folder to end, as endmqm does, and returns when
// it has let go of the folder. One that is starting is ended once it has started.
// 2059: it does not run.
func End(ctx context.Context, folder, name string, mode EndMode) error {
	p, err := dialHolder(ctx, folder, name)
	if err != nil {
		return err
	}
	err = p.end(ctx, mode)
	if mqi.ReasonOf(err) == mqi.MQRC_CONNECTION_BROKEN {
		err = nil // it ended before it could answer
	}
	return errors.Join(err, p.close(), WaitEnded(ctx, folder))
}

// dialHolder connects to whoever holds the folder, as soon as that answers.
func dialHolder(ctx context.Context, folder, name string) (*socketPort, error) {
	retry := time.NewTicker(endRetry)
	defer retry.Stop()
	for {
		p, err := dialSocket(ctx, folder, name, qmgr.Appl{Tag: endTag})
		if !errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE) {
			return p, err
		}
		held, _, lookErr := lookAtLock(folder)
		if lookErr != nil || !held {
			return nil, errors.Join(err, lookErr)
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

// WaitEnded returns when nobody holds the queue manager's folder any more.
func WaitEnded(ctx context.Context, folder string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		running, _, err := lookAtLock(folder)
		if err != nil || !running {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
