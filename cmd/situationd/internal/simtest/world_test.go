package simtest

import (
	"cmp"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/mqengine/enginetest"
)

// world is one run. Its goroutine, the driver, owns everything but what says that
// it is for others too.
type world struct {
	t       testing.TB
	seed    uint64
	rng     *rand.Rand
	cluster *enginetest.Driven
	hosts   []*host
	shape   shape
	dir     string
	text    io.Writer
	start   time.Time
	counts  counts
	ledger  ledger
	calm    bool // no more faults
	wet     bool // messages are still put

	readers []*reader
	ending  sync.WaitGroup // daemons on their way out
	touched bool           // something reached a daemon since it was last at rest
	written int            // rule files
	looked  time.Time      // see tooSoon

	// For everybody.
	mu           sync.Mutex
	posts        []post
	wake         chan struct{}
	failures     []string
	down         map[way]bool // ways between daemons that do not work
	am           amState
	unknownMoves atomic.Int64 // runs of which an answer was lost
	alerts       int          // that the Alertmanager took
	refused      int          // posts that it did not
	running      map[string]*daemon
	calmDisks    bool
	trace        hash.Hash64 // over what the daemons did, in order
}

// way is from the daemon of one queue manager to that of another.
type way struct{ from, to string }

// post is what a daemon asks of the driver.
type post struct {
	from int
	key  string
	do   func()
}

// host is one machine: a queue manager, and a daemon beside it with its disk.
type host struct {
	w      *world
	number int
	name   string
	m      *enginetest.Member
	rules  string // the rule file
	daemon *daemon
	lives  int
	queues map[string]*instance
	admin  *enginetest.Session
	// linesLost is when lines of the journal may have been lost: with power, or
	// because it could not be written.
	linesLost []time.Time
	taken     []time.Time // budget of the last minute, by the journal
}

func newWorld(t testing.TB, seed uint64, dir string, text io.Writer) *world {
	w := &world{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 0x6461656d)), dir: dir, text: text, start: time.Now(),
		wake: make(chan struct{}, 1), down: map[way]bool{}, calm: true, wet: true, running: map[string]*daemon{}, trace: fnv.New64a(), calmDisks: true,
	}
	w.shape = drawShape(w.rng)
	w.ledger.init(w)
	w.cluster = enginetest.NewDriven(seed, w.start, w.shape.weather, text)
	for i := range w.shape.members {
		name := fmt.Sprintf("QM%d", i+1)
		h := &host{w: w, number: i, name: name, m: w.cluster.Add(name), queues: map[string]*instance{}}
		h.rules = filepath.Join(dir, name+".yaml")
		w.hosts = append(w.hosts, h)
	}
	return w
}

// fail notes what did not hold. Anybody may call it.
func (w *world) fail(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.failures) < 20 {
		w.failures = append(w.failures, fmt.Sprintf("after %.3fs: %s", time.Since(w.start).Seconds(), line))
	}
	if w.text != nil {
		fmt.Fprintf(w.text, "%12.6f FAILED %s\n", time.Since(w.start).Seconds(), line)
	}
}

func (w *world) failed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.failures) > 0 || len(w.cluster.Failures()) > 0
}

// note writes a line that counts for the hash of the run.
func (w *world) note(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.mu.Lock()
	fmt.Fprintf(w.trace, "%d %s\n", time.Since(w.start), line)
	w.mu.Unlock()
	w.printf("%s", line)
}

func (w *world) printf(format string, args ...any) {
	if w.text != nil {
		fmt.Fprintf(w.text, "%12.6f %s\n", time.Since(w.start).Seconds(), fmt.Sprintf(format, args...))
	}
}

// ask has the driver do something. Anybody may call it.
func (w *world) ask(from int, key string, do func()) {
	w.mu.Lock()
	w.posts = append(w.posts, post{from, key, do})
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// answerPosts does what was asked for, in an order that does not depend on which
// goroutine was faster.
func (w *world) answerPosts() {
	w.mu.Lock()
	posts := w.posts
	w.posts = nil
	w.mu.Unlock()
	slices.SortStableFunc(posts, func(a, b post) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.key, b.key))
	})
	for _, p := range posts {
		p.do()
	}
}

// runUntil lets things happen until the time has come, or done says so.
func (w *world) runUntil(end time.Time, done func() bool) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for !w.failed() {
		w.touched = false
		synctest.Wait()
		now := time.Now()
		w.cluster.Advance(now)
		w.answerPosts()
		if !now.Before(end) || done != nil && done() {
			return
		}
		next, ok := w.cluster.Next()
		for ok && !next.After(now) && !w.touched && !w.failed() {
			w.cluster.Step()
			next, ok = w.cluster.Next()
		}
		if w.touched {
			continue
		}
		if !ok || next.After(end) {
			next = end
		}
		timer.Reset(next.Sub(now))
		select {
		case <-timer.C:
		case <-w.wake:
		}
	}
}

func (w *world) runFor(d time.Duration, done func() bool) { w.runUntil(time.Now().Add(d), done) }

// between draws a time.
func (w *world) between(low, high time.Duration) time.Duration {
	if high <= low {
		return low
	}
	return low + time.Duration(w.rng.Int64N(int64(high-low)))
}

func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

func pick[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// every repeats something at random distances as long as there are faults.
func (w *world) every(d time.Duration, do func()) {
	if d == 0 {
		return
	}
	var again func()
	again = func() {
		if w.calm {
			return
		}
		do()
		w.cluster.After(w.between(0, 2*d), again)
	}
	w.cluster.After(w.between(0, 2*d), again)
}

// finish ends all daemons and waits for them.
func (w *world) finish() {
	for _, h := range w.hosts {
		if h.daemon != nil {
			h.daemon.stop()
		}
	}
	done := make(chan struct{})
	go func() { w.ending.Wait(); close(done) }()
	for {
		synctest.Wait()
		w.answerPosts()
		select {
		case <-done:
			return
		case <-w.wake:
		case <-time.After(time.Minute):
			w.fail("a daemon does not end")
			return
		}
	}
}

func writeFile(name, text string) error {
	if err := os.WriteFile(name+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
