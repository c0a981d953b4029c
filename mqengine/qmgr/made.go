package qmgr

import (
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Bounds of messages that the queue manager puts itself.
const (
	// maxMade is how many wait to be put. What comes on top is not made: one step
	// brings about a few for each message that it handles, which are bounded too.
	maxMade = 100_000
	// While the full repositories have not said where a reply-to queue is, its
	// report is tried again.
	reportRetry   = time.Second
	reportRetries = 10
)

// made is a message that the queue manager itself puts at the end of a step: a
// report, a trigger message, an event. It becomes durable with the step.
type made struct {
	msg     *message
	q, qmgr string
	// letter: what cannot be put goes to the dead-letter queue.
	letter bool
	tries  int
}

// makings are the messages to be put, and those that wait for the repository.
type makings struct {
	timer timer
	now   []made
	held  []made
	lost  int // messages of this step that were too many
}

// roomToMake reports whether the step may make one more message.
func (m *Machine) roomToMake() bool {
	if len(m.making.now) < maxMade {
		return true
	}
	m.making.lost++
	return false
}

// putLater has a message put at the end of the step.
func (m *Machine) putLater(x made) { m.making.now = append(m.making.now, x) }

// putMade puts what the step made. A message that is put can bring about
// others: events and triggers, never reports, so that there is an end.
func (m *Machine) putMade(now time.Time, fx *Effects) {
	for i := 0; i < len(m.making.now); i++ {
		m.putOne(now, fx, m.making.now[i])
	}
	clear(m.making.now)
	m.making.now = m.making.now[:0]
	if m.making.lost > 0 {
		logf(fx, "AMQ7234W", "%d reports, trigger messages and events were not made: one unit of work brought about more than %d.", m.making.lost, maxMade)
		m.making.lost = 0
	}
	if len(m.making.held) > 0 && m.making.timer.pos == 0 {
		m.making.timer.what = &m.making
		m.timers.set(&m.making.timer, now.Add(reportRetry).UnixNano())
	}
}

// timeout tries again what waits for the repository.
func (k *makings) timeout(m *Machine, _ time.Time, _ *Effects) {
	// At most maxWaiters are held, so that they need no asking for room.
	for _, x := range k.held {
		m.putLater(x)
	}
	clear(k.held)
	k.held = k.held[:0]
}

func (m *Machine) putOne(now time.Time, fx *Effects, x made) {
	last := x.tries >= reportRetries || len(m.making.held) >= maxWaiters
	d, reason := m.resolveOutput(resolving{now: now, fx: fx, last: last}, x.q, x.qmgr, bindAsQDef)
	if reason == reasonWait {
		x.tries++
		m.making.held = append(m.making.held, x)
		return
	}
	if reason == mqi.MQRC_NONE {
		reason = m.putMadeTo(now, fx, &d, x.msg)
	}
	if reason == mqi.MQRC_NONE {
		return
	}
	if x.letter {
		x.msg.targetQ, x.msg.targetQMgr, x.msg.channel = x.q, x.qmgr, ""
		if x.msg.md.Report&mqi.MQRO_DISCARD_MSG == 0 && m.deadLetter(now, fx, x.msg, reason) == mqi.MQRC_NONE {
			return
		}
	}
	fx.dropBody(x.msg.body)
	logf(fx, "AMQ7234W", "A message that the queue manager made (format '%s', feedback %d) could not be put to queue '%s' at '%s', reason %s. It is lost.",
		x.msg.md.Format, x.msg.md.Feedback, x.q, x.qmgr, reason)
}

func (m *Machine) putMadeTo(now time.Time, fx *Effects, d *destination, msg *message) mqi.Reason {
	_ = m.complete(&msg.md, d, 0) // a priority that was lowered warns nobody here
	msg.bind, msg.addressed = d.bind, d.addressed
	to, reason := m.target(resolving{now: now, fx: fx}, d, &msg.md)
	if reason != mqi.MQRC_NONE {
		return reason
	}
	q := to.Queue
	if to.Status == routeTransmit {
		q = to.XmitQ
		msg.address(&to, d.bind)
	}
	return m.putMessage(now, fx, nil, q, msg)
}

// ownMessage is a message with the queue manager's own context.
func (m *Machine) ownMessage(now time.Time, format string) *message {
	msg := &message{md: mqi.NewMD(), origin: m.qmid}
	msg.md.Format = format
	msg.md.Encoding, msg.md.CodedCharSetId = nativeEncoding, nativeCCSID
	msg.md.MsgId = m.ids.next()
	msg.md.PutApplType, msg.md.PutApplName, msg.md.PutDateTime = applTypeQMgr, m.putName(), now.UnixMilli()
	return msg
}

// putName is the queue manager's name as a PutApplName.
func (m *Machine) putName() string { return m.name[:min(len(m.name), maxPutApplName)] }
