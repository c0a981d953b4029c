package repository

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/object"
)

// Prefix begins every key that the repository writes.
const Prefix = "cluster/"

const (
	prefixRecord  = Prefix + "rec/"
	prefixAsk     = Prefix + "ask/"
	prefixSub     = Prefix + "sub/"
	prefixSent    = Prefix + "sent/"
	prefixSuspend = Prefix + "suspend/"
)

func keyAsk(k askKey) string { return prefixAsk + k.cluster + separator + k.name }

func keySub(k askKey, qmid string) string {
	return prefixSub + k.cluster + separator + k.name + separator + qmid
}

// storeRecord is the record's stored form: as it travels, but with the moment
// of its end, since it is read by the same clock.
func storeRecord(rec *Record, now time.Time) []byte {
	return rec.append(wire.AppendInt(nil, rec.Expires.UnixMilli()), now)
}

func storeAsk(k askKey, a *ask) Stored {
	b := wire.AppendBool(nil, a.answered)
	b = wire.AppendBool(b, a.used)
	b = wire.AppendInt(b, a.renewAt.UnixMilli())
	return Stored{keyAsk(k), wire.AppendInt(b, a.expires.UnixMilli())}
}

func storeSub(k askKey, qmid string, until time.Time) Stored {
	return Stored{keySub(k, qmid), wire.AppendInt(nil, until.UnixMilli())}
}

// Restore takes back one stored record. False: not one of the repository's.
func (r *Repository) Restore(key string, value []byte) (bool, error) {
	var err error
	switch {
	case strings.HasPrefix(key, prefixRecord):
		err = r.restoreRecord(value)
	case strings.HasPrefix(key, prefixAsk):
		err = r.restoreAsk(key[len(prefixAsk):], value)
	case strings.HasPrefix(key, prefixSub):
		err = r.restoreSub(key[len(prefixSub):], value)
	case strings.HasPrefix(key, prefixSent):
		cluster, channel, _ := strings.Cut(key[len(prefixSent):], separator)
		r.sent[sentKey{cluster, channel}] = string(value)
	case strings.HasPrefix(key, prefixSuspend):
		r.suspend[key[len(prefixSuspend):]] = true
	default:
		return false, nil
	}
	if err != nil {
		return true, fmt.Errorf("repository: record %s: %w", key, err)
	}
	return true, nil
}

func (r *Repository) restoreRecord(value []byte) error {
	rd := wire.NewReader(value)
	expires := time.UnixMilli(rd.Int())
	rec, err := readRecord(rd, expires)
	if err != nil {
		return err
	}
	rec.Expires = expires
	r.hold(rec)
	return rd.Done()
}

func (r *Repository) restoreAsk(key string, value []byte) error {
	cluster, name, _ := strings.Cut(key, separator)
	rd := wire.NewReader(value)
	a := &ask{answered: rd.Bool(), used: rd.Bool(), renewAt: time.UnixMilli(rd.Int()), expires: time.UnixMilli(rd.Int())}
	if object.CheckQueueName(name) != nil {
		return rd.Done() // from a time when any name was asked for
	}
	r.asks[askKey{cluster, name}] = a
	r.sweepAt = earliest(r.sweepAt, a.renewAt)
	return rd.Done()
}

func (r *Repository) restoreSub(key string, value []byte) error {
	cluster, rest, _ := strings.Cut(key, separator)
	name, qmid, _ := strings.Cut(rest, separator)
	rd := wire.NewReader(value)
	until := time.UnixMilli(rd.Int())
	k := askKey{cluster, name}
	if r.subs[k] == nil {
		r.subs[k] = map[string]time.Time{}
	}
	r.subs[k][qmid] = until
	r.sweepAt = earliest(r.sweepAt, until)
	return rd.Done()
}

// Begin settles, after everything is restored, what this queue manager owns,
// without publishing what has not changed since.
func (r *Repository) Begin(m Membership) {
	r.setMembership(m)
}

// ChannelObject is the definition of the cluster-sender channel that a
// CLUSRCVR makes: the same attributes, looked at from the other end. SSLPEER is
// not among them: there it says which callers are let in.
func ChannelObject(rec *Record) *object.Object {
	o := object.New(object.ClusSdr, rec.Name)
	for _, a := range object.Attrs(object.ClusSdr) {
		if a.Key || a.Live || a.Keyword == "SSLPEER" || !rec.Object.Has(a.Keyword) || rec.Object.IsDefault(a.Keyword) {
			continue
		}
		key, values, bare := rec.Object.Field(a.Keyword)
		if bare {
			values = nil
		}
		// What a CLUSRCVR holds a CLUSSDR takes.
		_ = o.SetFixed(key, values...)
	}
	return o
}
