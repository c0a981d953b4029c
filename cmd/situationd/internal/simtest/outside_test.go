package simtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/situationd/situationd/actions"
)

// transport is a daemon's way to its peers and to the Alertmanager.
type transport struct{ d *daemon }

// amState is how the Alertmanager is.
type amState int

const (
	amUp amState = iota
	amDown
	amBusy // answers 503
)

// RoundTrip carries one request, or does not.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if !t.d.alive.Load() {
		return nil, errDead
	}
	w := t.d.h.w
	if err := wait(r.Context(), t.d.latency(r.URL.String())); err != nil {
		return nil, err
	}
	host := strings.ToUpper(strings.TrimSuffix(r.URL.Hostname(), ".example"))
	if host == "AM" {
		return w.alertmanager(r)
	}
	to := w.reachable(t.d, host)
	if to == nil {
		return nil, errors.New("connection refused")
	}
	rec := httptest.NewRecorder()
	to.api.ServeHTTP(rec, r)
	if err := wait(r.Context(), t.d.latency(r.URL.String())); err != nil {
		return nil, err
	}
	if !to.alive.Load() || !t.d.alive.Load() {
		return nil, io.ErrUnexpectedEOF
	}
	return rec.Result(), nil
}

// latency draws how long a request is on its way.
func (d *daemon) latency(what string) time.Duration {
	return time.Microsecond + time.Duration(d.draw(what, int64(5*time.Millisecond)))
}

// reachable is the daemon of a queue manager, if it answers this one.
func (w *world) reachable(from *daemon, name string) *daemon {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.down[way{from.h.name, name}] {
		return nil
	}
	d := w.running[name]
	if d == nil || !d.alive.Load() {
		return nil
	}
	return d
}

func (w *world) alertmanager(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	state := w.am
	if state == amUp {
		w.alerts += strings.Count(string(body), `"alertname"`)
	} else {
		w.refused++
	}
	w.mu.Unlock()
	code := http.StatusOK
	switch state {
	case amDown:
		return nil, errors.New("connection refused")
	case amBusy:
		code = http.StatusServiceUnavailable
	case amUp:
	}
	rec := httptest.NewRecorder()
	rec.WriteHeader(code)
	return rec.Result(), nil
}

// wait lets time pass.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// programs stands for the scripts of the operations people: `prog set ATTR(VALUE)
// QUEUE` alters the queue as runmqsc in a script would.
type programs struct{ d *daemon }

// Run lets the program live for a while; it may fail, and it may be killed.
func (p programs) Run(ctx context.Context, prog actions.Program, started func(actions.Process)) actions.Ended {
	w := p.d.h.w
	if !p.d.alive.Load() {
		return actions.Ended{Err: errDead}
	}
	name := fmt.Sprint(prog.Args)
	started(actions.Process{PID: 1 + int(p.d.draw(name, 1<<20))})
	if err := wait(ctx, time.Duration(p.d.draw(name, int64(300*time.Millisecond)))); err != nil {
		return actions.Ended{Exit: -1, Killed: true}
	}
	done := make(chan error, 1)
	p.d.ask(name, func() {
		w.counts.Programs++
		if !w.calm && w.chance(w.shape.programFails) {
			done <- errors.New("exit")
		} else {
			p.d.h.program(prog.Args[2], prog.Args[1], func(err error) { done <- err; w.touched = true })
		}
		w.touched = true
	})
	select {
	case err := <-done:
		if err != nil {
			return actions.Ended{Exit: 1, Output: err.Error()}
		}
		return actions.Ended{}
	case <-ctx.Done():
		return actions.Ended{Exit: -1, Killed: true}
	case <-p.d.dead:
		return actions.Ended{Err: errDead}
	}
}

// End is for a program that an earlier life left: here they die with the daemon.
func (programs) End(string, *actions.Process) {}

// program alters a queue as a script does.
func (h *host) program(queue, what string, then func(error)) {
	if h.adminSession() == nil {
		then(errors.New("the queue manager does not run"))
		return
	}
	h.command(byProgram, fmt.Sprintf("ALTER QLOCAL(%s) %s", queue, what), then)
}
