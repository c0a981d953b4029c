package situations

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// fakeQM is a queue manager, a store and a sink of intents in one.
type fakeQM struct {
	mu       sync.Mutex
	readers  int
	err      error
	slow     time.Duration
	late     []time.Duration // how long after they are due samples come, one after the other
	samples  []time.Time
	changes  chan struct{}
	records  map[Key][]byte
	storeErr error
	commits  int
	sent     []Intent
	sentAt   []time.Time
	order    []string
}

func newFakeQM() *fakeQM {
	return &fakeQM{readers: 1, changes: make(chan struct{}, 1), records: map[Key][]byte{}}
}

func (f *fakeQM) Sample(ctx context.Context) (*Observation, error) {
	f.mu.Lock()
	slow := f.slow
	if n := len(f.late); n > 0 {
		slow = f.late[len(f.samples)%n]
	}
	f.mu.Unlock()
	if slow > 0 {
		t := time.NewTimer(slow)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.C:
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.samples = append(f.samples, time.Now())
	if f.err != nil {
		return nil, f.err
	}
	o := completeSample(time.Now(), queueRow("DCQ1", f.readers), queueRow("OTHER", 1))
	return o, nil
}

func (f *fakeQM) Changes() <-chan struct{} { return f.changes }

func (f *fakeQM) Load() ([]ItemRecord, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []ItemRecord
	for k, v := range f.records {
		out = append(out, ItemRecord{k, v})
	}
	return out, nil
}

func (f *fakeQM) Commit(_ context.Context, changes []ItemChange, intents []Intent) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.storeErr != nil {
		return f.storeErr
	}
	f.commits++
	f.order = append(f.order, "commit")
	for _, c := range changes {
		if c.Data == nil {
			delete(f.records, c.Key)
		} else {
			f.records[c.Key] = c.Data
		}
	}
	return nil
}

func (f *fakeQM) Dispatch(_ context.Context, intents []Intent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, "dispatch")
	for _, in := range intents {
		f.sent, f.sentAt = append(f.sent, in), append(f.sentAt, time.Now())
	}
}

func (f *fakeQM) Rename(from, to Key) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, "rename "+from.Situation+" "+to.Situation)
}

func (f *fakeQM) Suppress(intents []Intent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, in := range intents {
		f.order = append(f.order, "suppress "+string(in.Edge))
	}
}

func (f *fakeQM) Observe(*Observation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(f.order, "observe")
}

func (f *fakeQM) set(change func(*fakeQM)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *fakeQM) edges() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var s []string
	for _, in := range f.sent {
		s = append(s, string(in.Edge))
	}
	return strings.Join(s, " ")
}

const runRule = `version: 1
situations:
  - name: idle
    watch: {queue: DCQ1}
    sample: SAMPLE
    formula: IPPROCS == 0
    actions: [{put: DISABLED}]
    on_clear: revert
    alert: {severity: critical, summary: "${QUEUE} has ${CURDEPTH} messages", labels: {service: "orders-${QMGR}"}}
`

func startRunner(t *testing.T, f *fakeQM, sample string) *Runner {
	t.Helper()
	return startRules(t, f, strings.Replace(runRule, "SAMPLE", sample, 1))
}

func startRules(t *testing.T, f *fakeQM, rules string) *Runner {
	t.Helper()
	r, err := New(Options{QMgr: "QM2", Source: f, Store: f, Sink: f, Rules: mustLoad(t, rules)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	synctest.Wait()
	return r
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestRunner_SamplesAtStartAndAtIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		begin := time.Now()
		r := startRunner(t, f, "10s")
		pass(35 * time.Second)
		f.mu.Lock()
		defer f.mu.Unlock()
		var at []time.Duration
		for _, s := range f.samples {
			at = append(at, s.Sub(begin))
		}
		want := []time.Duration{0, 10 * time.Second, 20 * time.Second, 30 * time.Second}
		if !slices.Equal(at, want) {
			t.Errorf("samples at %v, want %v", at, want)
		}
		if f.commits != 0 {
			t.Errorf("%d commits though nothing happened", f.commits)
		}
		if next := r.Next().Sub(begin); next != 40*time.Second {
			t.Errorf("the next sample is due at %s", next)
		}
	})
}

