package repository

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/object"
)

// RecordKind says what a record describes.
type RecordKind byte

// The kinds of records.
const (
	QueueRecord RecordKind = 'q' // one instance of a cluster queue
	QMgrRecord  RecordKind = 'm' // one CLUSRCVR of a queue manager in one cluster
)

// The lifetimes of MQ (manual topic "Repository lifetime"): an owner publishes
// again after 27 days, a record that is not renewed is not handed out after
// 30 days, and forgotten 60 days later.
const (
	RenewAfter  = 27 * 24 * time.Hour
	Lifetime    = 30 * 24 * time.Hour
	GraceAfter  = 60 * 24 * time.Hour
	tombstoneOf = Lifetime
)

// Record is one published object. A record is replaced, never changed.
type Record struct {
	Kind      RecordKind
	Cluster   string
	QMID      string
	QMgr      string
	Name      string // queue, or channel (CLUSRCVR)
	Seq       uint64 // ascending per publisher; the higher one wins
	Deleted   bool   // a tombstone, so that late arrivals stay deleted
	Forced    bool   // a tombstone that the owner did not make: of RESET CLUSTER, or because its channel is gone
	Full      bool   // QMgrRecord: QMTYPE(REPOS)
	Suspended bool   // QMgrRecord
	Published int64  // Unix milliseconds: CLUSDATE and CLUSTIME
	Expires   time.Time
	Object    *object.Object // the advertised attributes; nil in a tombstone
	Workload  Workload       // of Object, ready for use
	// wasFull: the record before it was of a full repository, so everybody has that one. Not stored.
	wasFull bool
}

// Workload is what routing looks at with each message.
type Workload struct {
	Put                                 bool // queue
	Rank, Priority, Weight, NetPriority int  // weight and network priority: channel
	DefBind                             string
	DefPriority                         int
	DefPersistent                       bool
}

func workloadOf(o *object.Object) Workload {
	w := Workload{Rank: o.Int("CLWLRANK"), Priority: o.Int("CLWLPRTY")}
	if o.Kind() == object.ClusRcvr {
		w.Weight, w.NetPriority = o.Int("CLWLWGHT"), o.Int("NETPRTY")
		return w
	}
	w.Put, w.DefBind = o.Str("PUT") == "ENABLED", o.Str("DEFBIND")
	w.DefPriority, w.DefPersistent = o.Int("DEFPRTY"), o.Str("DEFPSIST") == "YES"
	return w
}

// supersedes reports whether a record takes the place of one that is known.
// Who removes what is not its own uses the owner's number, so that whatever the
// owner publishes next wins.
func (r *Record) supersedes(old *Record) bool {
	return old == nil || r.Seq > old.Seq || r.Seq == old.Seq && r.Forced && !old.Forced
}

// contradicts reports whether its owner has given two versions of a record one
// number: after it was restored from a backup, with a clock that is behind what
// it published before, it counts the same numbers once more.
func (r *Record) contradicts(old *Record) bool {
	if r.Seq != old.Seq || r.Forced || old.Forced {
		return false
	}
	return r.Deleted != old.Deleted || r.Full != old.Full || r.Suspended != old.Suspended || !r.Deleted && !r.Object.Equal(old.Object)
}

type recordKey struct {
	kind                RecordKind
	cluster, name, qmid string
}

func (r *Record) key() recordKey { return recordKey{r.Kind, r.Cluster, r.Name, r.QMID} }

// Type is CLUSQT for a queue record: QLOCAL, QALIAS, QREMOTE, or QMGR for a queue manager alias.
func (r *Record) Type() string {
	if r.Object == nil {
		return ""
	}
	if r.QMgrAlias() {
		return "QMGR"
	}
	return r.Object.Kind().String()
}

// QMgrAlias reports whether the record advertises a queue manager's name, not a queue.
func (r *Record) QMgrAlias() bool {
	return r.Kind == QueueRecord && r.Object != nil && r.Object.Kind() == object.QRemote && r.Object.Str("RNAME") == ""
}

// live reports whether the record may be handed out and routed to.
func (r *Record) live(now time.Time) bool { return !r.Deleted && now.Before(r.Expires) }

const separator = "|" // not allowed in any name

func (k recordKey) stored() string {
	return prefixRecord + strings.Join([]string{string(rune(k.kind)), k.cluster, k.name, k.qmid}, separator)
}

// append writes the record; what is left of its life at now travels, not the
// moment of its end: clocks of queue managers differ.
func (r *Record) append(b []byte, now time.Time) []byte {
	b = append(b, byte(r.Kind))
	for _, s := range []string{r.Cluster, r.QMID, r.QMgr, r.Name} {
		b = wire.AppendString(b, s)
	}
	b = wire.AppendUint(b, r.Seq)
	b = append(b, r.removal())
	b = wire.AppendBool(b, r.Full)
	b = wire.AppendBool(b, r.Suspended)
	b = wire.AppendInt(b, r.Published)
	b = wire.AppendUint(b, uint64(max(0, r.Expires.Sub(now)/time.Second)))
	var attrs []byte
	if r.Object != nil {
		// An encoding of checked values does not fail.
		attrs, _ = r.Object.AppendBinary(nil)
	}
	return wire.AppendBytes(b, attrs)
}

