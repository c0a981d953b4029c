package mqengine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/internal/samples"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/transport"
)

// QueueManager is a queue manager that this process hosts. It owns its
// goroutines (actor, committer, listener, one per link and local connection, the
// command server, the supervisor) and waits for all of them before Done is closed.
type QueueManager struct {
	name   string
	qmid   string
	addr   string
	logger hclog.Logger

	lock      *folderLock
	store     store.Store
	machine   *qmgr.Machine
	mailbox   *mailbox
	numbers   bodyNumbers
	actor     *actor
	committer *store.Committer
	sinks     *sinks
	samples   *samples.Table
	watches   *watchHub
	links     *links
	own       transport.Listener // what Options.Listen asked for; nil without
	locals    *locals
	errorLog  *errorLog
	socket    string         // qm.sock; blank if there is none
	commands  *commandServer // nil with SCMDSERV(MANUAL)

	// The releasing goroutine's own.
	changes []Change

	ebbing    atomic.Bool // a controlled end has begun
	quiesceMu sync.Mutex
	patience  *time.Timer // until a controlled end is immediate; nil: none

	// actorDone is closed when the actor has ended.
	actorDone chan struct{}
	quiet     chan struct{} // closed when an orderly end has no channel to wait for
	ending    chan struct{} // closed by the first end
	quietOnce sync.Once
	endOnce   sync.Once
	endCause  error // set before ending is closed
	done      chan struct{}
	err       error // set before done is closed
	group     sync.WaitGroup
}

// Start starts a queue manager that was created before. It returns when the
// listener is bound and local applications can connect. ctx bounds the start only.
func Start(ctx context.Context, o Options) (*QueueManager, error) {
	q, err := assemble(ctx, o.withDefaults())
	if err != nil {
		return nil, err
	}
	q.launch()
	select {
	case <-q.ending: // the machine did not get through its first turn
		<-q.done
		return nil, q.err
	default:
	}
	if q.lock != nil {
		if err := q.lock.running(); err != nil {
			return nil, errors.Join(fmt.Errorf("queue manager %s: %w", o.Name, err), q.Stop(ctx))
		}
	}
	q.say("AMQ8003I", "IBM MQ queue manager '%s' started, process %d, listener %s.", o.Name, os.Getpid(), cmp.Or(q.addr, NoListener))
	return q, nil
}

// assemble gets hold of everything that a queue manager is made of. What was got
// is given back if something fails.
func assemble(ctx context.Context, o Options) (_ *QueueManager, err error) {
	q := &QueueManager{
		name: o.Name, logger: o.Logger.Named(o.Name), mailbox: newMailbox(), sinks: newSinks(),
		watches: newWatchHub(), ending: make(chan struct{}), done: make(chan struct{}), quiet: make(chan struct{}), actorDone: make(chan struct{}),
	}
	var undo []func() error
	defer func() {
		if err == nil {
			return
		}
		for i := len(undo) - 1; i >= 0; i-- {
			err = errors.Join(err, undo[i]())
		}
	}()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		if q.lock, err = lockFolder(o.Folder, o.Name); err != nil {
			return nil, err
		}
		undo = append(undo, q.lock.giveBack)
		q.errorLog = openErrorLog(filepath.Join(o.Folder, "errors"), q.logger)
	} else {
		q.errorLog = openErrorLog("", q.logger)
	}
	if q.store, err = openStore(o, q.logger); err != nil {
		return nil, err
	}
	undo = append(undo, q.store.Close)
	var network, local transport.Listener
	if o.Listen != "" {
		if network, err = o.Network.Listen(o.Listen); err != nil {
			return nil, fmt.Errorf("queue manager %s: %w", o.Name, err)
		}
		q.addr = network.Addr()
		undo = append(undo, network.Close)
	}
	if err := q.load(o); err != nil {
		return nil, err
	}
	if o.Folder != "" {
		q.socket = SocketPath(o.Folder)
		if local, err = transport.Unix(servedLinks(o.sendWait)).Listen(q.socket); err != nil {
			return nil, fmt.Errorf("queue manager %s: %w", o.Name, err)
		}
	}
	q.links = newLinks(o.Network, q.mailbox, &q.numbers)
	q.links.log, q.links.keys = q.say, o.keys
	q.own = network
	q.locals = newLocals(local)
	q.links.patience, q.locals.patience = o.helloWait, o.helloWait
	return q, nil
}

func openStore(o Options, logger hclog.Logger) (store.Store, error) {
	if o.Store != nil {
		return o.Store, nil
	}
	return store.OpenPebble(storePath(o.Folder), store.Options{
		Reserve: o.Reserve, MustExist: true,
		Log: func(line string) { logger.Warn(line) },
	})
}

// restorer gives a machine back what the store has of it.
type restorer struct{ m *qmgr.Machine }

func (r restorer) Record(key string, value []byte) error { return r.m.RestoreRecord(key, value) }

func (r restorer) Message(queue uint32, seq uint64, header []byte) (store.BodyID, error) {
	return r.m.RestoreMessage(queue, seq, header)
}

