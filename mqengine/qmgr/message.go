package qmgr

import (
	"github.com/situationd/situationd/mqengine/mqi"
)

// bindType says when the destination of a message is chosen.
type bindType uint8

// The kinds of binding. bindAsQDef appears only in requests to resolve.
const (
	bindAsQDef bindType = iota
	bindOnOpen
	bindNotFixed
	bindOnGroup
)

// msgState says who may have a message.
type msgState uint8

const (
	// msgFree: in no queue, just made or just taken.
	msgFree msgState = iota
	// msgAvailable: on its queue and committed.
	msgAvailable
	// msgPut: on its queue, but its put is not committed.
	msgPut
	// msgGot: on its queue, but got by a unit of work, or in doubt on a channel.
	msgGot
	// msgLocked: on its queue and committed, but a browsing handle has locked it.
	msgLocked
)

// message is one message. What the machine knows of its body is a reference.
//
// The first group of fields travels in the header and survives; the second is
// where the message is now.
type message struct {
	md        mqi.MD // Expiry is worked out from expiresAt when the message is given away
	props     []mqi.Property
	body      BodyRef
	bind      bindType // how it was put; bindNotFixed for everything that may be resolved again
	addressed bool     // the putter named a queue manager
	origin    string   // QMID of the queue manager where it was put first
	expiresAt int64    // Unix milliseconds, 0 for never
	arrived   int64    // Unix milliseconds: when it came to this queue
	lane      uint8    // priority in force on its queue, which MSGDLVSQ(FIFO) makes DEFPRTY
	// The transmission header (MQXQH): set on a transmission queue and on its way.
	targetQ    string
	targetQMgr string // blank: the receiver resolves again
	channel    string // the cluster sender that takes it; MQ has it in the outer CorrelId
	hops       uint8  // channels passed
	// fromCluster: came in over a cluster channel.
	fromCluster bool
	// head is what the machine wrote itself: it is in front of the body.
	head []byte
	// payload is an internal command of the cluster, carried in the header; such a message has no body.
	payload []byte
	// dead is the dead-letter header (MQDLH); nil for every other message.
	dead *deadLetter

	queue      *queue // nil: on no queue
	seq        uint64 // position in the queue and key in the store
	state      msgState
	unit       *unitOfWork // whose it is in msgPut and msgGot; nil in msgGot: a channel's
	stored     bool        // its header is in the store, or in the unit being made
	bodyStored bool        // its body is in the store, or in the unit being made
	links      indexLinks
}

// deadLetter is what MQDLH keeps: where the message should have gone and why it did not.
type deadLetter struct {
	reason   mqi.Reason
	destQ    string
	destQMgr string
	putBy    string // the queue manager that put it there
	at       int64  // Unix milliseconds
}

// persistent reports whether the message survives a restart.
func (msg *message) persistent() bool { return msg.md.Persistence == mqi.MQPER_PERSISTENT }

// expired reports whether the message's life is over at now, in Unix milliseconds.
func (msg *message) expired(now int64) bool { return msg.expiresAt != 0 && msg.expiresAt <= now }

// available reports whether a getter could have the message.
func (msg *message) available() bool { return msg.state == msgAvailable }
