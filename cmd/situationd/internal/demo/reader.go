package demo

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// ledger notes every message body that any reader got, and where.
type ledger struct {
	mu   sync.Mutex
	read map[string][]string // body -> the queue managers on which it was read
}

func newLedger() *ledger { return &ledger{read: map[string][]string{}} }

func (l *ledger) note(body, qmgr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.read[body] = append(l.read[body], qmgr)
}

// count gives how many distinct bodies were read, how many reads there were,
// and how many were on one queue manager.
func (l *ledger) count(qmgr string) (distinct, reads, there int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, where := range l.read {
		distinct++
		reads += len(where)
		for _, w := range where {
			if w == qmgr {
				there++
			}
		}
	}
	return distinct, reads, there
}

// reader is an application that reads the queue on one queue manager.
type reader struct {
	stop context.CancelFunc
	done chan error
}

// startReader connects, opens the queue for input and reads until it is stopped.
func startReader(ctx context.Context, c *cluster, qmgr string, notes *ledger) (*reader, error) {
	conn, err := c.connect(ctx, qmgr, "reader")
	if err != nil {
		return nil, err
	}
	handle, _, err := conn.Open(ctx, mqi.OD{ObjectName: queueName}, mqi.MQOO_INPUT_SHARED|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		return nil, errors.Join(err, conn.Disconnect(ctx))
	}
	reading, stop := context.WithCancel(ctx)
	r := &reader{stop: stop, done: make(chan error, 1)}
	go func() { r.done <- read(reading, conn, handle, qmgr, notes) }()
	return r, nil
}

// read gets one message after the other, each in a unit of work of its own, and
// notes a body only when it is committed.
func read(ctx context.Context, conn mqengine.Conn, handle mqengine.Handle, qmgr string, notes *ledger) error {
	gmo := mqi.GMO{
		Options:      mqi.MQGMO_WAIT | mqi.MQGMO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING,
		WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1,
	}
	var failure error
	for failure == nil {
		msg, err := conn.Get(ctx, handle, mqi.NewMD(), gmo)
		if err != nil {
			failure = err
			break
		}
		if err := conn.Commit(context.WithoutCancel(ctx)); err != nil {
			failure = err
			break
		}
		notes.note(string(msg.Body), qmgr)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := conn.Disconnect(ending)
	if ctx.Err() != nil {
		return err // it was stopped
	}
	return errors.Join(failure, err)
}

// end stops the reader and waits until it has closed the queue.
func (r *reader) end() error {
	r.stop()
	return <-r.done
}
