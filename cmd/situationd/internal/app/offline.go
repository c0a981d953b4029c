package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

// Words that a daemon leaves in its state for those who come while it does not run.
const (
	noteJournal  = "journal"
	noteConnect  = "connect"
	noteWorkload = "workload"
	noteConfig   = "config"
)

// note leaves them.
func (a *App) note() error {
	q := a.config.QueueManager
	return errors.Join(
		a.state.Note(noteJournal, a.journalPath()),
		a.state.Note(noteConnect, string(q.Connect)),
		a.state.Note(noteWorkload, q.Hosted.Workload),
		a.state.Note(noteConfig, absolute(a.config.Path)),
	)
}

// absolute is a path that means the same from every folder.
func absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil && path != "" {
		return whole
	}
	return path
}

// ErrNoState says that no daemon was ever beside a queue manager.
var ErrNoState = errors.New("no daemon has a state there")

// ErrUnreachable says that the queue manager does not run.
var ErrUnreachable = errors.New("the queue manager cannot be reached")

// Offline is the state of a daemon that does not run, in a person's hands.
type Offline struct {
	qmgr, data, dir string
	lock            *lock
	state           *actions.DB
	logger          hclog.Logger
}

// OpenOffline takes the folder of a daemon, so that it does not start meanwhile.
func OpenOffline(data, qmgrName string, logger hclog.Logger) (*Offline, error) {
	dir, err := DaemonDir(data, qmgrName)
	if err != nil {
		return nil, err
	}
	known, err := HasState(data, qmgrName)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return nil, fmt.Errorf("queue manager %s: %w", qmgrName, ErrNoState)
	}
	o := &Offline{qmgr: qmgrName, data: data, dir: dir, logger: logger}
	if err := o.take(); err != nil {
		return nil, err
	}
	return o, nil
}

// HasState says whether a daemon was ever beside a queue manager.
func HasState(data, qmgrName string) (bool, error) {
	dir, err := DaemonDir(data, qmgrName)
	if err != nil {
		return false, err
	}
	if _, err = os.Stat(filepath.Join(dir, "state.db")); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// take locks the folder and opens the state in it.
func (o *Offline) take() (err error) {
	if o.lock, err = lockDir(o.dir, o.qmgr); err != nil {
		return err
	}
	if o.state, err = actions.OpenDB(filepath.Join(o.dir, "state.db")); err != nil {
		return errors.Join(err, o.lock.Close())
	}
	return nil
}

// openJournal opens the journal that the daemon wrote.
func (o *Offline) openJournal() (*actions.Journal, error) {
	path, err := o.state.Noted(noteJournal)
	if err != nil {
		return nil, err
	}
	if path == "" {
		path = filepath.Join(o.dir, "actions.jsonl")
	}
	return actions.OpenJournal(path)
}

// Close gives the folder back.
func (o *Offline) Close() error {
	if o.state == nil {
		return nil
	}
	return errors.Join(o.state.Close(), o.lock.Close())
}

// FindStates names the queue managers whose daemons have left a state.
func FindStates(data string) ([]string, error) {
	paths, err := filepath.Glob(filepath.Join(data, "daemon", "*", "state.db"))
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(paths))
	for _, p := range paths {
		names = append(names, unfolder(filepath.Base(filepath.Dir(p))))
	}
	return names, nil
}

// Lowered lists what the daemon lowered, as it knew when it ended.
func (o *Offline) Lowered() (httpapi.Lowered, error) {
	stored, err := o.state.LoadActions()
	if err != nil {
		return httpapi.Lowered{}, err
	}
	return httpapi.Lowered{Lowered: standingItems(stored.Lowered())}, nil
}

