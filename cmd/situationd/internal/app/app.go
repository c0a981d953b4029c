package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/situations"
)

// stopTimeout bounds the end of a hosted queue manager.
const stopTimeout = 20 * time.Second

// App is one daemon beside one queue manager.
type App struct {
	config  *config.Config
	qmgr    string
	observe bool
	speed   float64
	logger  hclog.Logger
	version Version
	dir     string // daemon/NAME

	hosted   *mqengine.QueueManager // nil unless it runs in this process
	outside  *Outside               // nil but in tests
	state    *actions.DB
	journal  *actions.Journal
	link     *adapt.Link
	source   *adapt.Source
	samples  *sampleCounter
	grace    *graceSampler
	runner   *situations.Runner
	engine   *actions.Engine
	mover    *adapt.Mover
	notifier *actions.Notifier // nil without Alertmanagers
	peers    *peers            // nil without peers
	metrics  http.Handler
	socket   net.Listener
	port     net.Listener // nil without http
	rules    atomic.Pointer[situations.RuleSet]
	reloads  reloads
	follow   *followers
	decided  chan struct{}          // closed when the runner has ended: no rules come into force any more
	descr    atomic.Pointer[string] // of the queue manager, as it said last
	closers  []closer               // undone in the reverse order
}

// closer is something that New opened.
type closer struct {
	name string
	fn   func() error
}

// New checks the configuration against the machine, opens everything, and
// starts the queue manager if the daemon hosts it. Nothing is sampled or
// changed before Run. What was opened is closed again when New fails.
func New(ctx context.Context, o Options) (_ *App, err error) {
	o.withDefaults()
	dir, err := DaemonDir(o.Data, o.Config.QueueManager.Name)
	if err != nil {
		return nil, err
	}
	a := &App{
		config: o.Config, qmgr: o.Config.QueueManager.Name, observe: o.Observe, speed: o.Speed,
		logger: o.Logger, version: o.Version, dir: dir, outside: o.Outside,
		decided: make(chan struct{}), follow: newFollowers(),
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	rules, err := a.firstRules()
	if err != nil {
		return nil, err
	}
	bin, err := a.openFolder()
	if err != nil {
		return nil, err
	}
	if err := a.openListeners(); err != nil {
		return nil, err
	}
	if err := a.openQueueManager(ctx, o.Data); err != nil {
		return nil, err
	}
	if err := a.wire(o.Data, bin, rules); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *App) onClose(name string, fn func() error) {
	a.closers = append(a.closers, closer{name, fn})
}

// Close gives back what New opened. Run has to have returned.
func (a *App) Close() error {
	var errs []error
	for i := len(a.closers) - 1; i >= 0; i-- {
		if err := a.closers[i].fn(); err != nil {
			errs = append(errs, fmt.Errorf("close %s: %w", a.closers[i].name, err))
		}
	}
	a.closers = nil
	return errors.Join(errs...)
}

// firstRules reads the rules before anything is opened: wrong files cost nothing.
func (a *App) firstRules() (*situations.RuleSet, error) {
	a.reloads.begin(a.digest())
	files, err := a.config.RuleFiles()
	if err != nil {
		return nil, err
	}
	rules, problems, err := ReadRules(files, a.config.MQSCAllow)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadFiles, err)
	}
	if rules == nil {
		return nil, &RulesError{Problems: problems}
	}
	for _, p := range problems {
		a.logger.Warn(p.String())
	}
	if a.config.HTTP != nil {
		if err := httpapi.CheckWebConfig(a.config.HTTP.WebConfig); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrBadFiles, a.config.HTTP.WebConfig, err)
		}
	}
	return faster(rules, a.speed), nil
}

// RulesError tells that the rule files are wrong.
type RulesError struct{ Problems []situations.Problem }

func (e *RulesError) Error() string { return ErrBadFiles.Error() + ": " + firstError(e.Problems) }

// Unwrap lets errors.Is find ErrBadFiles.
func (e *RulesError) Unwrap() error { return ErrBadFiles }

// openFolder takes the daemon's folder, its state and its journal.
func (a *App) openFolder() (bin string, err error) {
	if err := os.MkdirAll(a.dir, 0o750); err != nil {
		return "", err
	}
	held, err := lockDir(a.dir, a.qmgr)
	if err != nil {
		return "", err
	}
	a.onClose("lock", held.Close)
	if bin, err = makeLinks(a.dir); err != nil {
		return "", err
	}
	// What was done and what would have been done never meet: each has a state of its own.
	state := "state.db"
	if a.observe {
		state = "observe.db"
	}
	if a.state, err = actions.OpenDB(filepath.Join(a.dir, state)); err != nil {
		return "", err
	}
	a.onClose("state", a.state.Close)
	if a.journal, err = actions.OpenJournal(a.journalPath()); err != nil {
		return "", err
	}
	a.onClose("journal", a.journal.Close)
	if err := a.restore(); err != nil {
		return "", err
	}
	return bin, a.note()
}

// restore has a state that was lost know again what the journal says is lowered.
func (a *App) restore() error {
	if a.observe {
		return nil // nothing is
	}
	lowered, err := a.state.Restore(a.journalPath(), a.qmgr)
	if err != nil {
		return fmt.Errorf("read from the journal what was lowered: %w", err)
	}
	for _, o := range lowered {
		group, name := situations.GroupOf(o.Target.Queue)
		a.logger.Warn("the state is new, and the journal says that this was lowered; `situationd lowered` lists it, its rule or `situationd revert` gives it back",
			string(group), name, "attribute", o.Attr, "value", o.After, "before", o.Before, "situation", o.Situation, "id", o.ID)
	}
	return nil
}

