package channel

import "github.com/situationd/situationd/mqengine/store"

// LinkID numbers a network link for the life of the process.
type LinkID uint64

// BodyRef is a message body as the cores see it: a number and a length in
// bytes. The shell holds the bytes.
type BodyRef struct {
	ID  store.BodyID
	Len int
}

// Message is one message in a batch: the encoded header (qmgr's business) and its body.
type Message struct {
	Seq        uint64 // channel sequence number; 0 for a fast nonpersistent message
	Persistent bool
	Header     []byte
	Body       BodyRef
}

// FrameKind says what a frame is.
type FrameKind byte

// The frames of a channel. A link starts with Hello and its answer.
const (
	FrameHello     FrameKind = iota + 1 // sender: who I am, which channel
	FrameAccept                         // receiver: welcome, last committed sequence
	FrameRefuse                         // receiver: no, with the reason
	FrameBatch                          // sender: messages with ascending sequence numbers
	FrameConfirm                        // receiver: everything up to Seq is committed
	FrameHeartbeat                      // either side; must be answered by HeartbeatAck
	FrameHeartbeatAck
	FrameClose // either side: orderly end with the reason
	// FrameQuiesce: the receiver wants to end. The sender finishes what is under way and closes. From version 2.
	FrameQuiesce
)

// Frame is one frame between two queue managers.
type Frame struct {
	Kind     FrameKind
	Version  int // Hello, Accept
	Channel  string
	Type     string // Hello: CLUSSDR or SDR
	QMgr     string // Hello, Accept: the sender of the frame
	QMID     string
	Seq      uint64 // Accept, Confirm: last committed; Hello: the next to be sent
	Batch    uint64 // Batch: its number on this link, from 1; Confirm: the last batch dealt with
	Reset    bool   // Hello: take Seq as the next one whatever is recorded (RESET CHANNEL)
	Ping     bool   // Hello: PING CHANNEL; the receiver answers and changes nothing
	HBInt    int    // seconds; Hello proposes, Accept settles
	MaxMsgL  int
	BatchSz  int    // Accept: BATCHSZ of the receiver, 0 if it does not say; from version 2
	Reason   string // Refuse, Close, Quiesce: a sentence
	Code     int    // Refuse, Close, Quiesce: 0 if another attempt may do at once
	Messages []Message
}
