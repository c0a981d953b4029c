package killtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// Queues that units of work write what they did to, beside what they do.
const (
	putLog  = "PUT.LOG"
	readLog = "READ.LOG"
	logs    = "DEFINE QLOCAL(PUT.LOG) DEFPSIST(YES) MAXDEPTH(999999999)\nDEFINE QLOCAL(READ.LOG) DEFPSIST(YES) MAXDEPTH(999999999)\n"
)

// crew are the applications of a test. They connect again whenever their queue
// manager is gone, until stop.
type crew struct {
	t    *testing.T
	book *book
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
	flow *flow
	// patient is the context of calls. It does not end with the work: a call that was
	// begun is waited for, so that its fate is known.
	patient context.Context
}

// flow counts answered puts and gets. Putters hold back while more than most bodies wait.
type flow struct {
	put, got atomic.Int64
	most     int64
}

func newCrew(t *testing.T, b *book, f *flow) *crew {
	c := &crew{t: t, book: b, flow: f, patient: context.Background()}
	c.ctx, c.stop = context.WithCancel(context.Background())
	t.Cleanup(func() {
		c.stop()
		c.wg.Wait()
	})
	return c
}

// gone reports whether a call failed because the queue manager was killed: the
// only failure that these tests expect.
func gone(err error) bool {
	return errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) || errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE)
}

// work runs an application until stop: session is one connection's work, which
// ends with an error when the queue manager is killed.
func (c *crew) work(m *proctest.QMgr, tag string, session func(mqengine.Conn) error) {
	c.wg.Go(func() {
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for c.ctx.Err() == nil {
			if err := c.connected(m, tag, session); err != nil && !gone(err) {
				c.t.Errorf("%s: %v", tag, err)
				return
			}
			<-again.C
		}
	})
}

func (c *crew) connected(m *proctest.QMgr, tag string, session func(mqengine.Conn) error) error {
	conn, err := m.Dial(c.patient, tag)
	if err != nil {
		return err
	}
	return errors.Join(session(conn), conn.Disconnect(c.patient))
}

// once runs an application until stop or until its queue manager is killed.
func (c *crew) once(m *proctest.QMgr, tag string, session func(mqengine.Conn) error) {
	c.wg.Go(func() {
		if err := c.connected(m, tag, session); err != nil && !gone(err) {
			c.t.Errorf("%s: %v", tag, err)
		}
	})
}

// stopNow ends the work and waits for it.
func (c *crew) stopNow() {
	c.stop()
	c.wg.Wait()
}

// hold waits while too much is on its way.
func (c *crew) hold() {
	poll := time.NewTicker(2 * time.Millisecond)
	defer poll.Stop()
	for c.flow.put.Load()-c.flow.got.Load() > c.flow.most && c.ctx.Err() == nil {
		select {
		case <-poll.C:
		case <-c.ctx.Done():
		}
	}
}

// putter puts distinct bodies to a queue in units of work of random size, some
// of which it backs out. With plain it puts outside syncpoint, several at once.
type putter struct {
	*crew
	name  string
	queue string
	plain bool
	r     *rand.Rand
	n     int
}

func (p *putter) next() string {
	p.n++
	return fmt.Sprintf("%s-%06d", p.name, p.n)
}

func (p *putter) session(conn mqengine.Conn) error {
	out, _, err := conn.Open(p.patient, mqi.OD{ObjectName: p.queue}, mqi.MQOO_OUTPUT)
	if err != nil {
		return err
	}
	log, _, err := conn.Open(p.patient, mqi.OD{ObjectName: putLog}, mqi.MQOO_OUTPUT)
	for err == nil && p.ctx.Err() == nil {
		p.hold()
		if p.plain {
			err = p.putSeveral(conn, out)
		} else {
			err = p.putUnit(conn, out, log)
		}
	}
	return err
}

// putSeveral has several puts outstanding on one connection.
func (p *putter) putSeveral(conn mqengine.Conn, out mqengine.Handle) error {
	errs := make(chan error)
	n := 1 + p.r.IntN(6)
	for range n {
		u := p.book.openPut(true, p.next())
		go func() {
			err := put(conn, out, u.bodies[0], mqi.MQPMO_NO_SYNCPOINT, text)
			if err == nil {
				p.book.settle(u, done)
				p.flow.put.Add(1)
			}
			errs <- err
		}()
	}
	var all error
	for range n {
		all = errors.Join(all, <-errs)
	}
	return all
}

