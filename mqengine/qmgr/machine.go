package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/workload"
)

// Config is what a queue manager is made of besides its records.
type Config struct {
	Name string
	// QMID may be blank: the records say it.
	QMID  string
	Order workload.Order
	// IDSeed is where the counter in message ids begins; it must differ between
	// starts. 0 takes StartTime in nanoseconds.
	IDSeed    uint64
	StartTime time.Time
	// ConnName is where other queue managers reach this one, host(port), for a CLUSRCVR without CONNAME.
	ConnName string
	// MaxConns limits connections; 0 for 10,000.
	MaxConns int
	// ExpiryInterval is how often expired messages are looked for; 0 for five minutes, as in MQ.
	ExpiryInterval time.Duration
}

// Machine is one queue manager.
type Machine struct {
	cfg  Config
	name string
	qmid string
}

// New makes a queue manager without any object. Restore its records and messages, then Start it.
func New(cfg Config) *Machine { return &Machine{cfg: cfg, name: cfg.Name, qmid: cfg.QMID} }

// RestoreRecord takes back one record of the store.
func (m *Machine) RestoreRecord(key string, value []byte) error { return nil }

// RestoreMessage takes back one message header of the store.
func (m *Machine) RestoreMessage(queue uint32, seq uint64, header []byte) error { return nil }

// Start begins work after everything is restored.
func (m *Machine) Start(now time.Time, fx *Effects) {}

// Step takes one event.
func (m *Machine) Step(now time.Time, ev Event, fx *Effects) {}

// NextDeadline is when a Tick is due; zero for never.
func (m *Machine) NextDeadline() time.Time { return m.clusterDeadline() }

// QueueStatus is what a shell samples of one queue.
type QueueStatus struct {
	Number     uint32
	Name       string
	Type       string // QLOCAL, QALIAS
	Base       string // alias: TARGET
	Attributes *QueueAttributes
	Counts     QueueCounts
}

// Status is the present state of the queue with that number: a local queue, or
// a clustered alias with the counts of its base; false if there is none (any more).
func (m *Machine) Status(number uint32) (QueueStatus, bool) { return QueueStatus{}, false }

// Create writes the records of a new queue manager: its own object, the system objects.
func Create(now time.Time, name, qmid string, fx *Effects) error { return nil }

// localQueue is the local queue (QLOCAL) of that name, or nil.
func (m *Machine) localQueue(name string) *queue { return nil }

// putMessage puts a message on a local queue: under unit, or at once if unit is nil.
// The queue's limits are checked; the message's descriptor must be complete.
func (m *Machine) putMessage(now time.Time, fx *Effects, unit *unitOfWork, q *queue, msg *message) mqi.Reason {
	return mqi.MQRC_NONE
}

// lockMessage reserves an available message for a channel (in doubt); it counts
// as an uncommitted get. False: somebody else has it, or it is gone.
func (m *Machine) lockMessage(fx *Effects, q *queue, msg *message) bool { return false }

// unlockMessage gives a locked message back to its place.
func (m *Machine) unlockMessage(now time.Time, fx *Effects, q *queue, msg *message) {}

// removeMessage ends a message (available or locked): header and body go. It
// does not ask for a sync: what may not come back after a crash is the caller's to say.
func (m *Machine) removeMessage(fx *Effects, q *queue, msg *message) {}

// takeMessage takes a message (available or locked) off its queue and keeps its
// body, so that it can be put elsewhere in the same unit.
func (m *Machine) takeMessage(fx *Effects, q *queue, msg *message) {}

// rewriteMessage writes a message's header again after its transmission fields changed.
func (m *Machine) rewriteMessage(fx *Effects, q *queue, msg *message) {}

// deliver puts a message that came in over a channel to where it goes: targetQ
// and targetQMgr say it. On failure nothing has happened and the reason says
// why; deadLetter is the next step.
func (m *Machine) deliver(now time.Time, fx *Effects, msg *message) mqi.Reason { return mqi.MQRC_NONE }

// deadLetter puts an undeliverable message to the dead-letter queue with its
// MQDLH. A failure means that there is none that takes it.
func (m *Machine) deadLetter(now time.Time, fx *Effects, msg *message, why mqi.Reason) mqi.Reason {
	return mqi.MQRC_NONE
}

// resumeOpens tries again the calls that wait for the repository to know queueName.
func (m *Machine) resumeOpens(now time.Time, fx *Effects, queueName string) {}

// transmissionHeader is the message's header for a channel: its expiry is what remains at now.
func transmissionHeader(now time.Time, msg *message) []byte { return nil }

// receivedMessage is the message that a transmission header and a numbered body make.
func receivedMessage(now time.Time, header []byte, body BodyRef) (*message, error) { return nil, nil }

// internalMessage is a command of the cluster as a persistent or nonpersistent message for targetQ at targetQMgr.
func (m *Machine) internalMessage(now time.Time, payload []byte, persistent bool) *message { return nil }

// objectNamed finds an object; nil if there is none. Queues of all kinds share
// one name space, and so do channels of all kinds.
func (m *Machine) objectNamed(kind object.Kind, name string) *object.Object { return nil }

// objectsOf gives the objects of one kind in the order of their names.
func (m *Machine) objectsOf(kind object.Kind) []*object.Object { return nil }

// qmgrObject is the definition of the queue manager itself.
func (m *Machine) qmgrObject() *object.Object { return nil }
