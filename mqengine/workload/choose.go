package workload

import "github.com/situationd/situationd/mqengine/mqi"

// Choose picks the destination of one message, or of all messages of a handle
// that binds on open. It returns the winner's index in cands, or -1 with
// MQRC_CLUSTER_PUT_INHIBITED (every instance that the ranks leave is
// put-disabled) or MQRC_NO_DESTINATIONS_AVAILABLE (no candidates). The
// candidates are those that share a cluster with the choosing queue manager
// and, where a queue was named, with the queue (steps 1 and 2 of the manual);
// who gathers them sees to that. Choose changes nothing: a caller that sends a
// message tells its Counters. A nil trace costs nothing.
func Choose(req *Request, cands []Candidate, trace *Trace) (winner int, reason mqi.Reason) {
	if len(cands) == 0 {
		return -1, mqi.MQRC_NO_DESTINATIONS_AVAILABLE
	}
	c := choice{req: req, cands: cands, trace: trace}
	if len(cands) > setWords*64 {
		c.alive.more = make([]uint64, (len(cands)+63)/64-setWords)
	}
	c.begin()
	if req.Order == V6 {
		winner, reason = c.eligibleV6()
	} else {
		winner, reason = c.eligibleModern()
	}
	if winner < 0 && reason == mqi.MQRC_NONE {
		winner = c.prefer()
	}
	if trace != nil {
		trace.Winner, trace.Reason = winner, reason
	}
	return winner, reason
}

// setWords is how many words of a set need no heap: 512 instances.
const setWords = 8

// set is a set of candidates. The first words lie in the value itself, since a
// slice of them would escape and cost every choice an allocation.
type set struct {
	few  [setWords]uint64
	more []uint64
}

func (s *set) word(i int) *uint64 {
	if w := i >> 6; w < setWords {
		return &s.few[w]
	}
	return &s.more[i>>6-setWords]
}

func (s *set) has(i int) bool { return *s.word(i)&(1<<(i&63)) != 0 }
func (s *set) add(i int)      { *s.word(i) |= 1 << (i & 63) }
func (s *set) remove(i int)   { *s.word(i) &^= 1 << (i & 63) }

// choice is the state of one run: who is still in.
type choice struct {
	req   *Request
	cands []Candidate
	trace *Trace
	alive set
	left  int
	ways  map[string]int // with a trace: how often a queue manager is a candidate
}

func (c *choice) begin() {
	for i := range c.cands {
		c.alive.add(i)
	}
	c.left = len(c.cands)
	if c.trace != nil {
		c.ways = make(map[string]int, len(c.cands))
		for i := range c.cands {
			c.ways[c.cands[i].QMgr]++
		}
	}
	c.note(StepCandidates, c.snapshot(), nil)
}

func (c *choice) in(i int) bool { return c.alive.has(i) }

func (c *choice) drop(i int) {
	c.alive.remove(i)
	c.left--
}

// first is the lowest index still in, -1 if none.
func (c *choice) first() int {
	for i := range c.cands {
		if c.in(i) {
			return i
		}
	}
	return -1
}

// eligibleModern is MQ 8.0 and later: ranks before PUT, both before the local
// instance. So a higher rank elsewhere beats a local queue, and a top-ranked
// put-disabled instance is 2268 though a lower rank is enabled.
func (c *choice) eligibleModern() (int, mqi.Reason) {
	c.keepMax(StepChannelRank, channelRank, false)
	c.keepMax(StepQueueRank, queueRank, true)
	if !c.putEnabled() {
		return -1, mqi.MQRC_CLUSTER_PUT_INHIBITED
	}
	return c.local(), mqi.MQRC_NONE
}

// eligibleV6 is MQ 6.0 to 7.5: put-disabled out first, then the local
// instance, and ranks only among what is left.
func (c *choice) eligibleV6() (int, mqi.Reason) {
	if !c.putEnabled() {
		return -1, mqi.MQRC_CLUSTER_PUT_INHIBITED
	}
	if i := c.local(); i >= 0 {
		return i, mqi.MQRC_NONE
	}
	c.keepMax(StepChannelRank, channelRank, false)
	c.keepMax(StepQueueRank, queueRank, true)
	return -1, mqi.MQRC_NONE
}

// prefer is the part both orders share: among those that may be chosen, who is best.
func (c *choice) prefer() int {
	c.notSuspended()
	c.keepMax(StepChannelStatus, statusGroup, false)
	c.netPriority()
	c.keepMax(StepChannelPriority, channelPrty, false)
	c.keepMax(StepQueuePriority, queuePrty, true)
	c.mostRecentlyUsed()
	return c.leastRecentlyUsed()
}

func channelRank(x *Candidate) int64 { return int64(x.ChlRank) }
func queueRank(x *Candidate) int64   { return int64(x.QRank) }
func channelPrty(x *Candidate) int64 { return int64(x.ChlPrty) }
func queuePrty(x *Candidate) int64   { return int64(x.QPrty) }

