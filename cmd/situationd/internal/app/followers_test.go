package app

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The end waits for those who are expected, and for nobody longer than that.
func TestFollowers_Wait(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, meanwhile func(*followers)
		want              time.Duration
	}{
		"nobody":           {func(*followers) {}, func(*followers) {}, 0},
		"all were told":    {func(f *followers) { f.told("a", false); f.told("a", true) }, func(*followers) {}, 0},
		"long gone":        {func(f *followers) { f.told("a", false); time.Sleep(followTime) }, func(*followers) {}, 0},
		"one is told":      {func(f *followers) { f.told("a", false) }, func(f *followers) { f.told("a", true) }, followTime / 4},
		"one does not ask": {func(f *followers) { f.told("a", false) }, func(f *followers) { f.told("b", true) }, followTime},
		"one of two":       {func(f *followers) { f.told("a", false); f.told("b", false) }, func(f *followers) { f.told("b", true) }, followTime},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := newFollowers()
				c.before(f)
				begin := time.Now()
				var meanwhile sync.WaitGroup
				defer meanwhile.Wait()
				meanwhile.Go(func() {
					time.Sleep(followTime / 4)
					c.meanwhile(f)
				})
				f.wait()
				if took := time.Since(begin); took != c.want {
					t.Errorf("waited %v, want %v", took, c.want)
				}
			})
		})
	}
}
