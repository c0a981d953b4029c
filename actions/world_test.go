package actions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/situations"
)

// world is a queue manager QM2 with one queue in cluster C1, another instance on
// QM3, and everything the engine needs, in memory. It runs in a synctest bubble.
type world struct {
	t        testing.TB
	interval time.Duration
	opt      Options

	mu       sync.Mutex
	values   map[string]string // of the local queue
	typ      string
	trigger  bool
	readers  int
	depth    int
	uncom    int
	others   []situations.Instance
	known    bool
	stale    bool // no full repository
	missing  []string
	gone     bool
	sampleOK bool
	started  time.Time
	connect  time.Time
	qmid     string

	setErrs  int // the next so many alters fail
	lostSets int // the next so many alters work, but say that they failed
	setTakes time.Duration
	trouble  time.Time // when a change last failed
	busy     int
	sets     []setCall
	onSet    func(setCall)

	journal  *memJournal
	store    *memStore
	programs *fakePrograms
	mover    *fakeMover
	items    *fakeItems
	gate     *gate
	engine   *Engine
	stop     context.CancelFunc
	ended    chan error
	number   int
	naps     int
}

type setCall struct {
	at     time.Time
	values []Value
}

// gate cuts a daemon off from the world after so many of its effects, as a crash
// at that point does.
type gate struct {
	mu   sync.Mutex
	left int // -1: never
	dead bool
}

var errCrashed = errors.New("the daemon crashed")

func (g *gate) pass() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left > 0 {
		if g.left--; g.left == 0 {
			g.dead = true
		}
	}
	if g.dead {
		return errCrashed
	}
	return nil
}

func (g *gate) isDead() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dead
}

// set crashes the daemon at its n-th effect from now; -1 for never.
func (g *gate) set(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = n
}

func (g *gate) armed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.left >= 0
}

const queueName = "DCQ1"

var here = Target{QMgr: "QM2", Queue: queueName}

func newWorld(t testing.TB) *world {
	w := &world{
		t: t, interval: time.Second, typ: "QLOCAL", known: true, sampleOK: true, qmid: "QM2_B",
		values: map[string]string{attrPut: enabled, attrRank: "0", attrPriority: "0", attrUseQ: "QMGR"},
		others: []situations.Instance{{
			QMgr: "QM3", QMID: "QM3_C", Cluster: "C1", Put: true, Reachable: true, DefBind: "NOTFIXED",
		}},
		journal: &memJournal{}, store: newMemStore(), programs: &fakePrograms{}, items: &fakeItems{},
		gate: &gate{left: -1},
	}
	w.mover = &fakeMover{w: w}
	w.programs.w = w
	w.started, w.connect = time.Now(), time.Now()
	return w
}

// run starts an engine over what the store holds.
func (w *world) run() {
	w.t.Helper()
	g := &gate{left: -1}
	w.gate = g
	opt := w.opt
	opt.QMgr = here.QMgr
	opt.Manager = &fakeManager{w: w, g: g}
	opt.Journal = gatedJournal{w.journal, g}
	opt.Store = gatedStore{w.store, g}
	opt.Programs, opt.Mover, opt.Items = w.programs, w.mover, w.items
	e, err := New(opt)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.engine, w.stop, w.ended = e, cancel, make(chan error, 1)
	go func() { w.ended <- e.Run(ctx) }()
	synctest.Wait()
}

// end stops the engine in order.
func (w *world) end() {
	w.t.Helper()
	w.stop()
	if err := <-w.ended; err != nil {
		w.t.Fatal(err)
	}
}

// crash cuts the engine off and waits for it to be gone.
func (w *world) crash() {
	w.gate.mu.Lock()
	w.gate.dead = true
	w.gate.mu.Unlock()
	w.end()
}

// observation is a sample asked for now.
func (w *world) observation() *situations.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	obs := &situations.Observation{
		QMgr: here.QMgr, QMID: w.qmid, At: time.Now(), Started: w.started, Connected: w.connect,
		Complete: true, Repository: !w.stale,
	}
	if !w.sampleOK {
		obs.Err = errors.New("2059")
		return obs
	}
	obs.Rows = []situations.Row{{Queue: "ANOTHER", Type: "QLOCAL", Env: situations.Attributes{QUEUE: "ANOTHER"}}}
	if !w.gone {
		obs.Rows = append(obs.Rows, w.row())
	}
	return obs
}

