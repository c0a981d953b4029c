package qmgr

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/repository"
)

// unsentCommand is a command of the repository that the transmission queue did
// not take: it is full, inhibits puts, or is not there. It is in the store until
// it is on the queue, for the repository believes that it was sent: what is lost
// here would be missed until the record is published again, for up to 27 days. Of
// those for which there is no room it is kept which clusters they were about:
// there everything is told again once these here are on the queue.
type unsentCommand struct {
	number uint64 // in the order in which they are to be sent
	repository.Send
}

// unsentPrefix begins the keys of these records. A release that does not know
// them passes them over.
const unsentPrefix = repository.Prefix + "unsent/"

// lostPrefix begins the keys of clusters in which a command was lost.
const lostPrefix = repository.Prefix + "lost/"

const (
	// retryUnsent is how soon a command is tried again that the transmission queue refused.
	retryUnsent = time.Second
	// unsentMax and unsentBytes are how many commands may wait, and how long all of
	// them may be: a queue that nobody enables again must not cost ever more.
	unsentMax   = 4096
	unsentBytes = 64 << 20
	// unsentBatch is how many one Step puts, so that calls are served in between.
	unsentBatch = 256
)

func (u *unsentCommand) key() string { return fmt.Sprintf("%s%016x", unsentPrefix, u.number) }

func (u *unsentCommand) record() []byte {
	b := []byte{recordVersion}
	for _, s := range []string{u.Cluster, u.Channel, u.QMgr} {
		b = wire.AppendString(b, s)
	}
	return wire.AppendBytes(b, u.Payload)
}

// restoreUnsent takes back one that waited when the last life ended.
func (m *Machine) restoreUnsent(r restored) error {
	number, err := strconv.ParseUint(strings.TrimPrefix(r.key, unsentPrefix), 16, 64)
	if err != nil {
		return fmt.Errorf("record %s: %w", r.key, err)
	}
	u, rd := unsentCommand{number: number}, wire.NewReader(r.value)
	if v := rd.Byte(); rd.Err() == nil && v != recordVersion {
		return fmt.Errorf("record %s: format version %d is not known here", r.key, v)
	}
	u.Cluster, u.Channel, u.QMgr = rd.String(), rd.String(), rd.String()
	u.Payload = rd.Bytes()
	if err := rd.Done(); err != nil {
		return fmt.Errorf("record %s: %w", r.key, err)
	}
	c := &m.cluster
	at, _ := slices.BinarySearchFunc(c.unsent, number, func(u unsentCommand, n uint64) int { return cmp.Compare(u.number, n) })
	c.unsent = slices.Insert(c.unsent, at, u)
	c.unsentSize += len(u.Payload)
	return nil
}

// sendCommand puts a command of the repository on the transmission queue. What
// cannot be put now is kept, in order: nothing overtakes it.
func (m *Machine) sendCommand(now time.Time, fx *Effects, s repository.Send) {
	c := &m.cluster
	u := unsentCommand{number: 1, Send: s}
	if n := len(c.unsent); n > 0 {
		u.number = c.unsent[n-1].number + 1
	} else {
		if m.putCommand(now, fx, s) {
			return
		}
		c.unsentAt = now.Add(retryUnsent)
		fx.Log = append(fx.Log, LogEntry{ID: "AMQ9511E", Text: "Messages cannot be put to queue '" + sharedTransmitQ + "': repository commands wait until they can."})
	}
	if len(c.unsent) >= unsentMax || c.unsentSize+len(s.Payload) > unsentBytes {
		m.loseCommand(fx, s.Cluster)
		return
	}
	c.unsent = append(c.unsent, u)
	c.unsentSize += len(s.Payload)
	fx.Unit.SetRecord(u.key(), u.record())
	c.deadlineKnown = false
}

func (m *Machine) putCommand(now time.Time, fx *Effects, s repository.Send) bool {
	q := m.localQueue(sharedTransmitQ)
	if q == nil {
		return false
	}
	msg := m.internalMessage(now, s.Payload)
	msg.channel, msg.targetQ, msg.targetQMgr = s.Channel, commandQueue, s.QMgr
	return m.putMessage(now, fx, nil, q, msg) == 0
}

// loseCommand notes that a command of a cluster was lost.
func (m *Machine) loseCommand(fx *Effects, cluster string) {
	c := &m.cluster
	if c.lost[cluster] {
		return
	}
	c.lost[cluster] = true
	fx.Unit.SetRecord(lostPrefix+cluster, []byte{recordVersion})
	fx.Log = append(fx.Log, LogEntry{ID: "AMQ9511E", Text: "Messages cannot be put to queue '" + sharedTransmitQ +
		"': no more repository commands can wait. Everything is told again in cluster '" + cluster + "' once they can be put."})
}

// sendUnsent tries the commands that wait, and where some were lost has the
// repository tell everything again.
func (m *Machine) sendUnsent(now time.Time, fx *Effects) {
	c := &m.cluster
	if len(c.unsent) == 0 && len(c.lost) == 0 || now.Before(c.unsentAt) {
		return
	}
	n := 0
	for n < min(len(c.unsent), unsentBatch) && m.putCommand(now, fx, c.unsent[n].Send) {
		fx.Unit.DeleteRecord(c.unsent[n].key())
		c.unsentSize -= len(c.unsent[n].Payload)
		n++
	}
	c.unsent = slices.Delete(c.unsent, 0, n)
	switch {
	case n == unsentBatch:
		c.unsentAt = now
	case len(c.unsent) > 0:
		c.unsentAt = now.Add(retryUnsent)
	default:
		m.tellLost(now, fx)
	}
}

// tellLost tells everything again in the clusters in which a command was lost.
func (m *Machine) tellLost(now time.Time, fx *Effects) {
	lost := slices.Sorted(maps.Keys(m.cluster.lost))
	clear(m.cluster.lost)
	for _, cluster := range lost {
		fx.Unit.DeleteRecord(lostPrefix + cluster)
		m.withRepository(now, fx, func(rx *repository.Effects) { m.cluster.repo.TellAgain(now, cluster, rx) })
	}
}
