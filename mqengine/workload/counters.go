package workload

// Counters keeps, per cluster channel, how much was sent through it: the
// factor grows by 1000/CLWLWGHT, exactly to a thousandth, and the number by one with each message. They
// belong to the sending queue manager and are per channel, not per queue, so
// traffic to one queue shifts the balance of another. A restart forgets them.
type Counters struct {
	of   map[counterKey]*counter
	next uint64
}

type counterKey struct{ cluster, channel string }

type counter struct {
	factor int64
	seq    uint64
}

// NewCounters returns empty counters.
func NewCounters() *Counters { return &Counters{of: make(map[counterKey]*counter)} }

// Fill sets the candidate's Factor and Seq.
func (k *Counters) Fill(c *Candidate) {
	if n := k.of[counterKey{c.Cluster, c.Channel}]; n != nil {
		c.Factor, c.Seq = n.factor, n.seq
		return
	}
	c.Factor, c.Seq = 0, 0
}

// Bump counts a message that goes to c.
func (k *Counters) Bump(c *Candidate) {
	key := counterKey{c.Cluster, c.Channel}
	n := k.of[key]
	if n == nil {
		n = new(counter)
		k.of[key] = n
	}
	n.factor += stepOf(c.ChlWght)
	k.next++
	n.seq = k.next
}

// factorUnit is one of the manual's units in ours: 1000 divided by most weights
// leaves a remainder, and what is cut off would shift the shares.
const factorUnit = 1000

// stepOf is what one message adds to the factor of a channel with that CLWLWGHT.
func stepOf(weight int) int64 {
	return 1000 * factorUnit / int64(max(weight, 1))
}

// Reset sets the factors to zero, as a change of workload attributes or a new
// destination does. Sequence numbers stay: they say who was used last.
func (k *Counters) Reset() {
	for _, n := range k.of {
		n.factor = 0
	}
}