// TestRunner_Durations_CountFromWhenSamplesAreDue: samples come a moment after
// they are due, and no two as late as each other. What is to last for some
// intervals lasts for so many all the same, not for one more.
func TestRunner_Durations_CountFromWhenSamplesAreDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, key string
		late      []time.Duration
		want      []time.Duration // of the intents, in whole seconds after the reader has gone
	}{
		{"for", "for: 20s", []time.Duration{9, 8, 7, 6, 5, 4, 3, 2}, []time.Duration{30}},
		{"for, later and later", "for: 20s", []time.Duration{1, 2, 3, 4, 5, 6, 7, 8}, []time.Duration{30}},
		{"act_again", "act_again: {after: 20s}", []time.Duration{9, 8, 7, 6, 5, 4, 3, 2}, []time.Duration{10, 30, 50}},
		{"until", "until: {after: 20s}", []time.Duration{9, 8, 7, 6, 5, 4, 3, 2}, []time.Duration{10, 30}},
		{"a cron line", "act_again: {after: 2m}\n    sample: \"* * * * *\"", []time.Duration{9, 8, 7, 6, 5, 4, 3, 2}, []time.Duration{60, 180}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFakeQM()
				for _, l := range c.late {
					f.late = append(f.late, l*10*time.Millisecond)
				}
				rules := strings.Replace(runRule, "    on_clear", "    "+c.key+"\n    on_clear", 1)
				if strings.Contains(c.key, "sample:") {
					rules = strings.Replace(rules, "    sample: SAMPLE\n", "", 1)
				}
				begin := time.Now()
				startRules(t, f, strings.Replace(rules, "SAMPLE", "10s", 1))
				pass(time.Second)
				f.set(func(f *fakeQM) { f.readers = 0 })
				pass(c.want[len(c.want)-1]*time.Second + 5*time.Second)
				f.mu.Lock()
				defer f.mu.Unlock()
				var at []time.Duration
				for _, s := range f.sentAt {
					at = append(at, s.Sub(begin)/time.Second)
				}
				if !slices.Equal(at, c.want) {
					t.Errorf("intents after %d seconds, want %d", at, c.want)
				}
			})
		})
	}
}

func TestRunner_EdgeIsRecordedBeforeItIsDispatched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		startRunner(t, f, "10s")
		f.set(func(f *fakeQM) { f.readers, f.order = 0, nil })
		pass(10 * time.Second)
		f.set(func(f *fakeQM) {
			if want := []string{"commit", "dispatch", "observe"}; !slices.Equal(f.order, want) {
				t.Errorf("order %v, want %v", f.order, want)
			}
		})
		pass(30 * time.Second)
		if got := f.edges(); got != "open" {
			t.Errorf("edges %q: an open situation acts once", got)
		}
		f.set(func(f *fakeQM) { f.readers = 2 })
		pass(10 * time.Second)
		if got := f.edges(); got != "open clear" {
			t.Errorf("edges %q", got)
		}
	})
}

func TestRunner_StoreFails_NothingHoldsUntilItWorks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		r := startRunner(t, f, "10s")
		f.set(func(f *fakeQM) { f.readers, f.storeErr = 0, errors.New("disk full") })
		pass(25 * time.Second)
		if got := f.edges(); got != "" {
			t.Errorf("edges %q though nothing could be recorded", got)
		}
		if st := r.Snapshot(); st.CommitErr != "disk full" || len(st.Items) != 1 || st.Items[0].Phase != Inactive {
			t.Errorf("status %+v", st)
		}
		f.set(func(f *fakeQM) { f.storeErr = nil })
		pass(10 * time.Second)
		if got := f.edges(); got != "open" || r.Snapshot().CommitErr != "" {
			t.Errorf("edges %q, status %+v", got, r.Snapshot())
		}
	})
}

func TestRunner_OnChange_SamplesAtOnceAndNotWithoutEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		startRunner(t, f, "{every: 5m, on_change: true}")
		pass(time.Second)
		begin := time.Now()
		f.set(func(f *fakeQM) { f.readers = 0 })
		f.changes <- struct{}{}
		pass(time.Millisecond)
		f.set(func(f *fakeQM) {
			if len(f.sentAt) != 1 || f.sentAt[0] != begin {
				t.Errorf("intents at %v, the change was at %v", f.sentAt, begin)
			}
			f.slow = 10 * time.Millisecond
			f.samples = nil
		})
		for range 1000 { // a storm of changes
			select {
			case f.changes <- struct{}{}:
			default:
			}
			pass(time.Millisecond)
		}
		f.set(func(f *fakeQM) {
			if n := len(f.samples); n < 10 || n > 25 {
				t.Errorf("%d samples of 10ms each in a second of changes", n)
			}
		})
	})
}

func TestRunner_WithoutOnChange_IgnoresChanges(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		startRunner(t, f, "5m")
		f.changes <- struct{}{}
		pass(time.Minute)
		f.set(func(f *fakeQM) {
			if len(f.samples) != 1 {
				t.Errorf("%d samples", len(f.samples))
			}
		})
	})
}

func TestRunner_SlowSample_IsUnknownAndNotMadeUpFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		r := startRunner(t, f, "10s")
		f.set(func(f *fakeQM) { f.slow, f.readers = time.Hour, 0 })
		pass(25 * time.Second) // due at 10s, given up at 20s
		st := r.Snapshot()
		if st.SampleErr == "" || st.Items[0].Verdict != Unknown || f.edges() != "" {
			t.Errorf("status %+v, edges %q", st, f.edges())
		}
		f.set(func(f *fakeQM) { f.slow, f.samples = 0, nil })
		pass(20 * time.Second)
		f.set(func(f *fakeQM) {
			if n := len(f.samples); n > 2 {
				t.Errorf("%d samples in 20s: missed ones were made up for", n)
			}
		})
		if got := f.edges(); got != "open" {
			t.Errorf("edges %q", got)
		}
	})
}

