package actions

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/situationd/situationd/situations"
)

var (
	_ situations.StateStore = (*DB)(nil)
	_ situations.Sink       = (*Engine)(nil)
	_ Store                 = (*DB)(nil)
	_ AlertStore            = (*DB)(nil)
	_ Programs              = (*Exec)(nil)
	_ Recorder              = (*Journal)(nil)
)

func openTestDB(t *testing.T, path string) *DB {
	t.Helper()
	db, err := OpenDB(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func storedIntentNamed(id string, at time.Time) situations.Intent {
	return situations.Intent{
		ID: id, Key: situations.Key{Situation: "S", QMgr: "QM2", Queue: "DCQ1"}, Edge: situations.EdgeOpen, At: at,
		Interval: time.Second,
		Actions: []situations.Action{
			{Verb: situations.VerbPut, Value: disabled, Claim: true, ClaimName: "Q"},
			{Verb: situations.VerbExec, Args: []string{"/opt/fix", "${QUEUE}"}, Timeout: time.Minute},
		},
		Row: situations.Row{Queue: "DCQ1", Clusters: []string{"C1"}, Env: situations.Attributes{QUEUE: "DCQ1", CURDEPTH: 7}},
	}
}

func TestStateSurvivesReopening(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	db := openTestDB(t, path)
	at := time.Date(2026, 11, 30, 10, 0, 0, 5, time.UTC)
	key := situations.Key{Situation: "S", QMgr: "QM2", Queue: "DCQ1"}
	other := situations.Key{Situation: "S", QMgr: "QM2", Queue: "DCQ2"}
	// Names that sort otherwise than they came.
	one, two := storedIntentNamed("z1", at), storedIntentNamed("a2", at)
	must(t, db.Commit(t.Context(), []situations.ItemChange{{Key: key, Data: []byte("x")}, {Key: other, Data: []byte("y")}}, []situations.Intent{one}))
	must(t, db.Commit(t.Context(), []situations.ItemChange{{Key: other}}, []situations.Intent{two, storedIntentNamed("m3", at)}))
	progress := Progress{
		Next: 1, Attempt: 2, Tries: 1, Moved: 9, Flight: &Flight{At: at, Index: 1, Kind: kindLowering, Program: &Process{PID: 7, Started: 8}},
		Lowered: []Lowered{{Action: 0, Changes: []change{{Attr: attrPut, Before: enabled, After: disabled}}, At: at}},
	}
	claim := Claim{Target: here, Attr: attrPut, Baseline: enabled, Set: disabled, Holders: []Holder{{Owner: "Q", Value: disabled, Since: at}}}
	lost := Claim{Target: here, Attr: attrRank, Baseline: "1"}
	must(t, db.SaveActions(Update{
		Progress: map[string]Progress{"z1": progress, "no such": {Next: 1}}, Claims: []Claim{claim, lost},
		Raised: map[Target]time.Time{here: at, {QMgr: "QM2", Queue: "X"}: at}, Budget: []time.Time{at},
	}))
	must(t, db.SaveActions(Update{Finished: []string{"m3"}, Unclaimed: []Claim{lost}, Raised: map[Target]time.Time{{QMgr: "QM2", Queue: "X"}: {}}}))
	sent := []SentAlert{{Labels: map[string]string{"alertname": "S"}, StartsAt: at, ResolvedAt: at}}
	must(t, db.SaveAlerts(sent))
	must(t, db.AppendLedger("DCQ1", []MovedMessage{{Key: []byte("old"), At: at}, {Key: []byte("new"), At: at.Add(time.Minute)}}))
	must(t, db.Close())

	db = openTestDB(t, path)
	items, err := db.Load()
	must(t, err)
	if diff := cmp.Diff([]situations.ItemRecord{{Key: key, Data: []byte("x")}}, items); diff != "" {
		t.Error(diff)
	}
	got, err := db.LoadActions()
	must(t, err)
	want := Stored{
		Intents: []StoredIntent{{Intent: one, Progress: progress}, {Intent: two}},
		Claims:  []Claim{claim}, Raised: map[Target]time.Time{here: at}, Budget: []time.Time{at},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	alerts, err := db.LoadAlerts()
	must(t, err)
	if diff := cmp.Diff(sent, alerts, cmpopts.IgnoreUnexported(SentAlert{})); diff != "" {
		t.Error(diff)
	}
	ledger, err := db.LoadLedger("DCQ1", at.Add(time.Second))
	must(t, err)
	if len(ledger) != 1 || string(ledger[0].Key) != "new" {
		t.Errorf("ledger %v", ledger)
	}
	if ledger, err = db.LoadLedger("DCQ1", at.Add(time.Hour)); err != nil || len(ledger) != 0 {
		t.Errorf("ledger %v, %v", ledger, err)
	}
	if ledger, err = db.LoadLedger("nothing", at); err != nil || len(ledger) != 0 {
		t.Errorf("ledger %v, %v", ledger, err)
	}
}

// What an older version wrote of an intent is read, with the attributes where it
// had them.
func TestIntentOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	want := storedIntentNamed("one", time.Date(2026, 11, 30, 10, 0, 0, 5, time.UTC))
	env, ok := want.Row.Env.(situations.Attributes)
	if !ok {
		t.Fatalf("attributes %T", want.Row.Env)
	}
	bare := want
	bare.Row.Env = nil
	data, err := json.Marshal(map[string]any{"Intent": bare, "Env": env})
	must(t, err)
	got, err := decodeIntent(data)
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whoever reads the state does not keep others from changing it.
func TestStateIsChangedWhileItIsRead(t *testing.T) {
	t.Parallel()
	db := openTestDB(t, filepath.Join(t.TempDir(), "state.db"))
	db.mu.RLock() // as long as the read takes
	changed := make(chan error, 1)
	go func() { changed <- db.Note("a", "b") }()
	select {
	case err := <-changed:
		must(t, err)
	case <-time.After(20 * time.Second):
		t.Error("the change waits for the reader")
	}
	db.mu.RUnlock()
}

func TestStateHasOneUser(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state.db")
	openTestDB(t, path)
	if _, err := OpenDB(path); !errors.Is(err, ErrInUse) {
		t.Errorf("a second user: %v", err)
	}
}

func TestDamagedState(t *testing.T) {
	t.Parallel()
	fill := func(path string) {
		db := openTestDB(t, path)
		var intents []situations.Intent
		for i := range 300 {
			intents = append(intents, storedIntentNamed(string(rune('a'+i%26))+time.Duration(i).String(), time.Now()))
		}
		must(t, db.Commit(t.Context(), nil, intents))
		must(t, db.Close())
	}
	use := func(path string) error {
		db, err := OpenDB(path)
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.LoadActions()
		return err
	}
	for name, spoil := range map[string]func([]byte) []byte{
		"not a state": func([]byte) []byte { return []byte("hello, world\n") },
		"cut short":   func(b []byte) []byte { return b[:len(b)/3/4096*4096] },
		"overwritten": func(b []byte) []byte {
			r := rand.New(rand.NewPCG(1, 2))
			for i := 2 * 4096; i < len(b); i++ {
				b[i] = byte(r.UintN(256))
			}
			return b
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "state.db")
			fill(path)
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, spoil(data), 0o640))
			if err := use(path); !errors.Is(err, ErrDamaged) {
				t.Errorf("got %v", err)
			}
		})
	}
}
