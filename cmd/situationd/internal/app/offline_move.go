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
	"github.com/situationd/situationd/situations"
)

// ErrRules says that it is not known what the rules forbid.
var ErrRules = errors.New("the rules cannot be read, and one may say redistribute: never")

// MoveWish checks what a person asks for, before anybody is asked.
func MoveWish(by string, r httpapi.RedistributeRequest) (actions.MoveRequest, error) {
	return request(by, r)
}

// handMover is a daemon's part that moves messages, in a command that does it while
// no daemon runs: the same engine, ledger and journal, and nothing else of it.
type handMover struct {
	offline *Offline
	desk    desk
	source  *adapt.Source
	engine  *actions.Engine // nil for looking only
	journal *actions.Journal
}

// Unused says that no daemon was ever beside a queue manager that runs, and
// gives what a person's command needs then: a folder as a daemon would make it,
// or with look nothing that stays.
func Unused(data, qmgrName string, look bool, logger hclog.Logger) (*Offline, error) {
	dir, err := DaemonDir(data, qmgrName)
	if err != nil {
		return nil, err
	}
	o := &Offline{qmgr: qmgrName, data: data, dir: dir, logger: logger}
	if look {
		return o, nil
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	if o.lock, err = lockDir(dir, qmgrName); err != nil {
		return nil, err
	}
	if o.state, err = actions.OpenDB(filepath.Join(dir, "state.db")); err != nil {
		return nil, errors.Join(err, o.lock.Close())
	}
	return o, nil
}

// Reachable says whether the queue manager answers: a command that moves messages
// does not start one, since what it would move has to leave it, too.
func (o *Offline) Reachable(ctx context.Context) error {
	conn, err := o.dial(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreachable, err)
		if o.state == nil {
			return err
		}
		if connect, noted := o.state.Noted(noteConnect); noted == nil && connect == string(config.Hosted) {
			return fmt.Errorf("%w; its daemon hosts it: start the daemon, or strmqm %s", err, o.qmgr)
		}
		return err
	}
	return conn.Disconnect(ctx)
}

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

// rulesOf are those of a daemon file: the one that is named, else the one that
// the daemon ran by. Without either there are none.
func (o *Offline) rulesOf(named *config.Config) (*situations.RuleSet, *config.Config, error) {
	cfg := named
	if cfg == nil {
		if o.state == nil {
			return nil, nil, nil
		}
		path, err := o.state.Noted(noteConfig)
		if err != nil || path == "" {
			return nil, nil, err
		}
		var problems []situations.Problem
		cfg, problems, err = config.Load(path)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("%w: %w", ErrRules, err)
		case cfg == nil:
			return nil, nil, fmt.Errorf("%w: %s", ErrRules, firstError(problems))
		}
	}
	files, err := cfg.RuleFiles()
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRules, err)
	}
	rules, problems, err := ReadRules(files, cfg.MQSCAllow)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%w: %w", ErrRules, err)
	case rules == nil:
		return nil, nil, fmt.Errorf("%w: %s", ErrRules, firstError(problems))
	}
	return rules, cfg, nil
}

// open makes the parts, and connects.
func (o *Offline) open(named *config.Config) (*handMover, error) {
	rules, cfg, err := o.rulesOf(named)
	if err != nil {
		return nil, err
	}
	ttl, workload := time.Duration(0), ""
	if cfg != nil {
		ttl, workload = cfg.Limits.LedgerTTL, cfg.QueueManager.Hosted.Workload
	} else if o.state != nil {
		if workload, err = o.state.Noted(noteWorkload); err != nil {
			return nil, err
		}
	}
	link := adapt.NewLink(adapt.LinkOptions{Dial: o.dial, Retry: func() time.Duration { return time.Second }, Logger: o.logger, Up: func() {}})
	h := &handMover{offline: o, desk: desk{qmgr: o.qmgr, link: link, rules: rules, v6: workload == "v6"}}
	if o.state == nil {
		h.desk.mover = adapt.NewMover(link, adapt.ForgetfulLedger(ttl))
		return h, nil
	}
	h.desk.mover = adapt.NewMover(link, adapt.NewLedger(ttl, o.state))
	return h, nil
}

