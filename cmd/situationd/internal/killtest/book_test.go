package killtest

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fate is what an application knows of something it asked for.
type fate byte

const (
	unknown fate = iota // asked, and the answer never came
	done                // the answer was yes
	undone              // backed out, or never committed: it must not have happened
)

// unit is one unit of work, or one put outside syncpoint.
type unit struct {
	fate   fate
	bodies []string
}

// book is what the applications of a test wrote down.
type book struct {
	mu    sync.Mutex
	puts  []*unit            // under syncpoint, with an entry of the put log each
	plain []*unit            // one body each
	gets  map[string][]*unit // under syncpoint, per queue manager
}

func newBook() *book { return &book{gets: map[string][]*unit{}} }

func (b *book) settle(u *unit, f fate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	u.fate = f
}

func (b *book) openPut(plain bool, bodies ...string) *unit {
	u := &unit{bodies: bodies}
	b.mu.Lock()
	defer b.mu.Unlock()
	if plain {
		b.plain = append(b.plain, u)
	} else {
		b.puts = append(b.puts, u)
	}
	return u
}

func (b *book) openGet(qmgr string, bodies ...string) *unit {
	u := &unit{bodies: bodies}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gets[qmgr] = append(b.gets[qmgr], u)
	return u
}

// counts says how many bodies of the units have a fate.
func counts(units []*unit, f fate) (n int) {
	for _, u := range units {
		if u.fate == f {
			n += len(u.bodies)
		}
	}
	return n
}

// verdict is what a book and the logs on the queue managers say together.
type verdict struct {
	put, read     int
	lost, twice   []string
	phantom       []string // read, and nobody can have put it
	halfPut       []string // units of work of which only a part happened
	forgotten     []string // answered commits that left no trace
	unwanted      []string // backed out, and there all the same
	unknownBodies int      // puts outside syncpoint whose answer never came
}

func (v *verdict) ok() bool {
	return len(v.lost)+len(v.twice)+len(v.phantom)+len(v.halfPut)+len(v.forgotten)+len(v.unwanted) == 0
}

// add takes in what another verdict found.
func (v *verdict) add(w *verdict) {
	v.put, v.read, v.unknownBodies = v.put+w.put, v.read+w.read, v.unknownBodies+w.unknownBodies
	v.lost, v.twice, v.phantom = append(v.lost, w.lost...), append(v.twice, w.twice...), append(v.phantom, w.phantom...)
	v.halfPut, v.forgotten, v.unwanted = append(v.halfPut, w.halfPut...), append(v.forgotten, w.forgotten...), append(v.unwanted, w.unwanted...)
}

func (v *verdict) report(t *testing.T) {
	t.Helper()
	t.Logf("%d bodies put, %d read, %d lost, %d twice, %d with an answer that never came",
		v.put, v.read, len(v.lost), len(v.twice), v.unknownBodies)
	for _, x := range []struct {
		what string
		list []string
	}{
		{"lost", v.lost}, {"read twice", v.twice}, {"read and never put", v.phantom},
		{"half a unit of puts", v.halfPut},
		{"committed and forgotten", v.forgotten}, {"backed out and there", v.unwanted},
	} {
		if len(x.list) > 0 {
			t.Errorf("%s: %d, such as %s", x.what, len(x.list), strings.Join(x.list[:min(len(x.list), 10)], " "))
		}
	}
}

// judge compares the book with the logs that the units of work themselves wrote:
// putLog has the bodies of every committed unit of puts, readLogs those of every
// committed unit of gets, per queue manager, and left what still lies on queues.
func (b *book) judge(putLog []string, readLogs map[string][]string, left []string) *verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := &verdict{}
	must, may := map[string]bool{}, map[string]bool{}
	logged := map[string]bool{}
	for _, id := range putLog {
		must[id], logged[id] = true, true
	}
	v.unitsOfPuts(b.puts, logged)
	for _, u := range b.plain {
		switch u.fate {
		case done:
			must[u.bodies[0]] = true
		case unknown:
			may[u.bodies[0]] = true
			v.unknownBodies++
		}
	}
	seen := map[string]int{}
	for _, qmgr := range sortedKeys(readLogs) {
		here := map[string]bool{}
		for _, id := range readLogs[qmgr] {
			here[id] = true
			seen[id]++
			v.read++
		}
		// Half a unit of gets shows itself otherwise: what it left behind is read twice or lost.
		for _, u := range b.gets[qmgr] {
			if u.fate == done && missing(u, here) > 0 {
				v.forgotten = append(v.forgotten, u.bodies...)
			}
		}
	}
	for _, id := range left {
		seen[id]++
	}
	v.put = len(must)
	for id := range must {
		if seen[id] == 0 {
			v.lost = append(v.lost, id)
		}
	}
	for id, n := range seen {
		if n > 1 {
			v.twice = append(v.twice, id)
		}
		if !must[id] && !may[id] {
			v.phantom = append(v.phantom, id)
		}
	}
	return v
}

// unitsOfPuts checks that each unit happened as a whole or not at all, and as its answer says.
func (v *verdict) unitsOfPuts(units []*unit, happened map[string]bool) {
	for _, u := range units {
		n := missing(u, happened)
		switch {
		case u.fate == done && n > 0:
			v.forgotten = append(v.forgotten, u.bodies...)
		case u.fate == undone && n < len(u.bodies):
			v.unwanted = append(v.unwanted, u.bodies...)
		case n > 0 && n < len(u.bodies):
			v.halfPut = append(v.halfPut, u.bodies...)
		}
	}
}

func missing(u *unit, there map[string]bool) (n int) {
	for _, id := range u.bodies {
		if !there[id] {
			n++
		}
	}
	return n
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// text makes the body of an id: the id, and filler that depends on it.
func text(id string) []byte {
	h := fnv.New64a()
	h.Write([]byte(id))
	x := h.Sum64()
	n := int(x % 700)
	if x%31 == 0 {
		n += 20_000
	}
	b := make([]byte, 0, len(id)+1+n)
	b = append(append(b, id...), ' ')
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
		b = append(b, 'a'+byte(x>>59)%26)
	}
	return b
}

// idOf gives back the id of a body; an error if the body is not the one that was put.
func idOf(body []byte) (string, error) {
	id, _, _ := strings.Cut(string(body), " ")
	if string(text(id)) != string(body) {
		return id, fmt.Errorf("the body of %s was changed on its way: %d bytes", id, len(body))
	}
	return id, nil
}
