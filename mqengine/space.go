package mqengine

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

const (
	// spaceEvery is how often the free space of the disk is looked at, and
	// spaceBytes after how many bytes of bodies at the latest.
	spaceEvery = time.Second
	spaceBytes = 8 << 20
)

// spaceGauge carries word of the disk between those who write and those who look.
type spaceGauge struct {
	low     atomic.Bool   // the reserve is reached
	room    atomic.Int64  // bytes until it is; 0: not known
	look    chan struct{} // one token: much was written
	written int           // since the last token; the committer's own
	told    qmgr.Space    // what the machine knows; the actor's own
	unsure  bool          // the last look got no answer; the watcher's own
}

func newSpaceGauge() *spaceGauge { return &spaceGauge{look: make(chan struct{}, 1)} }

// wrote counts the bodies of a turn that is durable.
func (g *spaceGauge) wrote(bytes int) {
	if g.written += bytes; g.written < spaceBytes {
		return
	}
	g.written = 0
	select {
	case g.look <- struct{}{}:
	default:
	}
}

// tell lets the machine know before it takes further events. What waits in the
// mailbox may be more than the reserve, so word must not queue up behind it.
func (g *spaceGauge) tell(now time.Time, m *qmgr.Machine, fx *qmgr.Effects) {
	if is := (qmgr.Space{Low: g.low.Load(), Room: g.room.Load()}); is != g.told {
		g.told = is
		m.Step(now, is, fx)
	}
}

// watchStore looks at the disk, and ends the queue manager when the store fails
// without anybody writing.
func (q *QueueManager) watchStore() {
	cause := func() error { return nil }
	var failed <-chan struct{}
	if p, ok := q.store.(interface {
		Failed() <-chan struct{}
		Err() error
	}); ok {
		failed, cause = p.Failed(), p.Err
	}
	tick := time.NewTicker(spaceEvery)
	defer tick.Stop()
	q.lookAtDisk()
	for {
		select {
		case <-q.ending:
			return
		case <-failed:
			q.end(cause())
			return
		case <-tick.C:
			q.errorLog.tell()
		case <-q.actor.space.look:
		}
		q.lookAtDisk()
	}
}

// lookAtDisk asks how full the disk is. Where the system does not tell, what was
// known stays: nobody knows that there is room again.
func (q *QueueManager) lookAtDisk() {
	err := q.store.Space()
	low := errors.Is(err, store.ErrLowSpace)
	unsure := err != nil && !low
	if unsure && !q.actor.space.unsure && !errors.Is(err, store.ErrClosed) {
		q.say("AMQ6708W", "The free disk space is not known: %v", err)
	}
	if q.actor.space.unsure = unsure; unsure {
		return
	}
	if s, ok := q.store.(interface{ Room() int64 }); ok {
		q.actor.space.room.Store(s.Room())
	}
	if low != q.actor.space.low.Swap(low) {
		q.sayLow(low, err)
		q.mailbox.post(item{}) // a turn, so that the machine hears of it
	}
}

func (q *QueueManager) sayLow(low bool, err error) {
	if low {
		q.say("AMQ6708W", "A disk full condition is near, puts are refused: %v", err)
		return
	}
	q.say("AMQ6709I", "There is enough free disk space again, puts are accepted.")
}