// load makes the machine from what is stored.
func (q *QueueManager) load(o Options) error {
	now := time.Now()
	host, err := os.Hostname()
	if err != nil {
		q.logger.Warn("the name of this computer is unknown", "error", err)
	}
	q.machine = qmgr.New(qmgr.Config{
		Name: o.Name, Order: o.Workload, StartTime: now, Listen: q.addr, ConnName: connName(q.addr), NewBody: q.numbers.next,
		PID: os.Getpid(), Host: host, Creating: o.creating,
	})
	last, err := q.store.Load(restorer{q.machine})
	if err != nil {
		return fmt.Errorf("queue manager %s: %w", o.Name, err)
	}
	q.numbers.last.Store(uint64(last))
	if q.qmid = q.machine.QMID(); q.qmid == "" {
		return fmt.Errorf("queue manager %s: its store is damaged: the records of the queue manager are gone", o.Name)
	}
	if q.machine.StartsCommandServer() {
		q.commands = newCommandServer(q)
	}
	q.samples = samples.NewTable(now)
	q.actor = newActor(q.machine, q.mailbox, q.store, o.BodyBudget)
	q.actor.release = q.release
	q.actor.failed = q.end
	return nil
}

// launch starts the goroutines.
func (q *QueueManager) launch() {
	q.committer = store.NewCommitter(q.store, store.CommitterOptions{})
	q.actor.committer = q.committer
	q.actor.start(time.Now())
	q.links.start(q.own)
	q.locals.start(q)
	q.group.Go(func() {
		defer close(q.actorDone)
		q.actor.run()
	})
	q.group.Go(q.watchStore)
	q.commands.start()
	go q.supervise() // waited for through done
}

// Name is the queue manager's name, QMID its identifier.
func (q *QueueManager) Name() string { return q.name }

// QMID is the identifier that no other queue manager ever has.
func (q *QueueManager) QMID() string { return q.qmid }

// Addr is the address that the listener is bound to, blank if there is none.
func (q *QueueManager) Addr() string { return q.addr }

// Done is closed when the queue manager has ended and let go of its folder.
func (q *QueueManager) Done() <-chan struct{} { return q.done }

// Err is why the queue manager ended by itself; nil while it runs, and after Stop or endmqm.
func (q *QueueManager) Err() error {
	select {
	case <-q.done:
		return q.err
	default:
		return nil
	}
}

// Stop ends the queue manager and waits for it. Applications get 2009.
func (q *QueueManager) Stop(ctx context.Context) error {
	q.end(nil)
	select {
	case <-q.done:
		return q.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end begins the end, once. It does not wait.
func (q *QueueManager) end(cause error) {
	q.endOnce.Do(func() {
		q.endCause = cause
		close(q.ending)
	})
}

// ended reports whether the end has begun.
func (q *QueueManager) ended() bool {
	select {
	case <-q.ending:
		return true
	default:
		return false
	}
}

// supervise waits for the end and takes everything down: first what brings work,
// then what does it, then what it was done on.
func (q *QueueManager) supervise() {
	<-q.ending
	defer close(q.done)
	q.calm()
	if q.endCause != nil {
		q.say("AMQ6209E", "The queue manager ends: %v", q.endCause)
		if f := (*fault)(nil); errors.As(q.endCause, &f) {
			q.say("AMQ6118E", "Internal error: %v: %s", f.what, f.stack)
		}
		q.err = fmt.Errorf("queue manager %s: %w", q.name, q.endCause)
	}
	if q.endCause == nil {
		q.endChannels()
	}
	q.mailbox.close()
	q.group.Wait()
	q.committer.Close()
	q.leaveOut()
	q.sinks.close(connectionBroken("the queue manager has ended"))
	q.commands.wait()
	q.watches.close()
	err := errors.Join(q.locals.close(), q.links.close(), q.store.Close())
	q.say("AMQ8004I", "IBM MQ queue manager '%s' ended.", q.name)
	if q.lock != nil {
		err = errors.Join(err, q.lock.release(q.endCause == nil))
	}
	q.errorLog.close()
	if q.err == nil && err != nil {
		q.err = fmt.Errorf("end queue manager %s: %w", q.name, err)
	}
}

// channelsWithin bounds how long an orderly end waits for channels.
const channelsWithin = 3 * time.Second

// endChannels lets channels finish the batches that are under way: what is
// nonpersistent in them is nowhere else. A partner that does not answer is not waited for long.
func (q *QueueManager) endChannels() {
	if !q.mailbox.post(item{event: qmgr.EndChannels{}}) {
		return
	}
	timer := time.NewTimer(channelsWithin)
	defer timer.Stop()
	select {
	case <-q.quiet:
	case <-timer.C:
		q.say("AMQ9542W", "Some channels did not end in time: a partner does not answer.")
	case <-q.actorDone:
	}
}

// leaveOut lets go of those who wait for events that the actor did not get to.
func (q *QueueManager) leaveOut() {
	for {
		left := q.mailbox.take(nil)
		for _, it := range left {
			if it.after != nil {
				it.after()
			}
		}
		if len(left) == 0 {
			return
		}
	}
}

// say writes a line of the shell's own to the error log.
func (q *QueueManager) say(id, format string, args ...any) {
	q.errorLog.one(qmgr.LogEntry{ID: id, Text: fmt.Sprintf(format, args...)})
}
