package qmgr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/repository"
)

// channelPrefix begins the keys of the records of channels: "s/NAME" for a
// sender, "r/NAME|QMID" for what a receiver has of one partner, "stop/NAME" for a receiver stopped by command.
const channelPrefix = "channel/"

// channels is every channel that runs, waits or has something in doubt.
type channels struct {
	senders   map[string]*sender
	receivers map[receiverKey]*receiver
	links     map[LinkID]linkUser
	backlogs  map[backlogKey]*backlog
	records   map[string][]byte // by key without prefix
	stopped   map[string]bool   // receiving channels stopped by command
	lastLink  LinkID
	quiescing bool // the queue manager ends: what runs finishes, nothing begins
	dirty     []*sender
	reroute   []*backlog // of channels that failed just now: what waits may go another way
	rerouting bool       // what comes back to a transmission queue meanwhile has no other way
}

type receiverKey struct{ channel, qmid string }

func (c *channels) init() {
	c.senders, c.receivers = map[string]*sender{}, map[receiverKey]*receiver{}
	c.links, c.backlogs = map[LinkID]linkUser{}, map[backlogKey]*backlog{}
	c.records, c.stopped = map[string][]byte{}, map[string]bool{}
}

// linkUser is who gets the events of a link.
type linkUser interface {
	linkUp(m *Machine, now time.Time, fx *Effects, ev LinkUp)
	linkFrame(m *Machine, now time.Time, fx *Effects, f *channel.Frame)
	linkDown(m *Machine, now time.Time, fx *Effects, ev LinkDown)
}

// channelEvent gets the Link events.
func (m *Machine) channelEvent(now time.Time, fx *Effects, ev Event) {
	if m.cluster.repo == nil {
		return
	}
	ch := &m.cluster.channels
	switch ev := ev.(type) {
	case LinkAccepted:
		ch.links[ev.Link] = &receiver{link: ev.Link, remote: ev.Remote, local: ev.Local, security: ev.Security, since: now}
		m.cluster.deadlineKnown = false
	case LinkUp:
		if u := ch.links[ev.Link]; u != nil {
			u.linkUp(m, now, fx, ev)
		} else {
			fx.Closes = append(fx.Closes, ev.Link)
		}
	case LinkFrame:
		if u := ch.links[ev.Link]; u != nil {
			u.linkFrame(m, now, fx, ev.Frame)
			return
		}
		for i := range ev.Frame.Messages {
			fx.dropBody(ev.Frame.Messages[i].Body)
		}
	case LinkDown:
		if u := ch.links[ev.Link]; u != nil {
			delete(ch.links, ev.Link)
			u.linkDown(m, now, fx, ev)
		}
	}
}

func (fx *Effects) dropBody(b BodyRef) {
	if b.ID != 0 {
		fx.Drop = append(fx.Drop, b.ID)
	}
}

// setRecord keeps a record of a channel in the store and in memory.
func (m *Machine) setRecord(fx *Effects, key string, value []byte) {
	m.cluster.channels.records[key] = value
	fx.Unit.SetRecord(channelPrefix+key, value)
}

func (m *Machine) deleteRecord(fx *Effects, key string) {
	if _, ok := m.cluster.channels.records[key]; ok {
		delete(m.cluster.channels.records, key)
		fx.Unit.DeleteRecord(channelPrefix + key)
	}
}

// restoreChannels finds the messages that wait for channels, and makes the
// senders that had messages in doubt or were not idle.
func (m *Machine) restoreChannels(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	for key := range ch.records {
		if name, ok := strings.CutPrefix(key, "stop/"); ok {
			ch.stopped[name] = true
		}
	}
	for _, q := range m.catalog.sortedQueues() {
		if q.attr.xmit {
			for msg := q.next(headOfQueue); msg != nil; msg = q.next(msg.position()) {
				m.backlogOf(q, msg.channel).add(msg)
			}
		}
	}
	for _, key := range sortedStrings(ch.records) {
		if name, ok := strings.CutPrefix(key, "s/"); ok {
			m.senderNamed(now, fx, name)
		}
	}
}

// restartChannels starts again what was running when the queue manager ended, and what has messages.
func (m *Machine) restartChannels(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		if s := ch.senders[name]; s.machine.WasActive() && !s.forgotten {
			m.runSender(now, fx, s, channel.Start{})
		}
	}
	for _, k := range sortedBacklogs(ch.backlogs) {
		if b := ch.backlogs[k]; k.channel != "" && b.ready() {
			m.wake(now, fx, k.channel)
		}
	}
	m.initiatePending(now, fx)
}

