package qmgr

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/store"
)

// Keys of records. Records of the cluster and of channels begin with
// "cluster/" and "channel/" and are read by clusterRecord.
const (
	objectPrefix  = "object/"
	qmgrKey       = objectPrefix + "qmgr"
	recordVersion = 1
)

// objectKey is the key of an object's record.
func objectKey(o *object.Object) string {
	if o.Kind() == object.QMgr {
		return qmgrKey
	}
	return objectPrefix + spaceWords[spaceOf(o.Kind())] + "/" + o.Name
}

// objectRecord is an object's record: version, the queue's number (0 for other objects), the definition.
func objectRecord(o *object.Object, number uint32) ([]byte, error) {
	b := wire.AppendUint([]byte{recordVersion}, uint64(number))
	b, err := o.AppendBinary(b)
	if err != nil {
		return nil, fmt.Errorf("record of %s %s: %w", o.Kind(), o.Name, err)
	}
	return b, nil
}

// saveObject writes an object's record; a definition that was answered survives.
// An object that cannot be encoded never got past the language, hence the panic.
func saveObject(fx *Effects, o *object.Object, number uint32) {
	b, err := objectRecord(o, number)
	if err != nil {
		panic(err)
	}
	fx.Unit.SetRecord(objectKey(o), b)
	fx.Unit.Sync = true
}

// restoring is what a start has read so far. Headers may come before the queue
// that they belong to.
type restoring struct {
	queues map[uint32]*queue
}

// queue is the queue of that number, perhaps without its definition yet.
func (r *restoring) queue(number uint32) *queue {
	q := r.queues[number]
	if q == nil {
		q = &queue{number: number}
		r.queues[number] = q
	}
	return q
}

var errStarted = errors.New("queue manager: restored after its start")

// RestoreRecord takes back one record of the store.
func (m *Machine) RestoreRecord(key string, value []byte) error {
	if m.restore == nil {
		return errStarted
	}
	if !strings.HasPrefix(key, objectPrefix) {
		if !m.restoreListener(key) && !m.clusterRecord(key, value) {
			return fmt.Errorf("record %s: unknown kind of record: a newer release wrote it", key)
		}
		return nil
	}
	if err := m.restoreObject(value); err != nil {
		return fmt.Errorf("record %s: %w", key, err)
	}
	return nil
}

func (m *Machine) restoreObject(value []byte) error {
	r := wire.NewReader(value)
	if v := r.Byte(); r.Err() == nil && v != recordVersion {
		return fmt.Errorf("format version %d is not known here: a newer release wrote it", v)
	}
	number := r.Uint()
	if r.Err() != nil || number > 1<<32-1 {
		return errors.New("damaged: no queue number")
	}
	o, err := object.Decode(r.Rest())
	if err != nil {
		return err
	}
	switch {
	case o.Kind() == object.QMgr:
		if o.Name != m.name {
			// A folder that was copied or renamed: two queue managers of one QMID would take each other's messages.
			return fmt.Errorf("these are the data of queue manager %s, not of %s", o.Name, m.name)
		}
		m.setQMgr(o)
	case o.Kind().IsQueue():
		if number == 0 || m.catalog.queues[o.Name] != nil || m.catalog.byNumber[uint32(number)] != nil {
			return fmt.Errorf("damaged: number %d of %s is used twice or missing", number, o.Name)
		}
		q := m.restore.queue(uint32(number))
		q.name, q.def = o.Name, o
		m.catalog.add(q)
	default:
		m.catalog.others[spaceOf(o.Kind())][o.Name] = o
	}
	return nil
}

// RestoreMessage takes back one message header of the store, and tells which
// body it names. Headers of one queue come in the order of seq.
func (m *Machine) RestoreMessage(queue uint32, seq uint64, header []byte) (store.BodyID, error) {
	if m.restore == nil {
		return 0, errStarted
	}
	msg, err := decodeHeader(header, &m.words)
	if err != nil {
		return 0, fmt.Errorf("message %d of queue number %d: %w", seq, queue, err)
	}
	msg.seq, msg.state = seq, msgAvailable
	msg.stored, msg.bodyStored = true, msg.body.ID != 0
	m.seq = max(m.seq, seq)
	q := m.restore.queue(queue)
	m.insert(q, msg)
	q.depth++
	return msg.body.ID, nil
}

// Visitor gives the machine what a store loads.
func (m *Machine) Visitor() store.Visitor { return visitor{m} }

type visitor struct{ m *Machine }

func (v visitor) Record(key string, value []byte) error { return v.m.RestoreRecord(key, value) }

func (v visitor) Message(queue uint32, seq uint64, header []byte) (store.BodyID, error) {
	return v.m.RestoreMessage(queue, seq, header)
}

// Start begins work after everything is restored: every queue is reported as
// touched, and channels for which messages wait are woken.
func (m *Machine) Start(now time.Time, fx *Effects) {
	seed := m.cfg.IDSeed
	if seed == 0 {
		seed = uint64(m.cfg.StartTime.UnixNano())
	}
	m.ids = newIDSource(m.name, m.qmid, seed)
	// Positions never come again, also not after a restart with empty queues: a
	// cursor that a client kept does not mean messages that came later.
	if started := m.cfg.StartTime.UnixMilli(); started > 0 {
		m.seq = max(m.seq, uint64(started)<<seqBits)
	}
	m.dropOrphans(fx)
	m.restore = nil
	queues := m.catalog.sortedQueues()
	for _, q := range queues {
		q.attr = attributesOf(q.def, m.catalog.names)
		q.events, q.stats = q.attr.events, perfmStats{since: now.UnixMilli(), high: q.depth}
	}
	for _, q := range queues {
		m.linkAlias(q)
		m.touch(fx, q)
	}
	m.expiry.timer.what = &m.expiry
	m.timers.set(&m.expiry.timer, now.Add(m.cfg.ExpiryInterval).UnixNano())
	m.startListeners(now, fx)
	if folder := m.qmgrObject().Str("SSLKEYR"); folder != "" {
		fx.Keys = append(fx.Keys, KeyChange{Folder: folder})
	}
	m.clusterStart(now, fx) // finds what waits on transmission queues
	m.putMade(now, fx)
}

// seqBits leaves room for a million positions a millisecond.
const seqBits = 20

// dropOrphans reports headers of queues that have no definition. They stay in
// the store: whoever finds out why can still read them.
func (m *Machine) dropOrphans(fx *Effects) {
	orphans, messages := 0, 0
	for _, q := range m.restore.queues {
		if q.def == nil {
			orphans++
			messages += q.live()
		}
	}
	if orphans > 0 {
		fx.Log = append(fx.Log, LogEntry{"AMQ7472W", fmt.Sprintf(
			"%d messages belong to %d queues that have no definition. They are kept in the store and cannot be got.", messages, orphans)})
	}
}

// Create writes the records of a new queue manager: its own object and the system objects.
func Create(now time.Time, name, qmid string, fx *Effects) error {
	if err := object.CheckQueueName(name); err != nil {
		return fmt.Errorf("queue manager %s: %w", name, err)
	}
	_, err := NewSalvage().found(now, name, qmid, fx)
	return err
}
