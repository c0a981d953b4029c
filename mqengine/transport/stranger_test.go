package transport_test

import (
	"encoding/binary"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/transport"
)

// half begins a frame of so many bytes and sends some of them.
func half(t *testing.T, nc net.Conn, length uint32, bytes int) {
	t.Helper()
	if _, err := nc.Write(append(binary.BigEndian.AppendUint32(nil, length), make([]byte, bytes)...)); err != nil {
		t.Fatal(err)
	}
}

// stranger connects by hand and says the preface; the listener's link is given too.
func stranger(t *testing.T, opt transport.Options) (net.Conn, transport.Link) {
	t.Helper()
	l := listen(t, transport.TCP(opt), "127.0.0.1:0")
	nc, err := net.Dial("tcp", l.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	if _, err := nc.Write([]byte(preface)); err != nil {
		t.Fatal(err)
	}
	link, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	return nc, link
}

func TestReceive_FirstFrameTooLong_Refused(t *testing.T) {
	t.Parallel()
	opt := options
	opt.FirstFrame = 100
	nc, link := stranger(t, opt)
	half(t, nc, 101, 0)
	if _, err := link.Receive(); !errors.Is(err, transport.ErrTooLong) {
		t.Errorf("receive: %v, want ErrTooLong", err)
	}
	nc, link = stranger(t, opt)
	half(t, nc, 100, 100)
	half(t, nc, 5000, 5000)
	for _, want := range []int{100, 5000} {
		if frame, err := link.Receive(); err != nil || len(frame) != want {
			t.Errorf("receive: %d bytes, %v, want %d", len(frame), err, want)
		}
	}
}

func TestReceive_FrameNotFinished_Ended(t *testing.T) {
	t.Parallel()
	opt := options
	opt.SendTimeout = 20 * time.Millisecond
	nc, link := stranger(t, opt)
	half(t, nc, 500_000, 300)
	if _, err := link.Receive(); !errors.Is(err, transport.ErrStalled) {
		t.Errorf("receive: %v, want ErrStalled", err)
	}
}

// A link without a frame on the way may be silent for as long as it likes.
func TestReceive_BetweenFrames_NoHurry(t *testing.T) {
	t.Parallel()
	opt := options
	opt.SendTimeout = 10 * time.Millisecond
	nc, link := stranger(t, opt)
	half(t, nc, 50_000, 50_000)
	if _, err := link.Receive(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(50*time.Millisecond, func() { _, _ = nc.Write([]byte{0, 0, 0, 1, 'x'}) })
	defer timer.Stop()
	if frame, err := link.Receive(); err != nil || string(frame) != "x" {
		t.Errorf("receive: %q, %v", frame, err)
	}
}

// The long frames of all links of a listener have one budget: the second waits
// until the first was dealt with, or its link is closed.
func TestReceive_LongFrames_ShareTheBudget(t *testing.T) {
	t.Parallel()
	const long = 1 << 20
	opt := options
	opt.Budget = transport.NewBudget(long)
	net := transport.TCP(opt)
	l := listen(t, net, "127.0.0.1:0")
	var far []transport.Link
	for range 3 {
		near, link := connect(t, net, l)
		far = append(far, link)
		go func() { _ = near.Send(make([]byte, long)) }()
	}
	if _, err := far[0].Receive(); err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		_, err := far[1].Receive()
		second <- err
	}()
	third := make(chan error, 1)
	go func() {
		_, err := far[2].Receive()
		third <- err
	}()
	select {
	case err := <-second:
		t.Fatalf("the second frame came beside the first: %v", err)
	case err := <-third:
		t.Fatalf("the third frame came beside the first: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := far[1].Close(); err != nil {
		t.Error(err)
	}
	if err := <-second; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("the closed link says %v", err)
	}
	if err := far[0].Close(); err != nil { // gives back the share, as the next Receive does
		t.Error(err)
	}
	if err := <-third; err != nil {
		t.Errorf("the third frame did not come: %v", err)
	}
}

// Little is sent on accepted links, so little may wait there.
func TestAccept_SendQueue_OfItsOwn(t *testing.T) {
	t.Parallel()
	opt := options
	opt.AcceptQueue = 10_000
	net := transport.TCP(opt)
	l := listen(t, net, "127.0.0.1:0")
	_, far := connect(t, net, l)
	sent := 0
	var err error
	for ; err == nil; sent += 5000 {
		err = far.Offer(make([]byte, 5000))
	}
	// The system's own buffers take some megabytes.
	if !errors.Is(err, transport.ErrFull) || sent > 64<<20 {
		t.Errorf("after %d bytes: %v", sent, err)
	}
}