func sortedStrings[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// messageAvailable is told when a message became visible on a queue with USAGE(XMITQ).
func (m *Machine) messageAvailable(now time.Time, fx *Effects, q *queue, msg *message) {
	if m.cluster.repo == nil {
		return
	}
	b := m.backlogOf(q, msg.channel)
	b.add(msg)
	if msg.channel != "" {
		if !m.wake(now, fx, msg.channel) && !m.cluster.channels.rerouting {
			// Its channel was forgotten between the put and its commit.
			m.rerouteLater(b)
		}
		return
	}
	for _, name := range sortedStrings(m.cluster.channels.senders) {
		if s := m.cluster.channels.senders[name]; s.queue == q && s.def.Kind() == object.Sender && s.linked() {
			m.markDirty(s)
		}
	}
}

// wake starts a cluster sender for which a message waits, at the end of this
// Step; false if nothing defines it.
func (m *Machine) wake(now time.Time, fx *Effects, name string) bool {
	s := m.senderNamed(now, fx, name)
	if s != nil && !m.cluster.channels.quiescing {
		m.markDirty(s)
	}
	return s != nil
}

func (m *Machine) markDirty(s *sender) {
	if !s.dirty {
		s.dirty = true
		m.cluster.channels.dirty = append(m.cluster.channels.dirty, s)
	}
	m.cluster.later()
}

func (m *Machine) runDirty(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	list := ch.dirty
	ch.dirty = nil
	for _, s := range list {
		kicked := s.kicked
		s.dirty, s.kicked = false, false
		switch {
		case s.forgotten:
		case kicked && !s.linked():
			m.runSender(now, fx, s, channel.Kick{})
		default:
			m.runSender(now, fx, s, channel.Wake{})
		}
	}
}

// channelDeadline is the earliest deadline of any channel.
func (m *Machine) channelDeadline() (at time.Time) {
	ch := &m.cluster.channels
	for _, s := range ch.senders {
		at = earlier(at, s.machine.NextDeadline())
	}
	for _, r := range ch.receivers {
		at = earlier(at, r.machine.NextDeadline())
	}
	for _, u := range ch.links {
		if r, ok := u.(*receiver); ok && r.machine == nil {
			at = earlier(at, r.since.Add(helloWithin))
		}
	}
	return at
}

// channelTick lets the deadlines of channels pass.
func (m *Machine) channelTick(now time.Time, fx *Effects) {
	ch := &m.cluster.channels
	for _, name := range sortedStrings(ch.senders) {
		if s := ch.senders[name]; s != nil && passed(s.machine.NextDeadline(), now) {
			m.runSender(now, fx, s, channel.Tick{})
		}
	}
	for _, k := range sortedReceivers(ch.receivers) {
		if r := ch.receivers[k]; r != nil && passed(r.machine.NextDeadline(), now) {
			m.runReceiver(now, fx, r, channel.Tick{})
		}
	}
	for _, id := range silentLinks(ch.links, now) {
		fx.Closes = append(fx.Closes, id)
		delete(ch.links, id)
	}
}

// silentLinks are inbound links that did not say hello in time.
func silentLinks(links map[LinkID]linkUser, now time.Time) (ids []LinkID) {
	for id, u := range links {
		if r, ok := u.(*receiver); ok && r.machine == nil && now.Sub(r.since) >= helloWithin {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func passed(at, now time.Time) bool { return !at.IsZero() && !at.After(now) }

func sortedReceivers(m map[receiverKey]*receiver) []receiverKey {
	keys := make([]receiverKey, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b receiverKey) int {
		return cmp.Or(cmp.Compare(a.channel, b.channel), cmp.Compare(a.qmid, b.qmid))
	})
	return keys
}

// senderStatus is the state of the channel to another queue manager, as the workload algorithm sees it.
func (m *Machine) senderStatus(name string) mqi.ChannelStatus {
	if s := m.cluster.channels.senders[name]; s != nil {
		return s.machine.Status()
	}
	return mqi.MQCHS_INACTIVE
}

// senderDefinition is what the channel of that name is made from: the
// CLUSRCVR that the cluster knows, else the CLUSSDR or SDR definition; nil if there is none.
func (m *Machine) senderDefinition(now time.Time, name string) (def *object.Object, deftype string) {
	manual := m.objectNamed(object.ClusSdr, name)
	rec := m.cluster.repo.Channel(now, name)
	switch {
	case rec != nil && manual != nil:
		def = repository.ChannelObject(rec)
		// Whom to expect at the other end is for this end to say.
		if err := def.Set("SSLPEER", manual.Str("SSLPEER")); err != nil {
			panic(err) // a value that the manual definition has
		}
		return def, "CLUSSDRB"
	case rec != nil:
		return repository.ChannelObject(rec), "CLUSSDRA"
	case manual != nil:
		return manual, "CLUSSDR"
	}
	return m.objectNamed(object.Sender, name), ""
}

func logf(fx *Effects, id, format string, args ...any) {
	fx.Log = append(fx.Log, LogEntry{ID: id, Text: fmt.Sprintf(format, args...)})
}
