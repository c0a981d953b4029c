package adapt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// MaxReconnect is the longest wait between two tries to connect.
const MaxReconnect = 5 * time.Second

// dialTimeout bounds one try.
const dialTimeout = 5 * time.Second

// ErrNotConnected is what every use of a Link gives while there is no queue manager.
var ErrNotConnected = errors.New("not connected to the queue manager")

// Link is the daemon's connection to its queue manager, made again whenever it
// is lost. It is safe for concurrent use.
type Link struct {
	dial   func(context.Context) (mqengine.Conn, error)
	retry  func() time.Duration
	logger hclog.Logger
	up     func()

	changes chan struct{}
	tried   chan struct{} // closed when the first try to connect has ended
	first   sync.Once

	mu        sync.Mutex
	conn      mqengine.Conn
	connected time.Time
	lastErr   error
	lost      chan struct{} // closed when conn was given up
}

// LinkOptions of a Link. All are required.
type LinkOptions struct {
	Dial func(context.Context) (mqengine.Conn, error)
	// Retry tells how long to wait between two tries; it is asked each time, since
	// rules and with them the shortest sample can change.
	Retry  func() time.Duration
	Logger hclog.Logger
	// Up is called after every connection that was made.
	Up func()
}

// NewLink makes a Link.
func NewLink(o LinkOptions) *Link {
	return &Link{dial: o.Dial, retry: o.Retry, logger: o.Logger, up: o.Up, changes: make(chan struct{}, 1), tried: make(chan struct{})}
}

// Changes tells, merged, that something changed at the queue manager: readers,
// attributes, depth events, instances elsewhere, or that it was connected.
func (l *Link) Changes() <-chan struct{} { return l.changes }

// Tried is closed when the first try to connect has ended, well or not: before
// that nothing can be said of the queue manager, not even that it does not answer.
func (l *Link) Tried() <-chan struct{} { return l.tried }

// Run keeps the connection until ctx ends, and then gives it back.
func (l *Link) Run(ctx context.Context) {
	defer l.close(ctx)
	for ctx.Err() == nil {
		conn, lost, err := l.acquire(ctx)
		l.first.Do(func() { close(l.tried) })
		if err != nil {
			if !wait(ctx, l.retry()) {
				return
			}
			continue
		}
		l.up()
		l.notify()
		l.follow(ctx, conn, lost)
	}
}

// wait returns false if ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// follow forwards changes until the connection ends.
func (l *Link) follow(ctx context.Context, conn mqengine.Conn, lost <-chan struct{}) {
	watch, err := conn.Watch(ctx)
	if err != nil {
		l.drop(conn, fmt.Errorf("watch: %w", err))
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-lost:
			return
		case _, ok := <-watch:
			if !ok {
				if ctx.Err() == nil {
					l.drop(conn, ErrNotConnected)
				}
				return
			}
			l.notify()
		}
	}
}

func (l *Link) notify() {
	select {
	case l.changes <- struct{}{}:
	default: // one is waiting already; changes are merged
	}
}

// Conn is the connection of now, and when it was made. It does not try to
// connect: that is Run's work.
func (l *Link) Conn() (mqengine.Conn, time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		if l.lastErr != nil {
			return nil, time.Time{}, l.lastErr
		}
		return nil, time.Time{}, ErrNotConnected
	}
	return l.conn, l.connected, nil
}

// acquire connects if there is no connection.
func (l *Link) acquire(ctx context.Context) (mqengine.Conn, <-chan struct{}, error) {
	l.mu.Lock()
	conn, lost := l.conn, l.lost
	l.mu.Unlock()
	if conn != nil {
		return conn, lost, nil
	}
	dialing, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := l.dial(dialing)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.lastErr == nil || l.lastErr.Error() != err.Error() {
			l.logger.Warn("no connection to the queue manager; it is tried again", "error", err)
		}
		l.lastErr = err
		return nil, nil, err
	}
	l.logger.Info("connected to the queue manager")
	l.conn, l.connected, l.lastErr, l.lost = conn, time.Now(), nil, make(chan struct{})
	return conn, l.lost, nil
}

// Check gives the connection up if err says that it is of no use any more.
func (l *Link) Check(conn mqengine.Conn, err error) {
	if err != nil && broken(err) {
		l.drop(conn, err)
	}
}

// broken tells the end of a connection from the refusal of a call.
func broken(err error) bool {
	switch mqi.ReasonOf(err) {
	case mqi.MQRC_CONNECTION_BROKEN, mqi.MQRC_Q_MGR_NOT_AVAILABLE, mqi.MQRC_Q_MGR_QUIESCING,
		mqi.MQRC_Q_MGR_STOPPING, mqi.MQRC_CONNECTION_QUIESCING, mqi.MQRC_CONNECTION_STOPPING, mqi.MQRC_HCONN_ERROR:
		return true
	default:
		return false
	}
}

func (l *Link) drop(conn mqengine.Conn, err error) {
	l.mu.Lock()
	if l.conn != conn {
		l.mu.Unlock()
		return
	}
	l.conn, l.lastErr = nil, err
	close(l.lost)
	l.mu.Unlock()
	l.logger.Warn("the connection to the queue manager is lost", "error", err)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	_ = conn.Disconnect(ctx) // it is broken: this only frees what belongs to it
	l.notify()
}

func (l *Link) close(ctx context.Context) {
	l.mu.Lock()
	conn := l.conn
	l.conn, l.lastErr = nil, ErrNotConnected
	l.mu.Unlock()
	if conn == nil {
		return
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), dialTimeout)
	defer cancel()
	if err := conn.Disconnect(ending); err != nil {
		l.logger.Debug("disconnect", "error", err)
	}
}