// putUnit puts each body to the queue and its id to the log, in one unit of work.
func (p *putter) putUnit(conn mqengine.Conn, out, log mqengine.Handle) error {
	u := p.book.openPut(false)
	p.book.settle(u, undone) // until it asks for the commit
	for range 1 + p.r.IntN(8) {
		id := p.next()
		u.bodies = append(u.bodies, id)
		if err := put(conn, out, id, mqi.MQPMO_SYNCPOINT, text); err != nil {
			return err
		}
		if err := put(conn, log, id, mqi.MQPMO_SYNCPOINT, bare); err != nil {
			return err
		}
	}
	if p.r.IntN(10) == 0 {
		return conn.Back(context.Background())
	}
	p.book.settle(u, unknown)
	err := conn.Commit(context.Background())
	if err == nil {
		p.book.settle(u, done)
		p.flow.put.Add(int64(len(u.bodies)))
	}
	return err
}

func bare(id string) []byte { return []byte(id) }

func put(conn mqengine.Conn, h mqengine.Handle, id string, sync int32, body func(string) []byte) error {
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	_, err := conn.Put(context.Background(), h, &mqengine.Message{MD: md, Body: body(id)}, mqi.PMO{Options: sync | mqi.MQPMO_NEW_MSG_ID})
	return err
}

// getter gets bodies in units of work, writes each down on the log in the same
// unit and in the book before its commit.
type getter struct {
	*crew
	m     *proctest.QMgr
	queue string
	r     *rand.Rand
}

func (g *getter) session(conn mqengine.Conn) error {
	in, _, err := conn.Open(g.patient, mqi.OD{ObjectName: g.queue}, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		return err
	}
	log, _, err := conn.Open(g.patient, mqi.OD{ObjectName: readLog}, mqi.MQOO_OUTPUT)
	for err == nil && g.ctx.Err() == nil {
		err = g.getUnit(conn, in, log)
	}
	return err
}

func (g *getter) getUnit(conn mqengine.Conn, in, log mqengine.Handle) error {
	var ids []string
	for n := 1 + g.r.IntN(8); len(ids) < n; {
		id, err := getOne(conn, in, mqi.MQGMO_SYNCPOINT, 50)
		if errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) {
			break
		}
		if err != nil {
			return err
		}
		if err := put(conn, log, id, mqi.MQPMO_SYNCPOINT, bare); err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	if g.r.IntN(20) == 0 {
		return conn.Back(context.Background())
	}
	u := g.book.openGet(g.m.Name, ids...)
	err := conn.Commit(context.Background())
	if err == nil {
		g.book.settle(u, done)
		g.flow.got.Add(int64(len(ids)))
	}
	return err
}

// getOne gets one body and checks it.
func getOne(conn mqengine.Conn, in mqengine.Handle, sync, wait int32) (string, error) {
	msg, err := conn.Get(context.Background(), in, mqi.NewMD(), mqi.GMO{Options: sync | mqi.MQGMO_WAIT, WaitInterval: wait, MaxLength: -1})
	if err != nil {
		return "", err
	}
	return idOf(msg.Body)
}

// content browses all bodies of a queue.
func content(t *testing.T, m *proctest.QMgr, queue string) (bodies [][]byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), proctest.Patience)
	defer cancel()
	conn, err := m.Dial(ctx, "browser")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Disconnect(ctx)
	h, _, err := conn.Open(ctx, mqi.OD{ObjectName: queue}, mqi.MQOO_BROWSE)
	for err == nil {
		var msg *mqengine.Message
		if msg, err = conn.Get(ctx, h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_BROWSE_NEXT, MaxLength: -1}); err == nil {
			bodies = append(bodies, msg.Body)
		}
	}
	if !errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) {
		t.Fatalf("browse %s on %s: %v", queue, m.Name, err)
	}
	return bodies
}

// logged are the ids on a log.
func logged(t *testing.T, m *proctest.QMgr, queue string) (ids []string) {
	t.Helper()
	for _, b := range content(t, m, queue) {
		ids = append(ids, string(b))
	}
	return ids
}

// waiting are the ids of the bodies on a queue.
func waiting(t *testing.T, m *proctest.QMgr, queue string) (ids []string) {
	t.Helper()
	for _, b := range content(t, m, queue) {
		id, err := idOf(b)
		if err != nil {
			t.Error(err)
		}
		ids = append(ids, id)
	}
	return ids
}
