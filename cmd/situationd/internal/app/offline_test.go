package app

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// slowConn takes its time over an ALTER.
type slowConn struct {
	mqengine.Conn
	altering, release, gone chan struct{}
}

func (c *slowConn) Command(ctx context.Context, cmd *mqsc.Command) (mqsc.Result, error) {
	if cmd.Verb == "ALTER" {
		close(c.altering)
		<-c.release
	}
	return c.Conn.Command(ctx, cmd)
}

func (c *slowConn) Disconnect(ctx context.Context) error {
	close(c.gone)
	return c.Conn.Disconnect(ctx)
}

// A command that is interrupted while it changes something keeps its connection
// until that is done.
func TestOffline_Interrupted_FinishesWhatItBegan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile, idleRules)
	d := w.start(Options{})
	w.eventually("put DISABLED done", func() bool { return slices.Contains(w.results(d.App), "put DISABLED done") })
	if err := d.stop(); err != nil {
		t.Fatal(err)
	}
	o, err := OpenOffline(w.dir, "QM2", hclog.NewNullLogger())
	if err != nil {
		t.Fatal(err)
	}
	dial, stop, err := o.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	journal, err := o.openJournal()
	if err != nil {
		t.Fatal(err)
	}
	slow := &slowConn{altering: make(chan struct{}), release: make(chan struct{}), gone: make(chan struct{})}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan error)
	go func() {
		_, err := o.giveBack(ctx, func(ctx context.Context) (_ mqengine.Conn, err error) {
			slow.Conn, err = dial(ctx)
			return slow, err
		}, journal, "anna", "")
		ended <- err
	}()
	<-slow.altering
	interrupt()
	select {
	case <-slow.gone:
		t.Error("the connection ended before what uses it")
	case <-time.After(200 * time.Millisecond): // it would have come at once
	}
	close(slow.release)
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
	<-slow.gone
	if left, err := o.Lowered(); err != nil || len(left.Lowered) != 0 {
		t.Errorf("left %+v, %v", left, err)
	}
	if err := errors.Join(journal.Close(), stop(), o.Close()); err != nil {
		t.Error(err)
	}
}
