package transport_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/transport"
)

// network is one of the kinds, and where to listen in it.
type network struct {
	make func(transport.Options) transport.Network
	addr func(t *testing.T) string
}

var networks = map[string]network{
	"TCP": {transport.TCP, func(*testing.T) string { return "127.0.0.1:0" }},
	"Unix": {transport.Unix, func(t *testing.T) string {
		return filepath.Join(t.TempDir(), "qm.sock")
	}},
	"UnixLongPath": {transport.Unix, func(t *testing.T) string {
		return filepath.Join(longDir(t), "qm.sock")
	}},
	"Memory": {func(o transport.Options) transport.Network { return transport.NewMemory(o) },
		func(*testing.T) string { return "QM1" }},
}

// The promises of Link, Listener and Network, for each kind.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for kind, n := range networks {
		for name, test := range map[string]func(*testing.T, network){
			"FramesArriveWholeAndInOrder":  testOrder,
			"FramesOfAnySize":              testSizes,
			"TooLongFrameIsRefused":        testTooLong,
			"CloseSendsWhatIsQueued":       testCloseFlushes,
			"CloseEndsTheOtherSide":        testCloseEnds,
			"CloseUnblocksReceive":         testCloseUnblocks,
			"FullQueueRefusesAndBlocks":    testFull,
			"SlowReaderBreaksTheLink":      testSlow,
			"OtherProtocolIsRefused":       testOtherProtocol,
			"NobodyListens":                testNobody,
			"ListenerCloseUnblocksAccept":  testListenerClose,
			"AddressInUse":                 testInUse,
			"CancelledDialEnds":            testCancel,
			"SilentCallerDoesNotHoldOther": testSilent,
			"ConcurrentSendersKeepFrames":  func(t *testing.T, n network) { testConcurrent(t, n, options) },
			"ConcurrentSendersFewBytesQueued": func(t *testing.T, n network) {
				small := options
				small.SendQueue = 300 // most senders wait for room at any time
				testConcurrent(t, n, small)
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				t.Parallel()
				test(t, n)
			})
		}
	}
}

var options = transport.Options{Protocol: transport.ProtocolChannel, MaxFrame: 4 << 20, DialTimeout: 10 * time.Second}

// pair gives both ends of a link, preface done.
func (n network) pair(t *testing.T, opt transport.Options) (near, far transport.Link) {
	t.Helper()
	net := n.make(opt)
	l := listen(t, net, n.addr(t))
	near, far = connect(t, net, l)
	return near, far
}

func listen(t *testing.T, net transport.Network, addr string) transport.Listener {
	t.Helper()
	l, err := net.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close listener: %v", err)
		}
	})
	return l
}

