package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/situationd/situationd/situations"
)

type fakeManager struct {
	w *world
	g *gate
}

func (m *fakeManager) Set(ctx context.Context, queue, typ string, values []Value) error {
	w := m.w
	defer w.enter()()
	w.mu.Lock()
	takes := w.setTakes
	w.mu.Unlock()
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	sent := w.trouble
	w.trouble = time.Now()
	if w.dieBeforeSet {
		w.dieBeforeSet = false
		m.g.kill()
	}
	if err := m.g.pass(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if w.setErrs > 0 {
		w.setErrs--
		return fmt.Errorf("2059: %w", ErrUnavailable)
	}
	call := setCall{at: time.Now(), values: values}
	if w.onSet != nil {
		w.onSet(call)
	}
	w.sets = append(w.sets, call)
	if w.dieAfterSet {
		w.dieAfterSet = false
		defer m.g.kill()
	}
	for _, v := range values {
		w.values[v.Attr] = v.Value
	}
	if w.lostSets > 0 {
		w.lostSets--
		return errors.New("2009 after the command was sent")
	}
	w.trouble = sent
	return nil
}

func (m *fakeManager) ReadBack(_ context.Context, _, _ string, attrs []string) ([]Value, error) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	if err := m.g.pass(); err != nil {
		m.w.trouble = time.Now()
		return nil, err
	}
	var out []Value
	for _, a := range attrs {
		out = append(out, Value{Attr: a, Value: m.w.values[a]})
	}
	return out, nil
}

type memJournal struct {
	mu    sync.Mutex
	lines []Entry
	bad   bool
}

func (j *memJournal) Append(e Entry, _ bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.bad {
		return errors.New("no space left on device")
	}
	j.lines = append(j.lines, e)
	return nil
}

func (j *memJournal) Ready() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.bad
}

func (j *memJournal) setBad(bad bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.bad = bad
}

func (j *memJournal) all() []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Entry(nil), j.lines...)
}

type gatedJournal struct {
	*memJournal
	g *gate
}

func (j gatedJournal) Append(e Entry, sync bool) error {
	if err := j.g.pass(); err != nil {
		return err
	}
	return j.memJournal.Append(e, sync)
}

// memStore keeps what DB keeps, in the same encodings.
type memStore struct {
	mu       sync.Mutex
	order    []string
	intents  map[string][]byte
	progress map[string][]byte
	claims   map[string]Claim
	raised   map[Target]time.Time
	budget   []time.Time
	holds    []PersonHold
	tripped  []Trip
	out      map[string]Out
	bad      bool
}

func newMemStore() *memStore {
	return &memStore{intents: map[string][]byte{}, progress: map[string][]byte{}, claims: map[string]Claim{}, raised: map[Target]time.Time{}, out: map[string]Out{}}
}

func (s *memStore) add(in situations.Intent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := encodeIntent(&in)
	if err != nil {
		panic(err)
	}
	s.intents[in.ID] = data
	s.order = append(s.order, in.ID)
}

func (s *memStore) LoadActions() (Stored, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stored{Raised: map[Target]time.Time{}, Budget: append([]time.Time(nil), s.budget...)}
	for _, id := range s.order {
		data, ok := s.intents[id]
		if !ok {
			continue
		}
		in, err := decodeIntent(data)
		if err != nil {
			return out, err
		}
		st := StoredIntent{Intent: in}
		if p, ok := s.progress[id]; ok {
			if err := json.Unmarshal(p, &st.Progress); err != nil {
				return out, err
			}
		}
		out.Intents = append(out.Intents, st)
	}
	for _, c := range s.claims {
		out.Claims = append(out.Claims, c)
	}
	out.Holds, out.Tripped = append(out.Holds, s.holds...), append(out.Tripped, s.tripped...)
	for _, o := range s.out {
		out.Out = append(out.Out, o)
	}
	for t, at := range s.raised {
		out.Raised[t] = at
	}
	return out, nil
}

func (s *memStore) SaveActions(u Update) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bad {
		return errors.New("disk full")
	}
	for _, in := range u.Intents {
		data, err := encodeIntent(&in)
		if err != nil {
			return err
		}
		s.intents[in.ID] = data
		s.order = append(s.order, in.ID)
	}
	if u.Holds != nil {
		s.holds = *u.Holds
	}
	if u.Tripped != nil {
		s.tripped = *u.Tripped
	}
	for _, o := range u.Out {
		s.out[string(outID(&o))] = o
	}
	for _, o := range u.In {
		delete(s.out, string(outID(&o)))
	}
	for id, p := range u.Progress {
		data, err := json.Marshal(p)
		if err != nil {
			return err
		}
		s.progress[id] = data
	}
	for _, id := range u.Finished {
		delete(s.intents, id)
		delete(s.progress, id)
	}
	for _, c := range u.Claims {
		s.claims[string(claimID(&c))] = c
	}
	for _, c := range u.Unclaimed {
		delete(s.claims, string(claimID(&c)))
	}
	if u.Budget != nil {
		s.budget = u.Budget
	}
	for t, at := range u.Raised {
		if at.IsZero() {
			delete(s.raised, t)
		} else {
			s.raised[t] = at
		}
	}
	return nil
}

