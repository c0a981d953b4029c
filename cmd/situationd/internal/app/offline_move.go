package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

// ErrRules says that it is not known what the rules forbid.
var ErrRules = errors.New("the rules cannot be read, and one may say redistribute: never")

// handMover is a daemon's part that moves messages, in a command that does it while
// no daemon runs: the same engine, ledger and journal, and nothing else of it.
type handMover struct {
	parts
	offline *Offline
	desk    desk
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
	if err := o.take(); err != nil {
		return nil, err
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
	ledger := adapt.ForgetfulLedger(ttl)
	if o.state != nil {
		ledger = adapt.NewLedger(ttl, o.state)
	}
	link := o.newLink(o.dial)
	return &handMover{
		parts: parts{link: link}, offline: o,
		desk: desk{qmgr: o.qmgr, link: link, mover: adapt.NewMover(link, ledger), rules: rules, v6: workload == "v6"},
	}, nil
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
func (h *handMover) ready() (err error) {
	if h.journal, err = h.offline.openJournal(); err != nil {
		return err
	}
	opt := actions.Options{Mover: h.desk.mover, Journal: h.journal, V6: h.desk.v6}
	if h.desk.rules != nil {
		opt.Items = offlineItems{h.desk.rules}
	}
	if err := h.act(h.offline, opt); err != nil {
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
