package qmgr

import (
	"math"
	"math/bits"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// maxPriority is MAXPRTY, which MQ does not let anyone change.
const maxPriority = 9

// queue is a queue object of this queue manager, of any kind. Only QLOCAL has
// messages and handles; the others use name, number, def and attr.
type queue struct {
	name   string
	number uint32         // stable for the life of the queue
	def    *object.Object // immutable: ALTER makes a new one
	attr   *queueAttr     // def, ready for use

	lanes       *[maxPriority + 1]lane // nil until the first message
	nonEmpty    uint16                 // bit p: lane p has messages
	depth       int                    // CURDEPTH: uncommitted puts count, uncommitted gets do not
	uncommitted int                    // puts and gets not committed
	expiring    int                    // messages that have an expiry
	arrived     uint64                 // messages that came here since the start
	expired     uint64                 // messages that expired here since the start
	bytes       int64                  // of all bodies
	index       *matchIndex            // nil until a get by id meets a deep queue
	groups      groupIndex             // nil until somebody asks for groups
	waiters     []*waiter              // gets that wait, in order of arrival

	handles         []*handle // every handle open on the queue, in order of opening
	inputs, outputs int
	exclusive       bool     // the one input handle is exclusive
	readers, ownOut []Reader // immutable; made again when a handle comes or goes

	lastGet, lastPut   int64 // Unix milliseconds
	shortTime, longOne int64 // QTIME: moving averages in microseconds

	triggered int64       // Unix milliseconds: when a trigger message was made last
	events    depthEvents // which depth events are on now
	stats     perfmStats

	aliases []*queue // clustered aliases whose TARGET this is; their samples carry these counts
	deleted bool
}

// position is a place in the order of delivery: higher lanes first, then by seq.
type position struct {
	lane int
	seq  uint64
}

var headOfQueue = position{lane: maxPriority}

// live is the number of messages on the queue, whatever their state.
func (q *queue) live() int {
	n := 0
	for mask := q.nonEmpty; mask != 0; mask &= mask - 1 {
		n += q.lanes[bits.TrailingZeros16(mask)].live
	}
	return n
}

// next is the first message behind p in delivery order, in any state.
func (q *queue) next(p position) *message { return q.nextUntil(p, math.MaxUint64) }

// nextUntil is next among the messages that came no later than the horizon.
func (q *queue) nextUntil(p position, horizon uint64) *message {
	for lane, seq := p.lane, p.seq; lane >= 0; lane, seq = lane-1, 0 {
		if q.nonEmpty&(1<<lane) == 0 {
			continue
		}
		if msg := q.lanes[lane].after(seq); msg != nil && msg.seq <= horizon {
			return msg
		}
	}
	return nil
}

// at is the message at p; nil if it is gone.
func (q *queue) at(p position) *message {
	if p.seq == 0 || q.nonEmpty&(1<<p.lane) == 0 {
		return nil
	}
	if msg := q.lanes[p.lane].after(p.seq - 1); msg != nil && msg.seq == p.seq {
		return msg
	}
	return nil
}

// firstAvailable is the message that a get without conditions takes.
func (q *queue) firstAvailable() *message {
	for mask := q.nonEmpty; mask != 0; {
		lane := bits.Len16(mask) - 1
		if msg := q.lanes[lane].firstAvailable(); msg != nil {
			return msg
		}
		mask &^= 1 << lane
	}
	return nil
}

func (msg *message) position() position { return position{int(msg.lane), msg.seq} }

// laneFor is the lane in which a new message of that priority queues.
func (q *queue) laneFor(priority int32) uint8 {
	if q.attr.fifo {
		priority = q.attr.defPriority
	}
	return uint8(min(max(priority, 0), maxPriority))
}

// insert puts a message at the end of its lane; seq and lane are set.
func (m *Machine) insert(q *queue, msg *message) {
	if q.lanes == nil {
		q.lanes = new([maxPriority + 1]lane)
	}
	msg.queue = q
	q.lanes[msg.lane].push(&m.chunks, msg)
	q.nonEmpty |= 1 << msg.lane
	q.bytes += int64(msg.body.Len)
	if msg.expiresAt != 0 {
		q.expiring++
	}
	if q.index != nil {
		q.index.add(msg)
	}
	if q.groups != nil {
		q.groups.add(msg)
	}
}

// extract takes a message out of its queue's lane. Counts are the caller's.
func (m *Machine) extract(q *queue, msg *message) {
	if q.index != nil {
		q.index.remove(msg)
	}
	if q.groups != nil {
		q.groups.remove(msg)
	}
	l := &q.lanes[msg.lane]
	l.remove(&m.chunks, msg)
	if l.live == 0 {
		q.nonEmpty &^= 1 << msg.lane
		if q.nonEmpty == 0 {
			q.index, q.groups = nil, nil
		}
	}
	q.bytes -= int64(msg.body.Len)
	if msg.expiresAt != 0 {
		q.expiring--
	}
	msg.queue = nil
}

// oldest is the time at which the oldest message came to the queue, 0 if it is empty.
func (q *queue) oldest() int64 {
	var oldest int64
	for mask := q.nonEmpty; mask != 0; mask &= mask - 1 {
		l := &q.lanes[bits.TrailingZeros16(mask)]
		if at := l.chunks[0].entries[l.first].msg.arrived; oldest == 0 || at < oldest {
			oldest = at
		}
	}
	return oldest
}

// touch tells the shell that the queue's status changed.
func (m *Machine) touch(fx *Effects, q *queue) {
	if n := len(fx.Touched); n == 0 || fx.Touched[n-1] != q.number {
		fx.Touched = append(fx.Touched, q.number)
	}
	for _, alias := range q.aliases {
		fx.Touched = append(fx.Touched, alias.number)
	}
}

// got notes the time of a get for the monitoring attributes.
func (q *queue) got(now time.Time, msg *message) {
	q.lastGet = now.UnixMilli()
	stay := max(q.lastGet-msg.arrived, 0) * 1000
	if q.shortTime == 0 && q.longOne == 0 {
		q.shortTime, q.longOne = stay, stay
		return
	}
	q.shortTime += (stay - q.shortTime) / 4
	q.longOne += (stay - q.longOne) / 64
}