func (w *world) row() situations.Row {
	env := situations.Attributes{
		QUEUE: queueName, QMGR: here.QMgr, CLUSTER: "C1", TYPE: w.typ, IPPROCS: w.readers, CURDEPTH: w.depth, UNCOM: w.uncom,
		PUT: w.values[attrPut], CLWLUSEQ: w.values[attrUseQ], TRIGGER: "NO",
	}
	if w.trigger {
		env.TRIGGER = "YES"
	}
	fmt.Sscan(w.values[attrRank], &env.CLWLRANK)
	fmt.Sscan(w.values[attrPriority], &env.CLWLPRTY)
	r := situations.Row{
		Queue: queueName, Base: queueName, Type: w.typ, Clusters: []string{"C1"}, Env: env, Missing: w.missing,
		InstancesKnown: w.known,
	}
	if w.typ == "QALIAS" {
		r.Base = "DCQ1.BASE"
	}
	if w.known {
		r.Instances = append([]situations.Instance{{
			QMgr: here.QMgr, QMID: w.qmid, Cluster: "C1", Local: true, Reachable: true,
			Put: env.PUT == enabled, ClwlRank: env.CLWLRANK, ClwlPrty: env.CLWLPRTY,
		}}, w.others...)
	}
	return r
}

// intent makes an intent of a situation as the runner would, and stores it.
func (w *world) intent(situation string, edge situations.Edge, actions ...situations.Action) situations.Intent {
	w.number++
	in := situations.Intent{
		ID: fmt.Sprintf("%s/%d", situation, w.number), Edge: edge, At: time.Now(), Interval: w.interval, Actions: actions,
		Key: situations.Key{Situation: situation, QMgr: here.QMgr, Queue: queueName}, Row: w.row(),
	}
	w.store.add(in)
	return in
}

// tick is one sample with the intents it decided. It lets the engine do all it
// can do at once.
func (w *world) tick(intents ...situations.Intent) {
	obs := w.observation()
	if len(intents) > 0 {
		w.engine.Dispatch(context.Background(), intents)
	}
	w.engine.Observe(obs)
	synctest.Wait()
}

// sleep lets time pass, with what the test changed visible to all, and what they
// did visible to the test.
func (w *world) sleep(d time.Duration) {
	w.mu.Lock()
	w.naps++
	w.mu.Unlock()
	time.Sleep(d)
	synctest.Wait()
}

// pass lets intervals go by, a sample at the end of each.
func (w *world) pass(n int) {
	for range n {
		w.sleep(w.interval)
		w.tick()
	}
}

func (w *world) get(attr string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.values[attr]
}

// person changes an attribute by hand.
func (w *world) person(attr, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.values[attr] = value
}

func (w *world) want(attr, value string) {
	w.t.Helper()
	if got := w.get(attr); got != value {
		w.t.Errorf("%s(%s), want %s", attr, got, value)
	}
}

// held is what the status says of the situation's item.
func (w *world) held(situation string) []string {
	return w.engine.Snapshot().Items[situations.Key{Situation: situation, QMgr: here.QMgr, Queue: queueName}].Held
}

func (w *world) wantHeld(situation string, codes ...Code) {
	w.t.Helper()
	got := fmt.Sprint(w.held(situation))
	if want := fmt.Sprint(codes); got != want {
		w.t.Errorf("held %s, want %s", got, want)
	}
}

// results lists the journal as "action result" lines.
func (w *world) results() []string {
	var out []string
	for _, e := range w.journal.all() {
		out = append(out, e.Action+" "+string(e.Result))
	}
	return out
}

// enter notes that something is being done to the queue; nothing else may be.
func (w *world) enter() (leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.busy++; w.busy > 1 {
		w.t.Error("two things at once on one queue")
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.busy--
	}
}

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
	bad      bool
}

func newMemStore() *memStore {
	return &memStore{intents: map[string][]byte{}, progress: map[string][]byte{}, claims: map[string]Claim{}, raised: map[Target]time.Time{}}
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
	ended []Process
	do    func()
}

func (p *fakePrograms) Run(ctx context.Context, prog Program, started func(Process)) Ended {
	defer p.w.enter()()
	p.mu.Lock()
	p.runs = append(p.runs, prog.Args)
	exit := 0
	if len(p.exit) > 0 {
		exit, p.exit = p.exit[0], p.exit[1:]
	}
	takes, do := p.takes, p.do
	p.mu.Unlock()
	started(Process{PID: 4711, Started: 99})
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

func (p *fakePrograms) End(pr Process) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = append(p.ended, pr)
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
		return Moved{Outcome: MoveRefused, Reason: refuse, Remaining: depth}
	case readers > 0:
		return Moved{Outcome: MoveReader, Remaining: depth}
	case ready == 0:
		return Moved{Outcome: MoveWaiting, Reason: "no other instance is ready", Remaining: depth}
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
		switch {
		case left == 0:
			return Moved{Outcome: MoveEmpty, Moved: moved}
		case left == m.stays:
			return Moved{Outcome: MoveLeft, Reason: "addressed", Moved: moved, Remaining: left, Skipped: Skipped{Addressed: left}}
		}
		select {
		case <-ctx.Done():
			return Moved{Outcome: MoveCancelled, Moved: moved, Remaining: left}
		case <-time.After(time.Second):
		}
	}
}
