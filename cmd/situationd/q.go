package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// qRun is one run of q.
type qRun struct {
	*qOptions
	env  *cliEnv
	conn mqengine.Conn
	in   mqengine.Handle
	out  mqengine.Handle
	from string // resolved name of the input queue

	done  int  // messages put, or got
	unit  int  // messages since the last commit
	every int  // commit after so many; 0: no syncpoint
	dirty bool // something was done under syncpoint
	far   qProgress
}

// newQCommand puts, gets, browses and moves messages, as MA01's q.
func newQCommand(env *cliEnv) *cobra.Command {
	return &cobra.Command{
		Use:                "q [-I Q | -i Q] [-o Q] [-m QM] [options]",
		Short:              "Put, get, browse and move messages",
		Long:               qUsage,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			o, err := parseQ(args)
			if err != nil {
				return usagef("q: %w", err)
			}
			if o.help {
				_, err := io.WriteString(env.Stdout, qUsage)
				return err
			}
			r := &qRun{qOptions: o, env: env}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			return r.exitOf(ctx, r.run(ctx))
		},
	}
}

// exitOf gives the end of a run its exit code: MA01's, that is the reason code as a shell sees it.
func (r *qRun) exitOf(ctx context.Context, err error) error {
	var signal interrupted
	if errors.As(context.Cause(ctx), &signal) {
		if s, ok := signal.signal.(syscall.Signal); ok {
			return exitSilently(128 + int(s))
		}
	}
	var exit *exitError
	if err == nil || errors.As(err, &exit) {
		return err
	}
	reason := mqi.ReasonOf(err)
	code := int(reason) % 256
	if code == 0 {
		code = 1
	}
	var call *mqi.Error
	switch {
	case !errors.As(err, &call):
		code = exitFailed
	case r.exit == 'c' && call.CompCode == mqi.MQCC_WARNING:
		code = 4
	case r.exit == 'c':
		code = 8
	}
	if r.exit == 'z' {
		code = 0
	}
	if code == 0 {
		fmt.Fprintf(r.env.Stderr, "q: %s\n", oneLine(err.Error()))
		return nil
	}
	return &exitError{Code: code, Err: err}
}

func (r *qRun) run(ctx context.Context) error {
	dir, err := r.env.dataDir(r.data)
	if err != nil {
		return err
	}
	if r.conn, err = r.env.connect(ctx, dir, r.qmgr, "q"); err != nil {
		return err
	}
	r.qmgr, _ = r.conn.QMgr()
	r.say(1, "connected to %s", r.qmgr)
	r.far = newQProgress(r.env.Stderr, r.progress, time.Now())
	err = r.work(ctx)
	r.far.end(r.done, time.Now())
	// What is left of the unit of work: an error or a signal backs it out.
	end := context.WithoutCancel(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil && r.dirty && !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		err = errors.Join(err, r.conn.Back(end))
		r.say(1, "backed out")
	}
	if err == nil {
		err = r.flush(end)
	}
	return errors.Join(err, r.conn.Disconnect(end))
}

func (r *qRun) work(ctx context.Context) error {
	r.every = r.commit
	if r.input == "" {
		return r.produce(ctx)
	}
	if r.output != "" && !r.browse && r.every == 0 {
		r.every = 1 // a move outside syncpoint would lose the message that is between the queues in a crash
	}
	options := mqi.MQOO_INPUT_SHARED
	switch {
	case r.browse:
		options = mqi.MQOO_BROWSE // and not input: to look at a queue is not to serve it
	case r.exclusive:
		options = mqi.MQOO_INPUT_EXCLUSIVE
	}
	if r.output != "" {
		options |= mqi.MQOO_SAVE_ALL_CONTEXT
	}
	h, res, err := r.conn.Open(ctx, mqi.OD{ObjectName: r.input}, options|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		return err
	}
	r.in, r.from = h, res.ResolvedQName
	if r.from == "" {
		r.from = r.input
	}
	r.say(1, "opened %s", r.input)
	if r.output != "" {
		return r.move(ctx)
	}
	return r.consume(ctx)
}

// count notes a message of the unit of work and commits when it is time.
func (r *qRun) count(ctx context.Context) error {
	r.done++
	r.far.step(r.done, time.Now)
	if r.every == 0 {
		return nil
	}
	if r.unit++; r.unit < r.every {
		return nil
	}
	return r.flush(ctx)
}

// flush commits what is open.
func (r *qRun) flush(ctx context.Context) error {
	if r.unit == 0 {
		return nil
	}
	if err := r.conn.Commit(ctx); err != nil {
		return err
	}
	r.say(3, "%d messages committed", r.unit)
	r.unit = 0
	return nil
}

// limited reports whether the limit of -L is reached.
func (r *qRun) limited() bool { return r.limit > 0 && r.done >= r.limit }

// say talks on standard error from a level of -v on.
func (r *qRun) say(level int, format string, args ...any) {
	if r.verbose >= level {
		fmt.Fprintf(r.env.Stderr, "q: "+format+"\n", args...)
	}
}

// putSyncpoint is the put option that -p asks for.
func (r *qRun) putSyncpoint(persistence int32) int32 {
	if r.every > 0 && (!r.ifPers || persistence == mqi.MQPER_PERSISTENT) {
		r.dirty = true
		return mqi.MQPMO_SYNCPOINT
	}
	return mqi.MQPMO_NO_SYNCPOINT
}

// getSyncpoint is the get option that -p asks for.
func (r *qRun) getSyncpoint() int32 {
	if r.every == 0 || r.browse {
		return mqi.MQGMO_NO_SYNCPOINT
	}
	r.dirty = true
	if r.ifPers {
		return mqi.MQGMO_SYNCPOINT_IF_PERSISTENT
	}
	return mqi.MQGMO_SYNCPOINT
}
