package store_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// gated is a store whose Apply waits for the test.
type gated struct {
	*store.Memory
	gate    chan error
	batches []string
}

func (g *gated) Apply(u *store.Unit) error {
	line := fmt.Sprintf("sync=%v", u.Sync)
	for _, op := range u.Ops {
		line += " " + op.Key
	}
	g.batches = append(g.batches, line)
	if err := <-g.gate; err != nil {
		return err
	}
	return g.Memory.Apply(u)
}

func newGated(t *testing.T) *gated {
	g := &gated{Memory: store.NewMemory(), gate: make(chan error)}
	if _, err := g.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	return g
}

// record makes a unit with one record.
func record(key string, sync bool) *store.Unit {
	u := &store.Unit{Sync: sync}
	u.SetRecord(key, []byte(key))
	return u
}

func TestCommitter_UnitsWaitForTheDisk_ShareOneBatchInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t)
		c := store.NewCommitter(g, store.CommitterOptions{})
		var answers []string
		answer := func(name string) func(error) {
			return func(err error) { answers = append(answers, fmt.Sprint(name, " ", err)) }
		}
		c.Submit(record("a", false), answer("a"))
		synctest.Wait() // a is with the disk
		c.Submit(record("b", false), answer("b"))
		c.Submit(record("c", true), answer("c"))
		c.Submit(&store.Unit{}, answer("nothing"))
		c.Submit(record("d", false), answer("d"))
		synctest.Wait()
		if len(answers) > 0 {
			t.Errorf("answered before the disk did: %v", answers)
		}
		g.gate <- nil
		g.gate <- nil
		c.Close()
		if want := []string{"sync=false a", "sync=true b c d"}; !slices.Equal(g.batches, want) {
			t.Errorf("batches %q, want %q", g.batches, want)
		}
		if want := []string{"a <nil>", "b <nil>", "c <nil>", "nothing <nil>", "d <nil>"}; !slices.Equal(answers, want) {
			t.Errorf("answers %q, want %q", answers, want)
		}
		if n := g.Unsynced(); n != 0 {
			t.Errorf("%d units are not durable", n)
		}
	})
}

func TestCommitter_DiskFails_EveryLaterUnitIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t)
		c := store.NewCommitter(g, store.CommitterOptions{})
		broken := errors.New("broken")
		var answers []error
		answer := func(err error) { answers = append(answers, err) }
		c.Submit(record("a", true), answer)
		synctest.Wait()
		c.Submit(record("b", true), answer)
		g.Fail(broken)
		g.gate <- nil
		g.gate <- nil
		c.Submit(record("c", true), answer)
		g.gate <- nil
		c.Close()
		if len(answers) != 3 {
			t.Fatalf("%d answers, want 3", len(answers))
		}
		for i, err := range answers {
			if !errors.Is(err, broken) || !errors.Is(err, store.ErrFailed) {
				t.Errorf("answer %d: %v", i, err)
			}
		}
	})
}

func TestCommitter_QueueIsFull_SubmitWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t)
		c := store.NewCommitter(g, store.CommitterOptions{Queue: 2})
		submitted, answered := 0, 0
		c.Submit(record("with the disk", false), func(error) {})
		synctest.Wait()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range 10 {
				c.Submit(record("k", false), func(error) { answered++ })
				submitted++
			}
		}()
		synctest.Wait()
		if submitted != 2 {
			t.Errorf("%d units were taken, want 2", submitted)
		}
		close(g.gate)
		<-ended
		c.Close()
		if answered != 10 {
			t.Errorf("%d answers, want 10", answered)
		}
	})
}

func TestCommitter_LargeUnits_EndABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGated(t)
		c := store.NewCommitter(g, store.CommitterOptions{BatchBytes: 1000})
		c.Submit(record("first", false), func(error) {})
		synctest.Wait()
		for range 4 {
			u := record("big", false)
			u.Ops[0].Value = make([]byte, 600)
			c.Submit(u, func(error) {})
		}
		close(g.gate)
		c.Close()
		if want := []string{"sync=false first", "sync=false big big", "sync=false big big"}; !slices.Equal(g.batches, want) {
			t.Errorf("batches %q, want %q", g.batches, want)
		}
	})
}
