package actions

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/situations"
)

// duo is a cluster of two queue managers with one instance each, both with a
// daemon. A change is known at the other one after a while.
type duo struct {
	t     testing.TB
	delay time.Duration // propagation

	mu      sync.Mutex
	rng     *rand.Rand
	sides   [2]*side
	alone   time.Time // since when nobody is available, zero if somebody is
	longest time.Duration
	both    int
}

// side is one of them.
type side struct {
	d      *duo
	n      int
	engine *Engine
	// suspend: its rule suspends the queue manager, instead of PUT(DISABLED) on the queue.
	suspend bool
	put     []version // of the own instance, newest last; a suspended one is disabled here
	seen    *situations.Observation
	store   *memStore
	stop    context.CancelFunc
	ended   chan error
}

type version struct {
	at  time.Time
	put string
}

var duoNames = [2]string{"QM2", "QM3"}

func (s *side) value() string { return s.put[len(s.put)-1].put }

// heard is what the other side knows of this one.
func (s *side) heard(now time.Time) string {
	value := s.put[0].put
	for _, v := range s.put {
		if !v.at.Add(s.d.delay).After(now) {
			value = v.put
		}
	}
	return value
}

// upTo is a random time below most.
func (d *duo) upTo(most time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	return time.Duration(d.rng.Int64N(int64(most)))
}

// Set changes the own instance after a moment.
func (s *side) Set(_ context.Context, _, _ string, values []Value) error {
	time.Sleep(s.d.upTo(20 * time.Millisecond))
	d := s.d
	d.mu.Lock()
	defer d.mu.Unlock()
	now := time.Now()
	value := values[0].Value
	if s.suspend {
		value = map[string]string{situations.Yes: disabled, situations.No: enabled}[value]
	}
	s.put = append(s.put, version{now, value})
	down := d.sides[0].value() == disabled && d.sides[1].value() == disabled
	switch {
	case down:
		d.alone = now
		d.both++
	case !d.alone.IsZero():
		d.longest = max(d.longest, now.Sub(d.alone))
		d.alone = time.Time{}
	}
	return nil
}

func (s *side) ReadBack(context.Context, string, string, []string) ([]Value, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.suspend {
		return []Value{{suspendIn("C1"), s.suspended()}}, nil
	}
	return []Value{{attrPut, s.value()}}, nil
}

// item is what the rule acts on.
func (s *side) item() string {
	if s.suspend {
		return situations.GroupQMgr.Item(duoNames[s.n])
	}
	return queueName
}

// suspended is SUSPEND of a side whose rule suspends.
func (s *side) suspended() string {
	if s.value() == disabled {
		return situations.Yes
	}
	return situations.No
}

// putValue is PUT of the own instance: suspending leaves it as it is.
func (s *side) putValue() string {
	if s.suspend {
		return enabled
	}
	return s.value()
}

// action is what the rule does.
func (s *side) action() situations.Action {
	if s.suspend {
		return situations.Action{Verb: situations.VerbSuspend}
	}
	return put(disabled)
}

// Look reads what the other daemon shows, after a moment.
func (s *side) Look(ctx context.Context, queue string) (PeerLook, error) {
	select {
	case <-time.After(s.d.upTo(30 * time.Millisecond)):
	case <-ctx.Done():
		return PeerLook{}, errors.New("nothing came")
	}
	other := s.d.sides[1-s.n]
	look := PeerLook{Intents: other.engine.Publishing()}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if other.seen != nil {
		env := other.seen.Rows[0].Env.(situations.Attributes)
		look.Instances = []PeerInstance{{QMgr: duoNames[other.n], QMID: duoNames[other.n], Put: env.PUT == enabled}}
	}
	return look, nil
}

func (s *side) sample() {
	d := s.d
	d.mu.Lock()
	now := time.Now()
	row := situations.Row{
		Queue: queueName, Base: queueName, Type: "QLOCAL", Clusters: []string{"C1"}, InstancesKnown: true,
		Env: situations.Attributes{QUEUE: queueName, QMGR: duoNames[s.n], CLUSTER: "C1", PUT: s.putValue(), CLWLUSEQ: "ANY", TRIGGER: "NO"},
	}
	for i, other := range d.sides {
		value := other.value()
		if i != s.n {
			value = other.heard(now)
		}
		row.Instances = append(row.Instances, situations.Instance{
			QMgr: duoNames[i], QMID: duoNames[i], Cluster: "C1", Local: i == s.n, Put: value == enabled || other.suspend,
			Suspended: other.suspend && value == disabled, Reachable: true,
		})
	}
	obs := &situations.Observation{
		QMgr: duoNames[s.n], QMID: duoNames[s.n], At: now, Complete: true, Repository: true, Rows: []situations.Row{row},
	}
	if s.suspend {
		row := situations.Row{Queue: s.item(), Clusters: []string{"C1"}, Env: situations.QMgrAttributes{QMGR: duoNames[s.n], SUSPEND: s.suspended()}}
		if s.value() == disabled {
			row.Suspended = row.Clusters
		}
		obs.Others = []situations.Row{row}
	}
	s.seen = obs
	d.mu.Unlock()
	s.engine.Observe(obs)
}

