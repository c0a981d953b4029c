package enginetest

import (
	"container/heap"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"time"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// eventsMax ends a run that never comes to rest.
const eventsMax = 3_000_000

// epoch is when every run begins.
var epoch = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Counts say how much of what can happen did happen in a run.
type Counts struct {
	Events, Turns, Frames                                          int
	Puts, Gets, Nonpersistent                                      int
	Crashes, CrashesInRelease, UnitsLost                           int
	Cuts, Stalls, InDoubt, InDoubtCommitted, InDoubtResent         int
	Reallocations, Moves, Inhibits, DeadLettered, UnknownPuts      int
	UnknownGets, Backouts, Alters, LostNonpersistent, OrderChecked int
	Suspensions, Refreshes, Resets, Leaves, Definitions            int
	OneWayCuts, Splits, Losses, SlowLinks, SlowDisks               int
	DiskFull, ClockJumps, Months                                   int
	Units, UnitsUnknown, Groups, Expired, Bound, Addressed         int
	Tombstones, TombstonesUsed, Choices, ChoicesInhibited          int
	Visits, PriorityChecked                                        int
}

// sim is one run.
type sim struct {
	cfg    config
	rng    *rand.Rand
	now    time.Time
	begin  time.Time
	events eventQueue
	seq    uint64
	nodes  []*node
	net    network
	ledger ledger

	clusters []*cluster
	queues   []*clusterQueue
	removed  []membership // by RESET CLUSTER
	stopped  map[stoppedChannel]bool
	commands map[string]*mqsc.Command
	records  tombstones

	lastSession int

	apps    []*app
	counts  Counts
	calm    bool // no more faults, no more puts
	sampled bool // somebody samples queues
	aging   bool // a month goes by: nobody starts channels
	trace   hash.Hash64
	text    io.Writer // nil: no text
	failure []string
	broken  sabotage
}

// event is something that is due. Events of the same instant happen in the order
// in which they were planned.
type event struct {
	at  time.Time
	seq uint64
	do  func()
}

type eventQueue []event

func (q eventQueue) Len() int { return len(q) }
func (q eventQueue) Less(i, j int) bool {
	if q[i].at.Equal(q[j].at) {
		return q[i].seq < q[j].seq
	}
	return q[i].at.Before(q[j].at)
}
func (q eventQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *eventQueue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *eventQueue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = event{}
	*q = old[:len(old)-1]
	return e
}

// at plans something; the past is now.
func (s *sim) at(when time.Time, do func()) {
	if when.Before(s.now) {
		when = s.now
	}
	s.seq++
	heap.Push(&s.events, event{when, s.seq, do})
}

func (s *sim) after(d time.Duration, do func()) { s.at(s.now.Add(d), do) }

// runUntil lets events happen until the time has come or done says so.
func (s *sim) runUntil(end time.Time, done func() bool) {
	for len(s.failure) == 0 && len(s.events) > 0 && !s.events[0].at.After(end) {
		if done != nil && done() {
			return
		}
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		if s.counts.Events++; s.counts.Events > eventsMax {
			s.fail("the cluster never comes to rest: %d events", eventsMax)
			return
		}
		e.do()
	}
	if len(s.failure) == 0 && s.now.Before(end) && (done == nil || !done()) {
		s.now = end
	}
}

// fail notes what did not hold. The run ends.
func (s *sim) fail(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	s.failure = append(s.failure, line)
	if s.text != nil {
		s.printf("FAILED %s", line)
	}
}

// note adds one event or effect to the trace.
func (s *sim) note(n *node, kind string, numbers ...uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(s.now.UnixNano()))
	_, _ = s.trace.Write(b[:])
	if n != nil {
		_, _ = io.WriteString(s.trace, n.name)
	}
	_, _ = io.WriteString(s.trace, kind)
	for _, v := range numbers {
		binary.BigEndian.PutUint64(b[:], v)
		_, _ = s.trace.Write(b[:])
	}
}

// noteBytes adds contents to the trace.
func (s *sim) noteBytes(b []byte)    { _, _ = s.trace.Write(b) }
func (s *sim) noteText(texts string) { _, _ = io.WriteString(s.trace, texts) }

// printf writes a line for a person.
func (s *sim) printf(format string, args ...any) {
	if s.text != nil {
		fmt.Fprintf(s.text, "%12.6f %s\n", s.now.Sub(s.begin).Seconds(), fmt.Sprintf(format, args...))
	}
}

// between draws a time.
func (s *sim) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(s.rng.Int64N(int64(high-low)))
}

// chance is true with probability p.
func (s *sim) chance(p float64) bool { return p > 0 && s.rng.Float64() < p }

func newSim(seed uint64, text io.Writer, broken sabotage) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 0x51747561)), now: epoch, begin: epoch, trace: fnv.New64a(), text: text, broken: broken}
	s.stopped, s.commands, s.records = map[stoppedChannel]bool{}, map[string]*mqsc.Command{}, tombstones{}
	s.cfg = drawConfig(s.rng)
	if broken != (sabotage{}) {
		// What is broken is found in a small cluster too.
		s.cfg.members, s.cfg.ages = min(s.cfg.members, 4), false
	}
	s.net.init(s)
	s.ledger.init(s)
	return s
}
