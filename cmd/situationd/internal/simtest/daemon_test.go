package simtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// daemon is one life of a daemon.
type daemon struct {
	h        *host
	life     int
	data     string
	disk     *disk
	moves    *moves
	app      *app.App
	api      http.Handler
	cancel   context.CancelFunc
	alive    atomic.Bool // nothing that it does counts once this is false
	dead     chan struct{}
	lines    []*line // the driver's
	over     bool    // it stopped by itself, the driver knows
	stopping bool
	drawing  sync.Mutex
	drawn    map[string]int    // by what it was for
	views    map[string][]view // by queue: what the repository told it
}

// data is the folder of one life: what the life before left is copied into it, as
// it was on the disk when that ended.
func (h *host) data(life int) string {
	return filepath.Join(h.w.dir, fmt.Sprintf("%s.%d", h.name, life))
}

// startDaemon gives the daemon a life from what is on its disk.
func (h *host) startDaemon() {
	w := h.w
	h.lives++
	d := &daemon{h: h, life: h.lives, data: h.data(h.lives), dead: make(chan struct{}), views: map[string][]view{}, drawn: map[string]int{}}
	d.disk, d.moves = newDisk(d), newMoves(d)
	d.alive.Store(true)
	cfg := config.Default()
	cfg.QueueManager.Name, cfg.RulePatterns, cfg.Rules = h.name, []string{h.rules}, []string{h.rules}
	cfg.QueueManager.Hosted.Workload = "modern"
	cfg.Alertmanagers = []string{"http://am.example"}
	cfg.MQSCAllow = []string{"ALTER"}
	cfg.Limits = w.shape.limits
	if w.shape.peers {
		for _, o := range w.hosts {
			if o != h {
				cfg.Peers = append(cfg.Peers, "http://"+o.name+".example")
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	a, err := app.New(ctx, app.Options{
		Config: &cfg, Data: d.data, Logger: d.logger(),
		Outside: &app.Outside{Dial: d.dial, HTTP: transport{d}, Programs: programs{d}, Disk: d.disk.around},
	})
	if errors.Is(err, app.ErrBadFiles) {
		// Whoever broke the file finds the daemon down, and it is started again.
		w.counts.RefusedToStart++
		d.disk.end()
		cancel()
		h.comeBack()
		return
	}
	if err != nil {
		w.fail("the daemon of %s does not start: %v", h.name, err)
		cancel()
		return
	}
	d.app = a
	d.api = httpapi.NewHandler(a, http.NotFoundHandler(), func(*http.Request) (string, bool) { return "", false }, hclog.NewNullLogger())
	h.daemon = d
	w.mu.Lock()
	w.running[h.name] = d
	w.mu.Unlock()
	w.note("daemon %s starts, life %d", h.name, d.life)
	w.touched = true
	w.ending.Go(func() {
		err := a.Run(ctx)
		err = errors.Join(err, a.Close())
		if err != nil && d.alive.Load() {
			w.fail("the daemon of %s ended: %v", h.name, err)
		}
		d.disk.end()
		w.ask(h.number, "over", func() {
			d.over = true
			if err := os.RemoveAll(d.data); err != nil {
				w.fail("%v", err)
			}
			if h.daemon == d {
				h.daemon = nil
			}
		})
	})
}

// logger writes into the text of the run, if there is one.
func (d *daemon) logger() hclog.Logger {
	if d.h.w.text == nil {
		return hclog.NewNullLogger()
	}
	return hclog.New(&hclog.LoggerOptions{Name: d.h.name, Output: logText{d.h.w}, Level: hclog.Debug, DisableTime: true})
}

type logText struct{ w *world }

func (l logText) Write(b []byte) (int, error) {
	l.w.printf("%s", b[:max(0, len(b)-1)])
	return len(b), nil
}

// kill ends the process at once: what is on the disk stays, and with power what
// was not synced may be lost. By the driver only.
func (d *daemon) kill(power bool) {
	if d.disk.die(power) {
		if power {
			d.h.linesLost = append(d.h.linesLost, time.Now())
		}
		d.buried("killed")
	}
}

// buried cleans up after a death: the connections end, and a new life begins later.
func (d *daemon) buried(how string) {
	w := d.h.w
	w.note("daemon %s %s in life %d", d.h.name, how, d.life)
	close(d.dead)
	for _, in := range d.h.queues {
		in.dies(time.Now())
	}
	for _, l := range d.lines {
		l.sess.Close(true)
	}
	d.cancel()
	w.touched = true
	if d.h.daemon == d {
		d.h.daemon = nil
	}
	d.h.comeBack()
}

// comeBack starts the daemon again after a while.
func (h *host) comeBack() {
	h.w.cluster.After(h.w.between(100*time.Millisecond, h.w.shape.daemonDown), func() {
		if h.daemon == nil {
			h.startDaemon()
		}
	})
}

// stop ends the daemon in good order.
func (d *daemon) stop() {
	d.h.w.printf("daemon %s is stopped", d.h.name)
	d.cancel()
	d.h.w.touched = true
}