// statusGroup gives the four groups of channel states, best highest. The
// local instance needs no channel and is always in the best.
func statusGroup(x *Candidate) int64 {
	if x.Local {
		return 4
	}
	switch x.Status {
	case mqi.MQCHS_INACTIVE, mqi.MQCHS_RUNNING:
		return 4
	case mqi.MQCHS_BINDING, mqi.MQCHS_INITIALIZING, mqi.MQCHS_STARTING, mqi.MQCHS_STOPPING:
		return 3
	case mqi.MQCHS_RETRYING:
		return 2
	default:
		return 1
	}
}

// keepMax drops whoever has less than the highest value. With exempt, queue
// manager aliases neither count nor are dropped: they have no queue attributes.
func (c *choice) keepMax(step StepName, value func(*Candidate) int64, exempt bool) {
	best, worst, seen := int64(0), int64(0), false
	for i := range c.cands {
		if !c.in(i) || exempt && c.cands[i].Alias {
			continue
		}
		v := value(&c.cands[i])
		if !seen {
			best, worst, seen = v, v, true
		}
		best, worst = max(best, v), min(worst, v)
	}
	before := c.snapshot()
	for i := range c.cands {
		if best == worst {
			break // as mostly
		}
		if c.in(i) && !(exempt && c.cands[i].Alias) && value(&c.cands[i]) < best {
			c.drop(i)
		}
	}
	c.note(step, before, value)
}

// putEnabled drops put-disabled instances; false if nobody else is left.
func (c *choice) putEnabled() bool {
	before := c.snapshot()
	for i := range c.cands {
		if x := &c.cands[i]; c.in(i) && !x.Put && !x.Alias {
			c.drop(i)
		}
	}
	c.note(StepPut, before, nil)
	return c.left > 0
}

// local gives the local instance if it is still in and wins over all others:
// CLWLUSEQ is not ANY, or the message came over a cluster channel.
func (c *choice) local() int {
	found := -1
	for i := range c.cands {
		if c.in(i) && c.cands[i].Local {
			found = i
			break
		}
	}
	if found < 0 || c.req.UseAny && !c.req.FromCluster {
		return -1
	}
	before := c.snapshot()
	for i := range c.cands {
		if c.in(i) && i != found {
			c.drop(i)
		}
	}
	c.note(StepLocal, before, nil)
	c.share()
	return found
}

// notSuspended prefers resumed queue managers; suspended ones are used when nothing else is left.
func (c *choice) notSuspended() {
	active, suspended := false, false
	for i := range c.cands {
		if c.in(i) {
			active, suspended = active || !c.cands[i].Suspended, suspended || c.cands[i].Suspended
		}
	}
	before := c.snapshot()
	for i := range c.cands {
		if !active || !suspended {
			break
		}
		if c.in(i) && c.cands[i].Suspended {
			c.drop(i)
		}
	}
	c.note(StepSuspend, before, nil)
}

// netPriority keeps, per queue manager, its channels with the highest NETPRTY.
func (c *choice) netPriority() {
	before := c.snapshot()
	low, high := c.netPriorities()
	for i := range c.cands {
		if low == high {
			break // as nearly always: there is nothing to compare
		}
		if !c.in(i) || c.cands[i].NetPrty == high {
			continue
		}
		for j := range c.cands {
			if c.cands[j].NetPrty > c.cands[i].NetPrty && c.in(j) && c.cands[j].QMID == c.cands[i].QMID {
				c.drop(i)
				break
			}
		}
	}
	c.note(StepNetPriority, before, func(x *Candidate) int64 { return int64(x.NetPrty) })
}

// netPriorities are the lowest and the highest NETPRTY of those who are in.
func (c *choice) netPriorities() (low, high int) {
	first := true
	for i := range c.cands {
		if !c.in(i) {
			continue
		}
		n := c.cands[i].NetPrty
		if first {
			low, high, first = n, n, false
		}
		low, high = min(low, n), max(high, n)
	}
	return low, high
}

// mostRecentlyUsed keeps CLWLMRUC destinations, those with the highest sequence numbers.
func (c *choice) mostRecentlyUsed() {
	if c.req.MRUC <= 0 || c.left <= c.req.MRUC {
		return
	}
	before := c.snapshot()
	for c.left > c.req.MRUC {
		oldest := -1
		for i := range c.cands {
			if c.in(i) && (oldest < 0 || c.cands[i].Seq <= c.cands[oldest].Seq) {
				oldest = i
			}
		}
		c.drop(oldest)
	}
	c.note(StepMRU, before, func(x *Candidate) int64 { return int64(x.Seq) })
}

// leastRecentlyUsed takes the lowest destination sequence factor, then the
// lowest sequence number; equal ones go by name so that a run can be repeated.
func (c *choice) leastRecentlyUsed() int {
	c.share()
	best := c.first()
	for i := best + 1; i < len(c.cands); i++ {
		if c.in(i) && less(&c.cands[i], &c.cands[best]) {
			best = i
		}
	}
	before := c.snapshot()
	for i := range c.cands {
		if c.in(i) && i != best {
			c.drop(i)
		}
	}
	c.note(StepLeastUsed, before, nil)
	return best
}

func less(a, b *Candidate) bool {
	switch {
	case a.Factor != b.Factor:
		return a.Factor < b.Factor
	case a.Seq != b.Seq:
		return a.Seq < b.Seq
	case a.QMgr != b.QMgr:
		return a.QMgr < b.QMgr
	}
	return a.Channel < b.Channel
}