func (a *App) journalPath() string {
	if filepath.IsAbs(a.config.Journal.Path) {
		return a.config.Journal.Path
	}
	return filepath.Join(a.dir, a.config.Journal.Path)
}

// openListeners binds the socket and the port. They answer once Run serves them.
func (a *App) openListeners() (err error) {
	if a.outside != nil {
		return nil
	}
	if a.socket, err = listenSocket(SocketPath(a.dir)); err != nil {
		return err
	}
	a.onClose("socket", ignoreClosed(a.socket.Close))
	if a.config.HTTP == nil {
		return nil
	}
	if a.port, err = net.Listen("tcp", a.config.HTTP.Listen); err != nil {
		return fmt.Errorf("http: %w", err)
	}
	a.onClose("port", ignoreClosed(a.port.Close))
	return nil
}

func ignoreClosed(fn func() error) func() error {
	return func() error {
		if err := fn(); err != nil && !errors.Is(err, net.ErrClosed) {
			return err
		}
		return nil
	}
}

// Addr is the address of the daemon's port, "" without one.
func (a *App) Addr() string {
	if a.port == nil {
		return ""
	}
	return a.port.Addr().String()
}

// HostedAddr is the address of the hosted queue manager's listener.
func (a *App) HostedAddr() string {
	if a.hosted == nil {
		return ""
	}
	return a.hosted.Addr()
}

// Run samples, decides and acts until ctx ends or the hosted queue manager
// does. Whatever was begun is finished or recorded before it returns.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wait sync.WaitGroup
	part := func(name string, fn func(context.Context) error) {
		wait.Go(func() {
			if err := fn(ctx); err != nil && ctx.Err() == nil {
				stop(fmt.Errorf("%s: %w", name, err))
			}
		})
	}
	// What moves messages ends at its unit of work, so the connection ends after the
	// actions, and so does the API: who follows a run is told how it ended.
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	defer disconnect()
	part("connection", func(context.Context) error { a.link.Run(connected); return nil })
	part("grace", func(ctx context.Context) error { a.grace.run(ctx); return nil })
	part("actions", func(ctx context.Context) error {
		defer disconnect()
		err := a.engine.Run(ctx)
		a.follow.wait()
		return err
	})
	part("situations", func(ctx context.Context) error {
		defer close(a.decided)
		select {
		case <-a.link.Tried():
		case <-ctx.Done():
		}
		return a.runner.Run(ctx)
	})
	part("files", func(ctx context.Context) error { a.poll(ctx); return nil })
	if a.socket != nil {
		part("socket", func(context.Context) error {
			return httpapi.ServeSocket(connected, a.socket, a, a.metrics, a.logger.Named("http"))
		})
	}
	if a.port != nil {
		part("http", func(context.Context) error {
			return httpapi.ServePort(connected, a.port, a.config.HTTP.WebConfig, a, a.metrics, a.logger.Named("http"))
		})
	}
	if a.peers != nil {
		part("peers", func(ctx context.Context) error { a.peers.run(ctx); return nil })
	}
	if a.notifier != nil {
		part("alerts", a.notifier.Run)
	}
	if a.hosted != nil {
		part("queue manager", func(ctx context.Context) error { return a.followHosted(ctx, stop) })
	}
	a.logger.Info("daemon started", "qmgr", a.qmgr, "observe", a.observe, "http", a.Addr())
	<-ctx.Done()
	wait.Wait()
	a.logger.Info("daemon ended", "qmgr", a.qmgr)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

// errEnded is the cause of an end by endmqm: no failure.
var errEnded = errors.New("the hosted queue manager was ended")

// followHosted ends the daemon with its queue manager.
func (a *App) followHosted(ctx context.Context, stop context.CancelCauseFunc) error {
	select {
	case <-ctx.Done():
		return nil
	case <-a.hosted.Done():
	}
	if err := a.hosted.Err(); err != nil {
		return err
	}
	a.logger.Info(errEnded.Error(), "qmgr", a.qmgr)
	stop(nil)
	return nil
}

// Ready is nil once rules are in force and a first sample was taken.
func (a *App) Ready() error {
	if a.source.Latest() == nil {
		if _, _, err := a.link.Conn(); err != nil {
			return fmt.Errorf("no sample of %s yet: %w", a.qmgr, err)
		}
		return fmt.Errorf("no sample of %s yet", a.qmgr)
	}
	return nil
}

// Actions gives a page of the journal.
func (a *App) Actions(_ context.Context, after string, limit int) ([]json.RawMessage, string, error) {
	page, err := actions.ReadJournal(a.journalPath(), after, limit)
	if errors.Is(err, actions.ErrCursor) {
		return nil, "", fmt.Errorf("%w: %w", httpapi.ErrBadPlace, err)
	}
	if err != nil {
		return nil, "", err
	}
	return page.Lines, page.Next, nil
}

// SampledAt is when the last good sample was asked for.
func (a *App) SampledAt() time.Time { return a.runner.Snapshot().SampledAt }
