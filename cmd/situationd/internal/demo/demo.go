package demo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// ErrFailed says that a check did not hold; which one has been printed.
var ErrFailed = errors.New("the demo's checks did not hold")

// show is one performance.
type show struct {
	*timeline
	cluster  *cluster
	interval time.Duration // the longest sample interval of the rules
	putter   mqengine.Conn
	notes    *ledger
	readers  map[string]*reader
	journals map[string]*follower
	failed   []string
}

// Run performs the demo. ErrFailed is wrapped when everything ran and a check
// did not hold; any other error says what could not be done.
func Run(ctx context.Context, o Options) (err error) {
	if o.Speed <= 0 {
		o.Speed = 1
	}
	s := &show{timeline: newTimeline(o.Out, o.JSONL), notes: newLedger(), readers: map[string]*reader{}, journals: map[string]*follower{}}
	s.say("start", "", "three queue managers in a temporary folder: %s puts, %s and %s host %s in cluster %s", putterQM, deadQM, servedQM, queueName, clusterName)
	if s.interval, err = s.pace(&o); err != nil {
		return err
	}
	if s.cluster, err = startCluster(ctx, &o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.cluster.close()) }()
	var followers sync.WaitGroup
	following, stop := context.WithCancel(ctx)
	defer followers.Wait()
	defer stop()
	for _, name := range []string{deadQM, servedQM} {
		daemon := s.cluster.daemons[name]
		f := &follower{qmgr: name, read: daemon.Actions}
		s.journals[name] = f
		followers.Go(func() { f.follow(following, s.timeline) })
		s.say("daemon", name, "hosted on %s, API at http://%s/api/v1/status", daemon.HostedAddr(), daemon.Addr())
	}
	if err := s.perform(ctx); err != nil {
		return err
	}
	if o.Keep && len(s.failed) == 0 {
		s.result(nil)
		s.keep(ctx, &o)
	}
	stop()
	followers.Wait()
	if err := s.endReaders(); err != nil {
		return err
	}
	if !o.Keep || len(s.failed) > 0 {
		s.result(s.failed)
	}
	if len(s.failed) > 0 {
		return fmt.Errorf("%w: %d of them", ErrFailed, len(s.failed))
	}
	return s.err
}

// pace reads the rules for how long a stage may take, and hurries rules that
// nobody would wait for if o allows it: the article samples every five minutes.
func (s *show) pace(o *Options) (time.Duration, error) {
	longest, err := longestInterval(o)
	if err != nil {
		return 0, err
	}
	if o.Hurry && longest > longWait {
		o.Speed = min(longest.Seconds(), MaxSpeed)
		s.say("speed", "", "the rules sample every %v: everything runs %.0f times as fast (--speed 1 does not hurry)", longest, o.Speed)
	}
	return time.Duration(float64(longest) / o.Speed), nil
}

// longestInterval is the longest sample interval of the rules, at least the
// second of examples/rules.yaml.
func longestInterval(o *Options) (time.Duration, error) {
	longest := time.Second
	if o.Rules == "" {
		return longest, nil
	}
	rules, problems, err := app.ReadRules([]string{o.Rules}, nil)
	if err != nil {
		return 0, err
	}
	if rules == nil {
		return 0, &app.RulesError{Problems: problems}
	}
	for _, r := range rules.Situations {
		longest = max(longest, r.Schedule.Interval(time.Now()))
	}
	return longest, nil
}

// limit is how long a stage may take that waits for the rules: grace, the
// sample that sees the change, a dwell of two intervals, and what is slow on a
// busy machine.
func (s *show) limit() time.Duration { return 6*s.interval + 3*time.Second }

func (s *show) missed(format string, args ...any) {
	s.failed = append(s.failed, fmt.Sprintf(format, args...))
}

// perform plays the stages in order. A stage that did not come about ends the
// play, since those after it build on it.
func (s *show) perform(ctx context.Context) error {
	var err error
	if s.putter, err = s.cluster.connect(ctx, putterQM, "putter"); err != nil {
		return err
	}
	defer func() { _ = s.putter.Disconnect(context.WithoutCancel(ctx)) }() // nothing of it is open by then
	for _, stage := range []func(context.Context) (bool, error){
		s.openReaders, s.waitEnabled, s.firstBatch, s.fillSecond, s.stopReader, s.secondBatch, s.waitDisabled,
		s.waitRead, s.returnReader, s.waitEnabled, s.finalChecks,
	} {
		ok, err := stage(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return nil
		}
	}
	return nil
}

