package transport_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/mqengine/transport"
)

func TestMemory_Cut_BreaksLinksAndRefusesUntilHealed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := transport.NewMemory(options)
		l := listen(t, m, "QM1")
		other := listen(t, m, "QM2")
		near, far := connect(t, m, l)
		unhurt, _ := connect(t, m, other)
		m.Cut("QM1")
		for _, link := range []transport.Link{near, far} {
			if _, err := link.Receive(); err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "cut") {
				t.Errorf("receive: %v, want the error of a cut link", err)
			}
		}
		if err := near.Send([]byte("x")); err == nil {
			t.Error("a cut link sends")
		}
		if err := unhurt.Send([]byte("x")); err != nil {
			t.Errorf("the link to QM2: %v", err)
		}
		if _, err := m.Dial(t.Context(), "QM1"); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("dial: %v, want refused", err)
		}
		m.Heal("QM1")
		connect(t, m, l)
	})
}

// Time passes in the bubble only: the timeout is the link's own.
func TestMemory_SilentCaller_TimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := options
		opt.DialTimeout = time.Hour
		m := transport.NewMemory(opt)
		l := listen(t, m, "QM1")
		start := time.Now()
		go func() {
			link, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			defer link.Close()
			<-time.After(2 * time.Hour)
		}()
		if _, err := m.Dial(t.Context(), "QM1"); err == nil {
			t.Error("a dial without an answer worked")
		}
		if waited := time.Since(start); waited < time.Hour || waited > time.Hour+2*time.Second {
			t.Errorf("waited %v", waited)
		}
		<-time.After(2 * time.Hour)
	})
}
