package actions

import (
	"context"
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
	item     string            // that is acted on
	values   map[string]string // of the item
	typ      string
	trigger  bool
	readers  int
	depth    int
	uncom    int
	gets     string // GET
	others   []situations.Instance
	known    bool
	stale    bool // no full repository
	missing  []string
	gone     bool
	sampleOK bool
	started  time.Time
	connect  time.Time
	qmid     string

	// The daemon crashes just before, or just after, its next change.
	dieBeforeSet, dieAfterSet bool

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
	db       *DB      // in the store's place, nil for none
	file     *Journal // beside the journal, nil for none
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

func (g *gate) kill() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.dead = true
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
		item: queueName,
		values: map[string]string{
			attrPut: enabled, attrRank: "0", attrPriority: "0", attrUseQ: "QMGR",
			attrWeight: "50", attrStatus: situations.Started, suspendIn("C1"): situations.No,
		},
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
	w.make()
	w.start()
}

func (w *world) make() {
	w.t.Helper()
	g := &gate{left: -1}
	w.gate = g
	opt := w.opt
	opt.QMgr = here.QMgr
	opt.Manager = &fakeManager{w: w, g: g}
	opt.Journal = gatedJournal{w.journal, g}
	opt.Store = gatedStore{w.store, g}
	if w.file != nil {
		opt.Journal = diskJournal{w.file, w.journal, g}
	}
	if w.db != nil {
		opt.Store = gatedDB{w.db, g}
	}
	opt.Programs, opt.Mover, opt.Items = w.programs, w.mover, w.items
	e, err := New(opt)
	must(w.t, err)
	w.engine = e
}

func (w *world) start() {
	ctx, cancel := context.WithCancel(context.Background())
	w.stop, w.ended = cancel, make(chan error, 1)
	go func() { w.ended <- w.engine.Run(ctx) }()
	synctest.Wait()
}

// end stops the engine in order.
func (w *world) end() {
	w.t.Helper()
	w.stop()
	must(w.t, <-w.ended)
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
	if w.item != queueName {
		system := situations.Row{Queue: situations.GroupChannel.Item("A"), Env: situations.ChannelAttributes{CHANNEL: "A", STATUS: "INACTIVE"}}
		obs.Others = append(obs.Others, system, w.itemRow())
	}
	return obs
}

// itemRow is the row of the item that is acted on.
func (w *world) itemRow() situations.Row {
	g, name := situations.GroupOf(w.item)
	if g == situations.GroupQueue {
		return w.row()
	}
	r := situations.Row{Queue: w.item, Clusters: []string{"C1"}}
	if g == situations.GroupQMgr {
		env := situations.QMgrAttributes{QMGR: name, CLUSTER: "C1", SUSPEND: w.values[suspendIn("C1")]}
		if env.SUSPEND == situations.Yes {
			r.Suspended = []string{"C1"}
		}
		r.Env = env
		return r
	}
	env := situations.ChannelAttributes{CHANNEL: name, QMGR: here.QMgr, CLUSTER: "C1", CHLTYPE: "CLUSRCVR", STATUS: "RUNNING"}
	if w.values[attrStatus] == situations.Stopped {
		env.STATUS = "STOPPED"
	}
	fmt.Sscan(w.values[attrWeight], &env.CLWLWGHT)
	fmt.Sscan(w.values[attrRank], &env.CLWLRANK)
	fmt.Sscan(w.values[attrPriority], &env.CLWLPRTY)
	r.Type, r.Env = env.CHLTYPE, env
	return r
}

func (w *world) row() situations.Row {
	env := situations.Attributes{
		QUEUE: queueName, QMGR: here.QMgr, CLUSTER: "C1", TYPE: w.typ, IPPROCS: w.readers, CURDEPTH: w.depth, UNCOM: w.uncom,
		PUT: w.values[attrPut], GET: w.gets, CLWLUSEQ: w.values[attrUseQ], TRIGGER: "NO",
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
		Key: situations.Key{Situation: situation, QMgr: here.QMgr, Queue: w.item}, Row: w.itemRow(),
	}
	w.store.add(in)
	return in
}

// send has an intent committed to the state on disk, and a sample with it.
func (w *world) send(in situations.Intent) {
	w.t.Helper()
	must(w.t, w.db.Commit(context.Background(), nil, []situations.Intent{in}))
	w.tick(in)
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

// survive lets intervals go by, and starts the daemon again whenever it was killed.
func (w *world) survive(n int) (killed bool) {
	for range n {
		w.pass(1)
		if w.gate.isDead() {
			killed = true
			w.end()
			w.run()
		}
	}
	return killed
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
	return w.engine.Snapshot().Items[situations.Key{Situation: situation, QMgr: here.QMgr, Queue: w.item}].Held
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

// hold and release are what a person says.
func (w *world) hold(queue string) {
	w.t.Helper()
	must(w.t, w.engine.Hold("anna", queue, "look first", time.Time{}))
}

func (w *world) release(queue string) {
	w.t.Helper()
	_, err := w.engine.Release("anna", queue)
	must(w.t, err)
}