// during runs the parts while work is done.
func (h *handMover) during(ctx context.Context, work func(context.Context) error) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var wait sync.WaitGroup
	defer wait.Wait()
	defer cancel()
	link := h.desk.link
	wait.Go(func() { link.Run(running) })
	select {
	case <-link.Tried():
	case <-ctx.Done():
		return ctx.Err()
	}
	if h.engine != nil {
		wait.Go(func() { _ = h.engine.Run(running) }) // it has nothing to say but that it ran already
		wait.Go(func() { sampleFor(running, h.source, h.engine, link.Tried()) })
	}
	return work(ctx)
}

// Foresee says what a run would move now.
func (o *Offline) Foresee(ctx context.Context, named *config.Config, queue string, evenIfBound bool) (f httpapi.Forecast, err error) {
	h, err := o.open(named)
	if err != nil {
		return f, err
	}
	err = h.during(ctx, func(ctx context.Context) error {
		f, err = h.desk.foresee(ctx, queue, evenIfBound)
		return err
	})
	if err != nil || f.Prevented != nil || o.state == nil {
		return f, err
	}
	stored, err := o.state.LoadActions()
	f.Prevented = heldBack(stored.Holds, queue)
	return f, err
}

// Redistribute moves messages and tells how that goes; a cancelled ctx ends it at
// the end of its unit of work.
func (o *Offline) Redistribute(
	ctx context.Context, named *config.Config, wish actions.MoveRequest, tell func(*httpapi.Redistribution),
) (run httpapi.Redistribution, err error) {
	h, err := o.open(named)
	if err != nil {
		return run, err
	}
	if err := h.ready(); err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, h.journal.Close()) }()
	err = h.during(ctx, func(ctx context.Context) error {
		if run, err = begin(ctx, &h.desk, h.engine, wish); err != nil {
			return err
		}
		run, err = h.follow(ctx, run, wish, tell)
		return err
	})
	return run, err
}

// ready makes what changes something.
func (h *handMover) ready() error {
	o := h.offline
	path, err := o.state.Noted(noteJournal)
	if err != nil {
		return err
	}
	if path == "" {
		path = filepath.Join(o.dir, "actions.jsonl")
	}
	if h.journal, err = actions.OpenJournal(path); err != nil {
		return err
	}
	owner, err := ownerToken(o.dir)
	if err != nil {
		return errors.Join(err, h.journal.Close())
	}
	h.source = adapt.NewSource(h.desk.link, o.qmgr, owner)
	var items actions.Items
	if h.desk.rules != nil {
		items = offlineItems{h.desk.rules}
	}
	h.engine, err = actions.New(actions.Options{
		QMgr: o.qmgr, Manager: adapt.NewManager(h.desk.link), Mover: h.desk.mover, Journal: h.journal, Store: o.state,
		Items: items, Manual: true, Logger: o.logger, V6: h.desk.v6,
	})
	if err != nil {
		return errors.Join(err, h.journal.Close())
	}
	return nil
}

// follow waits for the end of a run.
func (h *handMover) follow(
	ctx context.Context, first httpapi.Redistribution, wish actions.MoveRequest, tell func(*httpapi.Redistribution),
) (httpapi.Redistribution, error) {
	cancelled := ctx.Done()
	for {
		run, changed, err := h.engine.MoveRun(first.ID)
		if err != nil {
			return first, err
		}
		now := h.desk.redistribution(&run)
		tell(&now)
		if run.Over {
			return now, nil
		}
		select {
		case <-changed:
		case <-cancelled:
			cancelled = nil
			if _, err := h.engine.CancelMove(wish.By, wish.Queue); err != nil && !errors.Is(err, actions.ErrNothingMoves) {
				return now, err
			}
		}
	}
}

// offlineItems know the rules and nothing of what was sampled.
type offlineItems struct{ rules *situations.RuleSet }

func (offlineItems) Flapping(situations.Key) bool   { return false }
func (offlineItems) Maintained(situations.Key) bool { return false }
func (offlineItems) Count(string) int               { return 0 }

func (i offlineItems) NeverRedistribute(qmgrName string, row *situations.Row) bool {
	return i.rules.NeverRedistribute(qmgrName, row)
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