func connect(t *testing.T, net transport.Network, l transport.Listener) (near, far transport.Link) {
	t.Helper()
	accepted := make(chan transport.Link, 1)
	go func() {
		defer close(accepted)
		link, err := l.Accept()
		if err != nil {
			t.Errorf("accept: %v", err)
			return
		}
		if frame, err := link.Receive(); err != nil || string(frame) != "hello" {
			t.Errorf("first frame %q, %v", frame, err)
		}
		accepted <- link
	}()
	near, err := net.Dial(t.Context(), l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := near.Send([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	far = <-accepted
	if far == nil {
		t.FailNow()
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

func testOrder(t *testing.T, n network) {
	near, far := n.pair(t, options)
	const frames = 2000
	go func() {
		for i := range frames {
			if err := near.Send([]byte("frame "), fmt.Append(nil, i)); err != nil {
				t.Error(err)
			}
		}
	}()
	for i := range frames {
		frame, err := far.Receive()
		if want := fmt.Sprint("frame ", i); err != nil || string(frame) != want {
			t.Fatalf("got %q, %v, want %q", frame, err, want)
		}
	}
}

func testSizes(t *testing.T, n network) {
	near, far := n.pair(t, options)
	for _, size := range []int{0, 1, 3, 4, 16<<10 - 4, 16 << 10, 64 << 10, 64<<10 + 1, 1 << 20, 4 << 20} {
		want := bytes.Repeat([]byte{byte(size), 7, 9}, size/3+1)[:size]
		// Both ways.
		for _, ends := range [][2]transport.Link{{near, far}, {far, near}} {
			if err := ends[0].Send(want); err != nil {
				t.Fatalf("%d bytes: %v", size, err)
			}
			got, err := ends[1].Receive()
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%d bytes: got %d, %v", size, len(got), err)
			}
		}
	}
}

func testTooLong(t *testing.T, n network) {
	opt := options
	opt.MaxFrame = 1000
	near, far := n.pair(t, opt)
	if err := near.Send(make([]byte, 600), make([]byte, 401)); !errors.Is(err, transport.ErrTooLong) {
		t.Errorf("send: %v, want ErrTooLong", err)
	}
	if err := near.Send(make([]byte, 1000)); err != nil {
		t.Errorf("the link goes on: %v", err)
	}
	if frame, err := far.Receive(); err != nil || len(frame) != 1000 {
		t.Errorf("receive: %d bytes, %v", len(frame), err)
	}
}

func testCloseFlushes(t *testing.T, n network) {
	near, far := n.pair(t, options)
	const frames = 300
	for range frames {
		if err := near.Send(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	go func() { closed <- near.Close() }()
	for i := range frames {
		if _, err := far.Receive(); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	if _, err := far.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v, want io.EOF", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
}

func testCloseEnds(t *testing.T, n network) {
	near, far := n.pair(t, options)
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Receive(); !errors.Is(err, io.EOF) {
		t.Errorf("receive: %v, want io.EOF", err)
	}
	if err := near.Send([]byte("x")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("send after close: %v, want ErrClosed", err)
	}
	if err := near.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	waitFor(t, "the other side's sends fail", func() bool { return far.Send([]byte("x")) != nil })
}

func testCloseUnblocks(t *testing.T, n network) {
	near, _ := n.pair(t, options)
	ended := make(chan error, 1)
	go func() {
		_, err := near.Receive()
		ended <- err
	}()
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("receive: %v, want ErrClosed", err)
	}
}

func testFull(t *testing.T, n network) {
	opt := options
	opt.SendQueue = 100_000
	near, far := n.pair(t, opt)
	frame := make([]byte, 10_000)
	sent := 0
	waitFor(t, "the queue is full", func() bool { // the system's buffers fill first
		err := near.Offer(frame)
		if err == nil {
			sent++
			return false
		}
		if !errors.Is(err, transport.ErrFull) {
			t.Fatalf("offer: %v, want ErrFull", err)
		}
		return true
	})
	blocked := make(chan error, 1)
	go func() { blocked <- near.Send([]byte("last")) }()
	for range sent {
		if got, err := far.Receive(); err != nil || len(got) != len(frame) {
			t.Fatalf("receive: %d bytes, %v", len(got), err)
		}
	}
	// Offers that came after the queue had room again may be there too.
	for {
		got, err := far.Receive()
		if err != nil {
			t.Fatal(err)
		}
		if string(got) == "last" {
			break
		}
	}
	if err := <-blocked; err != nil {
		t.Errorf("send: %v", err)
	}
}

func testSlow(t *testing.T, n network) {
	opt := options
	opt.SendTimeout, opt.SendQueue = 20*time.Millisecond, 10_000
	near, _ := n.pair(t, opt)
	var err error
	for err == nil {
		err = near.Send(make([]byte, 100_000))
	}
	if !errors.Is(err, transport.ErrSlow) {
		t.Errorf("send: %v, want ErrSlow", err)
	}
	if again := near.Offer([]byte("x")); again == nil || again.Error() != err.Error() {
		t.Errorf("after it: %v, want the same", again)
	}
	if _, err := near.Receive(); !errors.Is(err, transport.ErrSlow) {
		t.Errorf("who waits to receive gets %v, want ErrSlow", err)
	}
}

func testOtherProtocol(t *testing.T, n network) {
	opt := options
	opt.Protocol = transport.ProtocolLocal
	server := n.make(opt)
	l := listen(t, server, n.addr(t))
	refused := make(chan error, 1)
	go func() {
		link, err := l.Accept()
		if err == nil {
			_, err = link.Receive()
			_ = link.Close()
		}
		refused <- err
	}()
	client := server
	if m, ok := server.(*transport.Memory); ok {
		client = m.Speaking(transport.ProtocolChannel)
	} else {
		client = n.make(options)
	}
	if _, err := client.Dial(t.Context(), l.Addr()); !errors.Is(err, transport.ErrForeign) {
		t.Errorf("dial: %v, want ErrForeign", err)
	}
	if err := <-refused; !errors.Is(err, transport.ErrForeign) || !strings.Contains(err.Error(), "message channel") {
		t.Errorf("receive: %v, want ErrForeign", err)
	}
}

func testNobody(t *testing.T, n network) {
	net := n.make(options)
	l, err := net.Listen(n.addr(t))
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = net.Dial(t.Context(), addr)
	if err == nil || !strings.Contains(err.Error(), addr) || strings.Contains(err.Error(), "\n") {
		t.Errorf("dial: %v, want one line with the address", err)
	}
}

func testListenerClose(t *testing.T, n network) {
	l, err := n.make(options).Listen(n.addr(t))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	for range 2 {
		if err := l.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := <-ended; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("accept: %v, want ErrClosed", err)
	}
}

func testInUse(t *testing.T, n network) {
	net := n.make(options)
	l := listen(t, net, n.addr(t))
	go func() { // a Unix socket is asked whether it lives
		for {
			link, err := l.Accept()
			if err != nil {
				return
			}
			_ = link.Close()
		}
	}()
	second, err := net.Listen(l.Addr())
	if err == nil || !strings.Contains(err.Error(), "in use") || !strings.Contains(err.Error(), l.Addr()) {
		t.Errorf("second listen: %v, %v", second, err)
	}
	near, err := net.Dial(t.Context(), l.Addr())
	if err == nil { // it is closed at once, but it was the first listener that answered
		_ = near.Close()
	} else if !errors.Is(err, transport.ErrForeign) && !errors.Is(err, io.ErrClosedPipe) && !strings.Contains(err.Error(), "reset") {
		t.Errorf("the first one goes on: %v", err)
	}
}

func testCancel(t *testing.T, n network) {
	net := n.make(options)
	l := listen(t, net, n.addr(t)) // nobody accepts, so there is no preface
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := net.Dial(ctx, l.Addr())
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("dial: %v, want context.Canceled", err)
	}
}

func testSilent(t *testing.T, n network) {
	opt := options
	opt.DialTimeout = 50 * time.Millisecond
	net := n.make(opt)
	l := listen(t, net, n.addr(t))
	// Nobody receives on the accepted link, so the dialling side waits in vain.
	dialled := make(chan error, 1)
	go func() {
		_, err := net.Dial(t.Context(), l.Addr())
		dialled <- err
	}()
	silent, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	near, far := connect(t, net, l)
	if err := <-dialled; err == nil {
		t.Error("a dial without an answer worked")
	}
	if err := near.Send([]byte("x")); err != nil {
		t.Error(err)
	}
	if got, err := far.Receive(); err != nil || string(got) != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}

func testConcurrent(t *testing.T, n network, opt transport.Options) {
	near, far := n.pair(t, opt)
	const senders, frames = 8, 200
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range frames {
				if err := near.Send([]byte{byte(s)}, bytes.Repeat([]byte{byte(s)}, i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var next [senders]int
	for range senders * frames {
		frame, err := far.Receive()
		if err != nil {
			t.Fatal(err)
		}
		s := frame[0]
		if len(frame) != next[s]+1 || !bytes.Equal(frame, bytes.Repeat([]byte{s}, len(frame))) {
			t.Fatalf("sender %d: frame of %d bytes, want %d", s, len(frame), next[s]+1)
		}
		next[s]++
	}
	wg.Wait()
}

// waitFor polls until the condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s still not so: %s", what)
		}
		<-time.After(50 * time.Microsecond)
	}
}