func TestRunner_Restart_DoesNotActAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		f.readers = 0
		startRunner(t, f, "10s")
		pass(15 * time.Second)
		opened := f.sentAt[0]
		r := startRunner(t, f, "10s")
		pass(25 * time.Second)
		if got := f.edges(); got != "open" {
			t.Fatalf("edges %q after a restart", got)
		}
		alerts := r.Alerts()
		if len(alerts) != 1 || !alerts[0].StartsAt.Equal(opened) {
			t.Errorf("the alert began at %v, want %v", alerts, opened)
		}
		f.set(func(f *fakeQM) { f.readers = 1 })
		pass(10 * time.Second)
		if got := f.edges(); got != "open clear clear" { // two runners share this queue manager
			t.Errorf("edges %q", got)
		}
	})
}

func TestRunner_Alerts_KeepTheirIdentity(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		f.readers = 0
		r := startRunner(t, f, "10s")
		a := r.Alerts()
		if len(a) != 1 {
			t.Fatalf("alerts %+v", a)
		}
		want := map[string]string{"alertname": "idle", "severity": "critical", "qmgr": "QM2", "queue": "DCQ1", "cluster": "C1", "service": "orders-QM2"}
		if got := a[0]; got.Annotations["summary"] != "DCQ1 has 7 messages" || len(got.Labels) != len(want) {
			t.Errorf("alert %+v", got)
		}
		for k, v := range want {
			if a[0].Labels[k] != v {
				t.Errorf("label %s is %q, want %q", k, a[0].Labels[k], v)
			}
		}
		f.set(func(f *fakeQM) { f.err = errors.New("gone away") })
		pass(40 * time.Second)
		b := r.Alerts()
		if len(b) != 1 || !b[0].Blind || b[0].Annotations["summary"] != "DCQ1 has 7 messages" || len(b[0].Labels) != len(want) {
			t.Errorf("while unknown: %+v", b)
		}
		if blind := r.Blind(); len(blind) != 1 || blind[0].Key != (Key{QMgr: "QM2"}) {
			t.Errorf("blind %+v", blind)
		}
		f.set(func(f *fakeQM) { f.err, f.readers = nil, 1 })
		pass(10 * time.Second)
		if got := r.Alerts(); len(got) != 0 || len(r.Blind()) != 0 {
			t.Errorf("after it cleared: %+v, %+v", got, r.Blind())
		}
	})
}

func TestRunner_Reload_BetweenTicks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		f.readers = 0
		r := startRunner(t, f, "10s")
		same := mustLoad(t, strings.Replace(runRule, "SAMPLE", "10s", 1))
		r.Reload(same)
		synctest.Wait()
		if got := f.edges(); got != "open" || f.commits != 1 {
			t.Errorf("the same rules: edges %q, %d commits", got, f.commits)
		}
		r.Reload(mustLoad(t, strings.Replace(runRule, "SAMPLE", "2m", 1)))
		synctest.Wait()
		f.set(func(f *fakeQM) { f.samples = nil })
		pass(time.Minute)
		f.set(func(f *fakeQM) {
			if len(f.samples) != 0 {
				t.Errorf("%d samples in the minute after the interval became two", len(f.samples))
			}
		})
		r.Reload(mustLoad(t, "version: 1\nsituations: []\n"))
		synctest.Wait()
		if got := f.edges(); got != "open clear" || len(f.records) != 0 || len(r.Alerts()) != 0 {
			t.Errorf("without the rule: edges %q, records %v, alerts %v", got, f.records, r.Alerts())
		}
	})
}

func TestRunner_SampleSoon_IsExtra(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeQM()
		f.readers = 0
		rules := strings.Replace(strings.Replace(runRule, "SAMPLE", "10s", 1), "    formula", "    for: 2 samples\n    formula", 1)
		r, err := New(Options{QMgr: "QM2", Source: f, Store: f, Sink: f, Rules: mustLoad(t, rules)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		for range 5 {
			pass(time.Second)
			r.SampleSoon()
		}
		synctest.Wait()
		if got := f.edges(); got != "" || r.Snapshot().Items[0].Phase != Pending {
			t.Errorf("edges %q, %+v: extra samples counted", got, r.Snapshot().Items)
		}
		pass(15 * time.Second)
		if got := f.edges(); got != "open" {
			t.Errorf("edges %q after two due samples", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestNew_RefusesAStateItCannotRead(t *testing.T) {
	t.Parallel()
	f := newFakeQM()
	f.records[Key{"idle", "QM2", "DCQ1"}] = []byte(`{"v":9}`)
	_, err := New(Options{QMgr: "QM2", Source: f, Store: f, Sink: f, Rules: mustLoad(t, strings.Replace(runRule, "SAMPLE", "10s", 1))})
	if err == nil || !strings.Contains(err.Error(), "version 9") || !errors.Is(err, errState) {
		t.Errorf("error %v", err)
	}
	if _, err := New(Options{}); err == nil {
		t.Error("options without anything are taken")
	}
}
