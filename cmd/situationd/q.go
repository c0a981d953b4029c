package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
	conn mqengine.Conn // of the input, or the only one
	to   mqengine.Conn // of the output: another queue manager's, or conn
	qmgr string        // the name of the input's
	in   mqengine.Handle
	from string // resolved name of the input queue
	outs []qOutput
	sink io.Writer // -F of a consumer

	replies    mqengine.Handle // -r+
	replyQ     string          // what messages name as their reply queue
	replyQMgr  string
	properties []mqi.Property // of the messages that are put, #p

	scan  qScan // -h
	done  int   // messages put, or got
	unit  int   // messages since the last commit
	every int   // commit after so many; 0: no syncpoint
	dirty bool  // something was done under syncpoint
	begin time.Time
	far   qProgress
}

// qOutput is one queue that is put to.
type qOutput struct {
	od     mqi.OD
	handle mqengine.Handle
	same   bool // it has the name of the input queue
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
	case reason == mqi.MQRC_NO_MSG_AVAILABLE:
		code = 0
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

// run connects, works, and ends the units of work: what was done stays if all went well.
func (r *qRun) run(ctx context.Context) error {
	if err := r.connect(ctx); err != nil {
		return err
	}
	r.begin = time.Now()
	r.far = newQProgress(r.env.Stderr, r.progress, r.begin)
	err := r.work(ctx)
	now := time.Now()
	r.far.end(r.done, now)
	if r.timings {
		r.tellTimes(now.Sub(r.begin))
	}
	// What is left of the unit of work: an error or a signal backs it out.
	end := context.WithoutCancel(ctx)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil && r.dirty && !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		for _, c := range r.conns() {
			err = errors.Join(err, c.Back(end))
		}
		r.say(1, "backed out")
	}
	if err == nil {
		err = r.flush(end)
	}
	if err == nil && r.close != 0 {
		err = r.closeQueue(end)
	}
	if r.noDisc {
		return err
	}
	for _, c := range r.conns() {
		err = errors.Join(err, c.Disconnect(end))
	}
	return err
}

// connect is MQCONN, twice if the output is at another queue manager.
func (r *qRun) connect(ctx context.Context) error {
	dir, err := r.env.dataDir(r.data)
	if err != nil {
		return err
	}
	name := ""
	if len(r.qmgrs) > 0 {
		name = r.qmgrs[0]
	}
	if r.conn, err = r.env.connect(ctx, dir, name, "q"); err != nil {
		return err
	}
	r.qmgr, _ = r.conn.QMgr()
	r.say(1, "connected to %s", r.qmgr)
	r.to = r.conn
	if len(r.qmgrs) > 1 {
		if r.to, err = r.env.connect(ctx, dir, r.qmgrs[1], "q"); err != nil {
			return errors.Join(err, r.conn.Disconnect(context.WithoutCancel(ctx)))
		}
		r.say(1, "connected to %s", r.qmgrs[1])
	}
	return nil
}

// conns are the connections, that of the output first: its commit comes before
// the other's, so that a crash between them makes a message come twice and not get lost.
func (r *qRun) conns() []mqengine.Conn {
	if r.to != r.conn {
		return []mqengine.Conn{r.to, r.conn}
	}
	return []mqengine.Conn{r.conn}
}

func (r *qRun) work(ctx context.Context) error {
	r.every = r.commit
	moves := r.input != "" && len(r.outputs) > 0 && !r.browse
	if r.every == 0 && (moves || r.echo || len(r.outputs) > 1) {
		// Outside syncpoint a message that is between the queues would be lost in a
		// crash, or be on some of several queues and not on the others.
		r.every = 1
	}
	if r.input == "" {
		return r.produce(ctx)
	}
	if err := r.openInput(ctx); err != nil {
		return err
	}
	if len(r.outputs) > 0 {
		return r.move(ctx)
	}
	return r.consumeTo(ctx)
}

func (r *qRun) openInput(ctx context.Context) error {
	options := mqi.MQOO_INPUT_SHARED
	switch {
	case r.browse:
		options = mqi.MQOO_BROWSE // and not input: to look at a queue is not to serve it
	case r.exclusive:
		options = mqi.MQOO_INPUT_EXCLUSIVE
	}
	if r.filter != "" {
		options |= mqi.MQOO_BROWSE
	}
	if len(r.outputs) > 0 {
		options |= mqi.MQOO_SAVE_ALL_CONTEXT
	}
	od := mqi.OD{ObjectName: r.input, SelectionString: r.selector}
	if named := r.target(r.input); named.ObjectQMgrName == r.qmgr { // else the character is part of the name
		od.ObjectName, r.input = named.ObjectName, named.ObjectName
	}
	h, res, err := r.conn.Open(ctx, od, options|r.quiescing(mqi.MQOO_FAIL_IF_QUIESCING))
	if err != nil {
		return err
	}
	r.in, r.from = h, res.ResolvedQName
	if r.from == "" {
		r.from = r.input
	}
	r.say(1, "opened %s", r.from)
	return nil
}

// consumeTo consumes, into the file of -F if there is one.
func (r *qRun) consumeTo(ctx context.Context) error {
	if r.whole == "" {
		return r.consume(ctx)
	}
	f, err := os.Create(r.whole)
	if err != nil {
		return usagef("q: %w", err)
	}
	r.sink = f
	return errors.Join(r.consume(ctx), f.Close())
}

// quiescing is the option that ends a call when the queue manager ends, unless -xq was given.
func (r *qRun) quiescing(option int32) int32 {
	if r.goOn {
		return 0
	}
	return option
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
	for _, c := range r.conns() {
		if err := c.Commit(ctx); err != nil {
			return err
		}
	}
	r.say(3, "%d messages committed", r.unit)
	r.unit = 0
	return nil
}

// closeQueue is MQCLOSE with -aD or -aP: of the input queue, or of the only output.
func (r *qRun) closeQueue(ctx context.Context) error {
	conn, h := r.conn, r.in
	if r.input == "" && len(r.outs) == 1 {
		conn, h = r.to, r.outs[0].handle
	}
	if h == 0 {
		return usagef("q: -aD and -aP delete the input queue, or the only output queue that is open")
	}
	return conn.Close(ctx, h, r.close)
}

// limited reports whether the limit of -L is reached.
func (r *qRun) limited() bool { return r.limit > 0 && r.done >= r.limit }

// say talks on standard error from a level of -v on.
func (r *qRun) say(level int, format string, args ...any) {
	if r.verbose >= level {
		fmt.Fprintf(r.env.Stderr, "q: "+format+"\n", args...)
	}
}

// tellTimes is -t, in MA01's words.
func (r *qRun) tellTimes(d time.Duration) {
	ms := float64(d) / float64(time.Millisecond)
	fmt.Fprintf(r.env.Stderr, "%d Iterations in %.2f ms, Average = %.2fms or %.1f per second\n",
		r.done, ms, ms/float64(max(r.done, 1)), float64(r.done)/max(d.Seconds(), 1e-6))
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
