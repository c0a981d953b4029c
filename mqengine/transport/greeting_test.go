package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// greeted dials an end that reads our preface after some time, and sends its own
// after another.
func greeted(t *testing.T, opt Options, reads, sends time.Duration) (Link, net.Conn, error) {
	near, far := net.Pipe()
	time.AfterFunc(reads, func() { _, _ = io.ReadFull(far, make([]byte, prefaceLen)) })
	time.AfterFunc(sends, func() { _, _ = far.Write(appendPreface(nil, opt.Protocol)) })
	t.Cleanup(func() { _ = far.Close() })
	link, err := dial(t.Context(), opt, "there", func(context.Context) (net.Conn, error) { return near, nil })
	return link, far, err
}

// A greeting has DialTimeout in both directions, however short SendTimeout is: a
// link that was given out can send.
func TestGreetingHasItsOwnTime(t *testing.T) {
	t.Parallel()
	opt := Options{Protocol: ProtocolLocal, DialTimeout: 10 * time.Second, SendTimeout: 10 * time.Millisecond}.withDefaults()
	for _, tc := range []struct{ reads, sends time.Duration }{
		{0, 0}, {time.Second, 2 * time.Second}, {2 * time.Second, time.Second}, {9 * time.Second, 9 * time.Second}, {11 * time.Second, 11 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			link, far, err := greeted(t, opt, tc.reads, tc.sends)
			if fails := max(tc.reads, tc.sends) > opt.DialTimeout; fails {
				if err == nil {
					t.Errorf("%v: a link after the time was over", tc)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %v", tc, err)
			}
			time.Sleep(tc.reads) // until ours is read in any case
			got := make(chan error, 1)
			go func() {
				_, err := io.ReadFull(far, make([]byte, frameHeader+1))
				got <- err
			}()
			if err := link.Send([]byte("x")); err != nil {
				t.Errorf("%v: send: %v", tc, err)
			}
			if err := <-got; err != nil {
				t.Errorf("%v: the frame does not come: %v", tc, err)
			}
			if err := link.Close(); err != nil {
				t.Errorf("%v: close: %v", tc, err)
			}
		})
	}
}

// Whoever greets and never reads is found out, by who waits to receive as well.
func TestGreetingThatIsNeverRead(t *testing.T) {
	t.Parallel()
	opt := Options{Protocol: ProtocolLocal, DialTimeout: 10 * time.Second, SendTimeout: 10 * time.Millisecond}.withDefaults()
	for _, sends := range []time.Duration{0, 5 * time.Second, 10*time.Second - 1} {
		synctest.Test(t, func(t *testing.T) {
			link, _, err := greeted(t, opt, time.Hour, sends)
			if err != nil {
				t.Fatalf("%s: %v", sends, err)
			}
			if _, err := link.Receive(); !errors.Is(err, ErrSlow) {
				t.Errorf("%s: receive: %v, want ErrSlow", sends, err)
			}
			if err := link.Send([]byte("x")); !errors.Is(err, ErrSlow) {
				t.Errorf("%s: send: %v, want ErrSlow", sends, err)
			}
			_ = link.Close()
		})
	}
}