func (s *memStore) setBad(bad bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bad = bad
}

// left is the number of intents in the outbox.
func (s *memStore) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.intents)
}

type gatedStore struct {
	*memStore
	g *gate
}

func (s gatedStore) SaveActions(u Update) error {
	if err := s.g.pass(); err != nil {
		return err
	}
	return s.memStore.SaveActions(u)
}

type fakePrograms struct {
	w     *world
	mu    sync.Mutex
	takes time.Duration
	exit  []int // of the next runs; then 0
	runs  [][]string
	began map[string]Process // by attempt
	ended []Process
	do    func()
}

func (p *fakePrograms) Run(ctx context.Context, prog Program, started func(Process)) Ended {
	defer p.w.enter()()
	p.mu.Lock()
	p.runs = append(p.runs, prog.Args)
	if _, ok := p.began[prog.Attempt]; ok || prog.Attempt == "" {
		p.w.t.Errorf("another program has the attempt %q", prog.Attempt)
	}
	process := Process{PID: 4710 + len(p.runs), Started: 99}
	if p.began == nil {
		p.began = map[string]Process{}
	}
	p.began[prog.Attempt] = process
	exit := 0
	if len(p.exit) > 0 {
		exit, p.exit = p.exit[0], p.exit[1:]
	}
	takes, do := p.takes, p.do
	p.mu.Unlock()
	started(process)
	if do != nil {
		do()
	}
	if takes > 0 {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return Ended{Exit: -1, Killed: true}
		}
	}
	return Ended{Exit: exit, Output: "said"}
}

// End ends what Run began under the same name of the attempt, and nothing else.
func (p *fakePrograms) End(attempt string, pr *Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began, ok := p.began[attempt]
	if pr != nil && began != *pr {
		p.w.t.Errorf("attempt %q is to be ended as %+v, and began as %+v", attempt, *pr, began)
	}
	if ok {
		p.ended = append(p.ended, began)
	}
}

func (p *fakePrograms) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.runs)
}

type fakeItems struct {
	mu       sync.Mutex
	flapping bool
	never    bool
	window   bool
	count    int
}

func (f *fakeItems) Maintained(situations.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.window
}

func (f *fakeItems) Count(string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

func (f *fakeItems) Flapping(situations.Key) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.flapping
}

func (f *fakeItems) NeverRedistribute(string, *situations.Row) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.never
}

// fakeMover moves perSecond messages a second off the world's queue.
type fakeMover struct {
	w         *world
	perSecond int // 0: all at once
	stays     int // that many cannot move
	refuse    string
	fail      int
	runs      int
	orders    []Order
}

func (m *fakeMover) Move(ctx context.Context, o Order, started func() error, progress func(Moved)) Moved {
	w := m.w
	defer w.enter()()
	w.mu.Lock()
	m.runs++
	m.orders = append(m.orders, o)
	ready := 0
	if w.known {
		ready = ReadyElsewhere(w.row(), o.Lever)
	}
	depth, readers, fail, refuse := w.depth, w.readers, m.fail, m.refuse
	if m.fail > 0 {
		m.fail--
	}
	w.mu.Unlock()
	switch {
	case refuse != "":
		return Moved{Outcome: MoveRefused, Reason: refuse, Start: depth, Remaining: depth}
	case readers > 0:
		return Moved{Outcome: MoveReader, Start: depth, Remaining: depth}
	case ready == 0:
		return Moved{Outcome: MoveWaiting, Reason: "no other instance is ready", Start: depth, Remaining: depth}
	case depth == 0:
		return Moved{Outcome: MoveEmpty}
	}
	if err := started(); err != nil {
		return Moved{Outcome: MoveFailed, Err: err}
	}
	if fail > 0 {
		return Moved{Outcome: MoveFailed, Err: fmt.Errorf("2009: %w", ErrUnavailable), Remaining: depth}
	}
	moved := 0
	for {
		w.mu.Lock()
		n := w.depth - m.stays
		if m.perSecond > 0 {
			n = min(n, m.perSecond)
		}
		w.depth -= n
		moved += n
		left := w.depth
		w.mu.Unlock()
		progress(Moved{Moved: moved, Remaining: left})
		switch left {
		case 0:
			return Moved{Outcome: MoveEmpty, Moved: moved}
		case m.stays:
			return Moved{Outcome: MoveLeft, Reason: "addressed", Moved: moved, Remaining: left, Skipped: Skipped{Addressed: left}}
		}
		select {
		case <-ctx.Done():
			return Moved{Outcome: MoveCancelled, Moved: moved, Remaining: left}
		case <-time.After(time.Second):
		}
	}
}

func (f *fakeItems) set(change func(*fakeItems)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}