func (s *show) openReaders(ctx context.Context) (bool, error) {
	for _, name := range []string{deadQM, servedQM} {
		r, err := startReader(ctx, s.cluster, name, s.notes)
		if err != nil {
			return false, err
		}
		s.readers[name] = r
		s.say("reader", name, "a reader opens %s", queueName)
	}
	return true, nil
}

// seen waits until QM1 sees the wanted PUT of both instances.
func (s *show) seen(ctx context.Context, limit time.Duration, dead, served string) (map[string]string, bool, error) {
	var states map[string]string
	ok, err := s.cluster.until(ctx, limit, func() (bool, error) {
		var err error
		states, err = putStates(ctx, s.putter)
		return err == nil && states[deadQM] == dead && states[servedQM] == served, err
	})
	return states, ok, err
}

func (s *show) waitEnabled(ctx context.Context) (bool, error) {
	states, ok, err := s.seen(ctx, patience+s.limit(), "ENABLED", "ENABLED")
	if err != nil {
		return false, err
	}
	if !ok {
		s.missed("%s sees both instances ENABLED; it sees %s", putterQM, told(states))
		return false, nil
	}
	s.say("seen", putterQM, "sees %s PUT(ENABLED) on %s and %s", queueName, deadQM, servedQM)
	return true, nil
}

// put puts the messages from+1 to from+batch, one by one or in the unit of work
// that the putter has open. Every message finds its own instance: the handle is not bound.
func (s *show) put(ctx context.Context, from int, options int32) error {
	handle, _, err := s.putter.Open(ctx, mqi.OD{ObjectName: queueName}, mqi.MQOO_OUTPUT|mqi.MQOO_BIND_NOT_FIXED)
	if err != nil {
		return err
	}
	for i := from + 1; i <= from+batch; i++ {
		msg := &mqengine.Message{MD: mqi.NewMD(), Body: fmt.Appendf(nil, "message %d", i)}
		if _, err := s.putter.Put(ctx, handle, msg, mqi.PMO{Options: options}); err != nil {
			return err
		}
	}
	return s.putter.Close(ctx, handle, 0)
}

func (s *show) firstBatch(ctx context.Context) (bool, error) {
	if err := s.put(ctx, 0, mqi.MQPMO_NO_SYNCPOINT); err != nil {
		return false, err
	}
	s.say("put", putterQM, "puts %d messages", batch)
	ok, err := s.cluster.until(ctx, patience, func() (bool, error) {
		distinct, _, _ := s.notes.count(deadQM)
		return distinct == batch, nil
	})
	if err != nil {
		return false, err
	}
	distinct, _, dead := s.notes.count(deadQM)
	_, _, served := s.notes.count(servedQM)
	if !ok {
		s.missed("the first %d messages are read; %d are", batch, distinct)
		return false, nil
	}
	s.say("read", "", "read: %d on %s, %d on %s", dead, deadQM, served, servedQM)
	if dead == 0 || served == 0 {
		s.missed("the first %d messages go to both instances; %s got %d, %s %d", batch, deadQM, dead, servedQM, served)
	}
	return true, nil
}

// fillSecond puts the second batch without committing it: on a busy machine the
// interval in which nobody has noticed would be too short for a hundred puts.
func (s *show) fillSecond(ctx context.Context) (bool, error) {
	return true, s.put(ctx, batch, mqi.MQPMO_SYNCPOINT)
}

// stopReader stops the reader just after a sample, so that a whole interval
// passes before anybody notices.
func (s *show) stopReader(ctx context.Context) (bool, error) {
	daemon := s.cluster.daemons[deadQM]
	before := daemon.SampledAt()
	ok, err := s.cluster.until(ctx, s.limit(), func() (bool, error) { return daemon.SampledAt().After(before), nil })
	if err != nil {
		return false, err
	}
	if !ok {
		s.missed("the daemon of %s samples it", deadQM)
		return false, nil
	}
	r := s.readers[deadQM]
	delete(s.readers, deadQM)
	if err := r.end(); err != nil {
		return false, fmt.Errorf("the reader on %s: %w", deadQM, err)
	}
	s.say("reader", deadQM, "the reader stops")
	return true, nil
}