// How a record says whether it is a tombstone, and whose.
const (
	notRemoved byte = iota
	removedByOwner
	removedByForce
)

func (r *Record) removal() byte {
	switch {
	case r.Forced:
		return removedByForce
	case r.Deleted:
		return removedByOwner
	}
	return notRemoved
}

const maxName = 64 // names and QMIDs are at most 48; TEMPQMGR names are never sent

func readRecord(r *wire.Reader, now time.Time) (*Record, error) {
	rec := &Record{Kind: RecordKind(r.Byte())}
	for _, to := range []*string{&rec.Cluster, &rec.QMID, &rec.QMgr, &rec.Name} {
		b := r.Bytes()
		if len(b) > maxName {
			return nil, fmt.Errorf("repository: name of %d bytes", len(b))
		}
		*to = string(b)
	}
	rec.Seq = r.Uint()
	removal := r.Byte()
	if removal > removedByForce {
		return nil, fmt.Errorf("repository: removal of kind %d", removal)
	}
	rec.Deleted, rec.Forced = removal != notRemoved, removal == removedByForce
	rec.Full, rec.Suspended = r.Bool(), r.Bool()
	rec.Published = r.Int()
	life := time.Duration(min(r.Uint(), uint64(Lifetime/time.Second))) * time.Second
	rec.Expires = now.Add(life)
	attrs := r.Bytes()
	if r.Err() != nil {
		return nil, r.Err()
	}
	return rec, rec.finish(attrs)
}

// finish checks a record that came from outside.
func (r *Record) finish(attrs []byte) error {
	if r.Kind != QueueRecord && r.Kind != QMgrRecord {
		return fmt.Errorf("repository: record of kind %d", r.Kind)
	}
	if err := r.checkNames(); err != nil {
		return fmt.Errorf("repository: record: %w", err)
	}
	if r.Deleted {
		return nil
	}
	o, err := object.Decode(attrs)
	if err != nil {
		return fmt.Errorf("repository: %s %s: %w", r.QMgr, r.Name, err)
	}
	k := o.Kind()
	if r.Kind == QMgrRecord && k != object.ClusRcvr || r.Kind == QueueRecord && k != object.QLocal && k != object.QAlias && k != object.QRemote {
		return fmt.Errorf("repository: %s %s cannot be a %s", r.QMgr, r.Name, k)
	}
	if k == object.ClusRcvr && o.Str("CONNAME") == "" {
		return fmt.Errorf("repository: %s %s has no CONNAME", r.QMgr, r.Name)
	}
	o.Name = r.Name
	r.Object = o
	return nil
}

// checkNames looks at the names that others say: they are shown to people, are
// parts of keys in the store, and route messages.
func (r *Record) checkNames() error {
	kind := object.QLocal
	if r.Kind == QMgrRecord {
		kind = object.ClusRcvr
	}
	for _, err := range []error{
		object.CheckQueueName(r.Cluster), object.CheckQMID(r.QMID), object.CheckQueueName(r.QMgr), object.CheckName(kind, r.Name),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// advertised is the part of a definition that the cluster learns.
func advertised(o *object.Object, cluster string) *object.Object {
	out := object.New(o.Kind(), o.Name)
	for _, a := range object.Attrs(o.Kind()) {
		if !a.Cluster || a.Key || a.Live || o.IsDefault(a.Keyword) {
			continue
		}
		key, values, bare := o.Field(a.Keyword)
		if bare {
			values = nil
		}
		// Values of a sound object are sound.
		_ = out.SetFixed(key, values...)
	}
	if o.Kind() == object.QRemote {
		// The names say whether it is an alias of a queue manager.
		_ = out.SetFixed("RNAME", o.Str("RNAME"))
		_ = out.SetFixed("RQMNAME", o.Str("RQMNAME"))
	}
	_ = out.SetFixed("CLUSTER", cluster)
	return out
}

// sameWorkload reports whether two versions of a record mean the same to routing.
func sameWorkload(a, b *Record) bool {
	if a == nil || b == nil || a.Deleted != b.Deleted || a.Full != b.Full || a.Suspended != b.Suspended {
		return false
	}
	if a.Deleted {
		return true
	}
	if a.Object.Kind() != b.Object.Kind() || a.Workload != b.Workload {
		return false
	}
	return a.Kind == QueueRecord || a.Object.Str("CONNAME") == b.Object.Str("CONNAME")
}