func newDuo(t testing.TB, rng *rand.Rand, peers bool) *duo {
	d := &duo{t: t, rng: rng, delay: time.Duration(1+rng.IntN(400)) * time.Millisecond}
	for n := range d.sides {
		s := &side{d: d, n: n, suspend: rng.IntN(2) == 1, put: []version{{time.Now().Add(-time.Hour), enabled}}, store: newMemStore(), ended: make(chan error, 1)}
		d.sides[n] = s
		opt := Options{QMgr: duoNames[n], Manager: s, Journal: &memJournal{}, Store: s.store}
		if peers {
			opt.Peers = s
		}
		var err error
		if s.engine, err = New(opt); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// live runs both daemons for so many intervals; the readers of both instances
// die in the same millisecond. Each samples at moments of its own.
func (d *duo) live(interval time.Duration, intervals int) {
	var wait sync.WaitGroup
	for _, s := range d.sides {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		go func() { s.ended <- s.engine.Run(ctx) }()
		phase := d.upTo(interval)
		wait.Go(func() {
			time.Sleep(phase)
			in := situations.Intent{
				ID: duoNames[s.n] + "/1", Edge: situations.EdgeOpen, At: time.Now(), Interval: interval, Actions: []situations.Action{s.action()},
				Key: situations.Key{Situation: "D", QMgr: duoNames[s.n], Queue: s.item()},
			}
			s.store.add(in)
			s.engine.Dispatch(ctx, []situations.Intent{in})
			for range intervals {
				s.sample()
				time.Sleep(interval)
			}
		})
	}
	wait.Wait()
	for _, s := range d.sides {
		s.stop()
		if err := <-s.ended; err != nil {
			d.t.Error(err)
		}
	}
}

const (
	duoRounds   = 200
	duoInterval = time.Second
)

// TestTwoDaemons_WithPeers_NeverBothLower: 200 times, with sampling, network and
// changes at every moment of one another; one lowers the queue, or suspends its
// queue manager, which takes the same instance away.
func TestTwoDaemons_WithPeers_NeverBothLower(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lowered := 0
		for seed := range uint64(duoRounds) {
			d := newDuo(t, rand.New(rand.NewPCG(seed, 1)), true)
			d.live(duoInterval, 8)
			if d.both > 0 {
				t.Errorf("round %d: both were lowered %d times", seed, d.both)
			}
			for _, s := range d.sides {
				if s.value() == disabled {
					lowered++
				}
			}
		}
		if lowered != duoRounds {
			t.Errorf("%d rounds, and %d instances lowered; want one in each", duoRounds, lowered)
		}
		t.Logf("%d rounds: never both, always one", duoRounds)
	})
}

// TestTwoDaemons_WithoutPeers_OneRaises: both may be lowered for one propagation
// and two samples, then exactly one raises.
func TestTwoDaemons_WithoutPeers_OneRaises(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		together, longest := 0, time.Duration(0)
		for seed := range uint64(duoRounds) {
			d := newDuo(t, rand.New(rand.NewPCG(seed, 2)), false)
			d.live(duoInterval, 12)
			const changing = 40 * time.Millisecond // two changes take so long
			if most := d.delay + 2*duoInterval + changing; d.longest > most {
				t.Errorf("round %d: nobody was available for %s, a propagation takes %s", seed, d.longest, d.delay)
			}
			up := 0
			for _, s := range d.sides {
				if s.value() == enabled {
					up++
				}
			}
			if up != 1 {
				t.Errorf("round %d: %d instances are up in the end, want one", seed, up)
			}
			if d.both > 1 {
				t.Errorf("round %d: both were lowered %d times", seed, d.both)
			}
			together += min(d.both, 1)
			longest = max(longest, d.longest)
		}
		if together == 0 {
			t.Error("in no round both were lowered: this shows nothing")
		}
		t.Logf("%d rounds, both lowered in %d of them, the longest window %s", duoRounds, together, longest)
	})
}