func (s *show) secondBatch(ctx context.Context) (bool, error) {
	if err := s.putter.Commit(ctx); err != nil {
		return false, err
	}
	s.say("put", putterQM, "puts %d messages more", batch)
	return true, nil
}

func (s *show) waitDisabled(ctx context.Context) (bool, error) {
	begin := time.Now()
	states, ok, err := s.seen(ctx, s.limit(), "DISABLED", "ENABLED")
	if err != nil {
		return false, err
	}
	if !ok {
		s.missed("%s sees PUT(DISABLED) on %s and PUT(ENABLED) on %s within %v; it sees %s", putterQM, deadQM, servedQM, s.limit(), told(states))
		return false, nil
	}
	s.say("seen", putterQM, "sees %s PUT(DISABLED) on %s, PUT(ENABLED) on %s, %.1fs after the last put", queueName, deadQM, servedQM, time.Since(begin).Seconds())
	return true, nil
}

func (s *show) waitRead(ctx context.Context) (bool, error) {
	ok, err := s.cluster.until(ctx, patience+s.limit(), func() (bool, error) {
		distinct, _, _ := s.notes.count(deadQM)
		return distinct == 2*batch, nil
	})
	if err != nil {
		return false, err
	}
	distinct, _, dead := s.notes.count(deadQM)
	_, _, served := s.notes.count(servedQM)
	if !ok {
		s.missed("all %d messages are read; %d are", 2*batch, distinct)
		return false, nil
	}
	s.say("read", "", "read: %d on %s, %d on %s", dead, deadQM, served, servedQM)
	return true, nil
}

func (s *show) returnReader(ctx context.Context) (bool, error) {
	r, err := startReader(ctx, s.cluster, deadQM, s.notes)
	if err != nil {
		return false, err
	}
	s.readers[deadQM] = r
	s.say("reader", deadQM, "the reader returns")
	return true, nil
}

// finalChecks are those that are looked at once everything is over.
func (s *show) finalChecks(ctx context.Context) (bool, error) {
	moved, err := s.journals[deadQM].moved(ctx)
	if err != nil {
		return false, err
	}
	if moved == 0 {
		s.missed("at least one stranded message is moved from %s", deadQM)
	}
	if distinct, reads, _ := s.notes.count(deadQM); distinct != 2*batch || reads != 2*batch {
		s.missed("each of %d messages is read exactly once; %d distinct ones were read %d times", 2*batch, distinct, reads)
	}
	for _, name := range []string{deadQM, servedQM} {
		conn, err := s.cluster.connect(ctx, name, "demo")
		if err != nil {
			return false, err
		}
		left, err := depth(ctx, conn)
		if err = errors.Join(err, conn.Disconnect(ctx)); err != nil {
			return false, err
		}
		if left != 0 {
			s.missed("%s on %s is empty; its depth is %d", queueName, name, left)
		}
	}
	if len(s.failed) == 0 {
		s.say("checked", "", "%d messages, each read exactly once; %d of them moved from %s", 2*batch, moved, deadQM)
	}
	return true, nil
}

func (s *show) endReaders() error {
	var errs []error
	for name, r := range s.readers {
		if err := r.end(); err != nil {
			errs = append(errs, fmt.Errorf("the reader on %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// keep prints what can be tried and waits.
func (s *show) keep(ctx context.Context, o *Options) {
	program := o.Program
	if program == "" {
		program = "situationd"
	}
	s.plain("\nThe cluster goes on running until this is interrupted. In another terminal:\n\n")
	s.plain("  export SITUATIOND_DATA=%s\n", s.cluster.dir)
	for _, command := range []string{
		"status --qmgr " + deadQM + " --watch",
		"actions --qmgr " + deadQM,
		"q -I" + queueName + " -m" + deadQM + " -w60",
		"q -o" + queueName + " -m" + putterQM + "        # type #100, end with Ctrl-D",
	} {
		s.plain("  %s %s\n", program, command)
	}
	s.plain("  echo 'DISPLAY QCLUSTER(%s) CLUSQMGR PUT' | %s mqsc %s\n\n", queueName, program, putterQM)
	s.write(line{Event: "kept", Text: s.cluster.dir})
	<-ctx.Done()
}