// Revert gives back what the daemon lowered, of one queue or with "" of all. A
// queue manager that the daemon hosts is started for that, and ended again.
func (o *Offline) Revert(ctx context.Context, by, queue string) (_ httpapi.Reverted, err error) {
	before, err := o.Lowered()
	if err != nil || len(onlyItems(before.Lowered, queue)) == 0 {
		return httpapi.Reverted{Reverted: []httpapi.LoweredItem{}, Left: []httpapi.LoweredItem{}}, err
	}
	dial, stop, err := o.connect(ctx)
	if err != nil {
		return httpapi.Reverted{}, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	journal, err := o.openJournal()
	if err != nil {
		return httpapi.Reverted{}, err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	return o.giveBack(ctx, dial, journal, by, queue)
}

func onlyItems(list []httpapi.LoweredItem, queue string) []httpapi.LoweredItem {
	var out []httpapi.LoweredItem
	for _, i := range list {
		if queue == "" || i.Name() == queue {
			out = append(out, i)
		}
	}
	return out
}

// giveBack runs the daemon's own actions for nothing but this.
func (o *Offline) giveBack(
	ctx context.Context, dial func(context.Context) (mqengine.Conn, error), journal *actions.Journal, by, queue string,
) (out httpapi.Reverted, err error) {
	p := parts{link: o.newLink(dial)}
	err = p.act(o, actions.Options{Journal: journal})
	if err != nil {
		return out, err
	}
	p.source.SetGroups(p.engine.Concerns)
	err = p.during(ctx, func(ctx context.Context) error {
		wanted, err := p.engine.Revert(ctx, by, queue)
		out.Reverted, out.Left = standingItems(wanted), standingItems(onlyQueue(p.engine.Lowered(), queue))
		if errors.Is(err, context.DeadlineExceeded) {
			out.Reason, err = "it is not done yet, and goes on when the daemon runs", nil
		}
		return err
	})
	return out, err
}

func (o *Offline) newLink(dial func(context.Context) (mqengine.Conn, error)) *adapt.Link {
	return adapt.NewLink(adapt.LinkOptions{Dial: dial, Retry: func() time.Duration { return time.Second }, Logger: o.logger, Up: func() {}})
}

// parts are those of a daemon that a command runs which does its work while none runs.
type parts struct {
	link   *adapt.Link
	source *adapt.Source
	engine *actions.Engine // nil for looking only
}

// act makes what changes something: it does only what a person asks for.
func (p *parts) act(o *Offline, opt actions.Options) error {
	owner, err := ownerToken(o.dir)
	if err != nil {
		return err
	}
	p.source = adapt.NewSource(p.link, o.qmgr, owner)
	opt.QMgr, opt.Manager, opt.Store, opt.Manual, opt.Logger = o.qmgr, adapt.NewManager(p.link), o.state, true, o.logger
	p.engine, err = actions.New(opt)
	return err
}

// during runs the parts while work is done. As in a daemon the connection outlives
// the actions: what moves messages ends at its unit of work.
func (p *parts) during(ctx context.Context, work func(context.Context) error) error {
	connected, disconnect := context.WithCancel(context.WithoutCancel(ctx))
	var connection sync.WaitGroup
	defer connection.Wait()
	defer disconnect()
	connection.Go(func() { p.link.Run(connected) })
	select {
	case <-p.link.Tried():
	case <-ctx.Done():
		return ctx.Err()
	}
	running, stop := context.WithCancel(connected)
	var acting sync.WaitGroup
	defer acting.Wait()
	defer stop()
	if p.engine != nil {
		acting.Go(func() { _ = p.engine.Run(running) }) // it has nothing to say but that it ran already
		acting.Go(func() { sampleFor(running, p.source, p.engine) })
	}
	return work(ctx)
}

// sampleFor hands samples to the engine until ctx ends.
func sampleFor(ctx context.Context, source *adapt.Source, engine *actions.Engine) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if obs, err := source.Sample(ctx); err == nil {
			engine.Observe(obs)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// dial connects to the queue manager in another process.
func (o *Offline) dial(ctx context.Context) (mqengine.Conn, error) {
	folder, err := mqengine.Folder(o.data, o.qmgr)
	if err != nil {
		return nil, err
	}
	owner := ""
	if o.state != nil {
		if owner, err = ownerToken(o.dir); err != nil {
			return nil, err
		}
	}
	return mqengine.Dial(ctx, folder, o.qmgr, qmgr.Appl{Tag: applTag, PID: os.Getpid(), Owner: owner})
}

// connect finds the queue manager: in another process, or in this one if it was
// the daemon's.
func (o *Offline) connect(ctx context.Context) (dial func(context.Context) (mqengine.Conn, error), stop func() error, err error) {
	conn, dialErr := o.dial(ctx)
	if dialErr == nil {
		return o.dial, func() error { return nil }, conn.Disconnect(ctx)
	}
	connect, err := o.state.Noted(noteConnect)
	if err != nil {
		return nil, nil, err
	}
	if connect != string(config.Hosted) {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreachable, dialErr)
	}
	order := workload.Modern
	if w, err := o.state.Noted(noteWorkload); err != nil {
		return nil, nil, err
	} else if w == "v6" {
		order = workload.V6
	}
	folder, err := mqengine.Folder(o.data, o.qmgr)
	if err != nil {
		return nil, nil, err
	}
	owner, err := ownerToken(o.dir)
	if err != nil {
		return nil, nil, err
	}
	hosted, err := mqengine.Start(ctx, mqengine.Options{Name: o.qmgr, Folder: folder, Workload: order, Logger: o.logger})
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	stop = func() error {
		stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return hosted.Stop(stopping)
	}
	appl := qmgr.Appl{Tag: applTag, PID: os.Getpid(), Owner: owner}
	return func(ctx context.Context) (mqengine.Conn, error) { return hosted.Connect(ctx, appl) }, stop, nil
}
