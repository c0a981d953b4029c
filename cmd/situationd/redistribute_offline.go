package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// readConfig reads the daemon file if one is named, and takes queue manager and
// data folder from it.
func (f *redistributeFlags) readConfig(env *cliEnv) error {
	if f.config == "" {
		return nil
	}
	var err error
	if f.file, err = loadDaemonFile(env, f.config); err != nil {
		return err
	}
	f.which.qmgr = f.file.QueueManager.Name
	f.which.data = firstOf(f.which.data, f.file.Data)
	return nil
}

// daemonOrState gives the running daemon, or where there is none what it left,
// or where there never was one a place like it.
func (f *redistributeFlags) daemonOrState(ctx context.Context, env *cliEnv) (*daemonClient, *app.Offline, error) {
	if f.which.url != "" {
		client, err := f.which.find(env)
		return client, nil, err
	}
	data, err := env.dataDir(f.which.data)
	if err != nil {
		return nil, nil, err
	}
	running, err := app.FindDaemons(data)
	if err != nil {
		return nil, nil, unreachablef("look for daemons: %w", err)
	}
	name := f.which.qmgr
	if name == "" && len(running) == 1 {
		name = running[0]
	}
	if slices.Contains(running, name) || name == "" && len(running) > 0 {
		client, err := f.which.find(env)
		if err == nil {
			err = app.Answers(ctx, data, name)
		}
		return client, nil, offlineExit(err)
	}
	if f.cancel {
		return nil, nil, unreachablef("no daemon runs under %s; what another command moves ends when it is interrupted", data)
	}
	if name == "" {
		switch name, err = onlyQMgr(data); {
		case errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR):
			return nil, nil, usagef("redistribute: no daemon runs; %w", err)
		case err != nil:
			return nil, nil, engineExit(err)
		}
	}
	offline, err := f.openOffline(ctx, env, data, name)
	return nil, offline, err
}

// openOffline takes the folder of a daemon that does not run.
func (f *redistributeFlags) openOffline(ctx context.Context, env *cliEnv, data, name string) (*app.Offline, error) {
	if _, err := mqengine.FolderName(name); err != nil {
		return nil, usagef("redistribute: %w", err)
	}
	known, err := app.HasState(data, name)
	if err != nil {
		return nil, failedf("%w", err)
	}
	// What is written must be the daemon's; where there was none, it would have the
	// queue manager's user.
	dir, err := app.DaemonDir(data, name)
	if !known {
		dir, err = mqengine.Folder(data, name)
	}
	if err != nil {
		return nil, usagef("redistribute: %w", err)
	}
	if err := app.ActAsOwner(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, failedf("%w", err)
	}
	open := app.OpenOffline
	if !known {
		// Nothing is made for a queue manager that is not there.
		look, err := app.Unused(data, name, true, hclog.NewNullLogger())
		if err == nil {
			err = look.Reachable(ctx)
		}
		if err != nil {
			return nil, offlineExit(err)
		}
		open = func(data, name string, logger hclog.Logger) (*app.Offline, error) {
			return app.Unused(data, name, f.dryRun, logger)
		}
	}
	offline, err := open(data, name, hclog.NewNullLogger())
	if err != nil {
		return nil, offlineExit(err)
	}
	if err := offline.Reachable(ctx); err != nil {
		return nil, errors.Join(offlineExit(err), offline.Close())
	}
	fmt.Fprintf(env.Stderr, "the daemon of %s does not run; this command does it\n", name)
	return offline, nil
}

// offlineExit gives an error its exit code.
func offlineExit(err error) error {
	var exit *exitError
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case errors.Is(err, app.ErrUnreachable), errors.Is(err, httpapi.ErrUnavailable):
		return unreachablef("%s", httpapi.Text(err))
	case errors.Is(err, app.ErrInUse), errors.Is(err, httpapi.ErrRefused), errors.Is(err, httpapi.ErrBusy), errors.Is(err, app.ErrRules):
		return refusedf("%s", httpapi.Text(err))
	case errors.Is(err, httpapi.ErrBadRequest):
		return usagef("%s", httpapi.Text(err))
	default:
		return failedf("%s", httpapi.Text(err))
	}
}

// runOffline does here what a daemon would do.
func (f *redistributeFlags) runOffline(ctx context.Context, env *cliEnv, offline *app.Offline) error {
	ctx, stop := untilSignal(ctx)
	defer stop()
	if f.dryRun {
		forecast, err := offline.Foresee(ctx, f.file, f.ask.Queue, f.ask.EvenIfBound)
		if err != nil {
			return offlineExit(signalled(ctx, err))
		}
		return printForecast(env.Stdout, f.format, &forecast)
	}
	wish, err := app.MoveWish(person(), f.ask)
	if err != nil {
		return offlineExit(err)
	}
	progress := newMoveProgress(env.Stderr, isTerminalWriter(env.Stderr), time.Now())
	run, err := offline.Redistribute(ctx, f.file, wish, func(r *httpapi.Redistribution) { progress.step(r, time.Now()) })
	progress.end()
	if err != nil {
		return offlineExit(signalled(ctx, err))
	}
	return f.report(env, &run)
}
