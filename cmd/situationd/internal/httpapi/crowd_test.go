package httpapi

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
)

// However many connect and say nothing, or little by little: whoever asks is
// answered, at the port and at the socket, and the others are let go.
func TestServe_Flood_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	serve := map[string]func(context.Context, net.Listener) error{
		"tcp": func(ctx context.Context, l net.Listener) error {
			return ServePort(ctx, l, "", &fakeDaemon{}, http.NotFoundHandler(), hclog.NewNullLogger())
		},
		"unix": func(ctx context.Context, l net.Listener) error {
			return ServeSocket(ctx, l, &fakeDaemon{}, http.NotFoundHandler(), hclog.NewNullLogger())
		},
	}
	for network, fn := range serve {
		t.Run(network, func(t *testing.T) {
			t.Parallel()
			address := "127.0.0.1:0"
			if network == "unix" {
				address = filepath.Join(t.TempDir(), "s")
			}
			address = start(t, network, address, fn)
			for i := range 2 * maxConns {
				c, err := net.Dial(network, address)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				if i%2 == 0 {
					// It may be closed already.
					_, _ = io.WriteString(c, "GET /-/healthy HTTP/1.1\r\nHost:")
				}
			}
			client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
				DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, network, address)
				},
			}}
			defer client.CloseIdleConnections()
			answer, err := client.Get("http://daemon/-/healthy")
			if err != nil {
				t.Fatal("a flood keeps others out:", err)
			}
			answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("status %d", answer.StatusCode)
			}
		})
	}
}

// A request in work is not cut off, whoever comes.
func TestServe_Flood_LeavesRequestsAlone(t *testing.T) {
	t.Parallel()
	inWork, goOn := make(chan struct{}), make(chan struct{})
	handler := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(inWork)
		<-goOn
		fmt.Fprint(w, "done")
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(handler, hclog.NewNullLogger())
	served := make(chan error, 1)
	go func() { served <- server.Serve(newCrowd(l)) }()
	answers := make(chan string, 1)
	go func() {
		answer, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			answers <- err.Error()
			return
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		answers <- fmt.Sprint(string(body), err)
	}()
	<-inWork
	for range 2 * maxConns {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	close(goOn)
	if got := <-answers; got != "done<nil>" {
		t.Errorf("the answer is %q", got)
	}
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

// The oldest without a request goes first; with several requests on one
// connection (HTTP/2) it waits again when the last is done.
func TestCrowd_Order(t *testing.T) {
	t.Parallel()
	c := newCrowd(nil)
	var guests []*guest
	for range maxConns {
		g := &guest{crowd: c}
		if c.enter(g) != nil {
			t.Fatal("too many too soon")
		}
		guests = append(guests, g)
	}
	if !guests[0].begin() || !guests[0].begin() {
		t.Fatal("requests are refused")
	}
	if old := c.enter(&guest{crowd: c}); old != guests[1] || guests[1].begin() {
		t.Error("the oldest without a request has to go")
	}
	guests[0].end()
	if old := c.enter(&guest{crowd: c}); old != guests[2] {
		t.Error("a request is still in work on the first")
	}
	guests[0].end()
	if got := c.waiting[len(c.waiting)-1]; got != guests[0] || c.serving != 0 || len(c.waiting) != maxConns {
		t.Errorf("%d wait, %d are served", len(c.waiting), c.serving)
	}
	// One that is closed under its request does not wait for another.
	gone := &guest{Conn: noConn{}, crowd: c}
	c.enter(gone)
	before := len(c.waiting)
	if !gone.begin() || gone.Close() != nil {
		t.Fatal("it cannot be closed")
	}
	gone.end()
	if len(c.waiting) != before-1 || c.serving != 0 {
		t.Errorf("%d wait after one of %d was closed, %d are served", len(c.waiting), before, c.serving)
	}
}

type noConn struct{ net.Conn }

func (noConn) Close() error { return nil }

// noDescriptors is a listener that a process without descriptors has, at first.
type noDescriptors struct {
	net.Listener
	refused bool
}

func (l *noDescriptors) Accept() (net.Conn, error) {
	if !l.refused {
		l.refused = true
		return nil, &net.OpError{Op: "accept", Net: "tcp", Err: syscall.EMFILE}
	}
	return l.Listener.Accept()
}

// A fault of accept that passes does not end the server, and the daemon with it.
func TestServe_NoDescriptors_GoesOn(t *testing.T) {
	t.Parallel()
	address := start(t, "tcp", "127.0.0.1:0", func(ctx context.Context, l net.Listener) error {
		return ServePort(ctx, &noDescriptors{Listener: l}, "", &fakeDaemon{}, http.NotFoundHandler(), hclog.NewNullLogger())
	})
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://" + address + "/-/healthy")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
}
