package channel

import "time"

// Effects is what a Sender or Receiver wants done by a Step, in this order:
// positions and record into one unit of the store, then the frames, then the
// end of the link. With Sync nothing may leave before that unit is durable.
type Effects struct {
	Dial   string // ask for a link to this address; LinkUp or LinkDown answers
	Frames []*Frame
	Close  bool // end the link after the frames
	Record []byte
	Sync   bool
	// Removed are positions on the transmission queue whose messages arrived;
	// Released are positions that are free again (RESOLVE, or stopped before sending).
	Removed, Released []uint64
	Dropped           []BodyRef // receiver: bodies of messages that had arrived before
	// Failed: the channel went into trouble just now; what waits for it may go another way.
	Failed bool
	Log    []Log
}

// Log is a line for the error log.
type Log struct{ ID, Text string }

// Reset empties the effects and keeps their memory.
func (fx *Effects) Reset() {
	clear(fx.Frames)
	*fx = Effects{
		Frames: fx.Frames[:0], Removed: fx.Removed[:0], Released: fx.Released[:0],
		Dropped: fx.Dropped[:0], Log: fx.Log[:0],
	}
}

func (fx *Effects) log(id, text string) { fx.Log = append(fx.Log, Log{id, text}) }

// Event is something that happens to a channel.
type Event interface{ channelEvent() }

// The events of a Sender, and those of a Receiver that are named so.
type (
	// Start is START CHANNEL, and the restart of one that was running.
	Start struct{}
	// Wake: a message for the channel is on the transmission queue. It triggers an inactive channel.
	Wake struct{}
	// Kick: the partner was seen alive; a channel in retry tries at once.
	Kick struct{}
	// LinkUp and LinkDown tell of the link that was dialled (Receiver: LinkDown only).
	LinkUp struct{}
	// LinkDown tells that there is no link any more.
	LinkDown struct {
		Reason string
		ID     string // the AMQ message of the reason; blank for AMQ9999E
	}
	// FrameIn is a frame from the other end (also Receiver).
	FrameIn struct{ Frame *Frame }
	// Renew: the certificates changed. The channel ends its batches and connects again.
	Renew struct{}
	// Stop is STOP CHANNEL. Force ends the link without waiting for
	// confirmations; Inactive leaves the channel startable by a message. Keep: the
	// queue manager ends, and its restart goes on with the channel (also Receiver).
	Stop struct{ Force, Inactive, Keep bool }
	// Tick lets deadlines pass (also Receiver).
	Tick struct{}
)

func (Start) channelEvent()    {}
func (Wake) channelEvent()     {}
func (Kick) channelEvent()     {}
func (LinkUp) channelEvent()   {}
func (LinkDown) channelEvent() {}
func (FrameIn) channelEvent()  {}
func (Renew) channelEvent()    {}
func (Stop) channelEvent()     {}
func (Tick) channelEvent()     {}

// earliest is the earlier of two deadlines, of which zero means none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// due reports whether a deadline has come.
func due(at, now time.Time) bool { return !at.IsZero() && !now.Before(at) }

// silence is how long nothing may be heard of a partner that heartbeats every
// hb: twice that, or one minute more for long intervals, as MQ waits.
func silence(hb time.Duration) time.Duration {
	if hb < time.Minute {
		return 2 * hb
	}
	return hb + time.Minute
}
