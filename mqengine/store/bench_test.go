package store_test

import (
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// BenchmarkCommitter puts 1 KiB messages, each in a unit of its own, from
// writers that wait for each answer: what b.N/op says is the time per message
// with that many clients.
func BenchmarkCommitter(b *testing.B) {
	for _, writers := range []int{1, 16, 64, 1024} {
		b.Run(fmt.Sprint(writers), func(b *testing.B) {
			s, last := benchStore(b)
			c := store.NewCommitter(s, store.CommitterOptions{})
			body := make([]byte, 1024)
			_, _ = rand.Read(body)
			header := storetest.Header(last, string(make([]byte, 250)))
			b.SetBytes(1024)
			b.ResetTimer()
			var mu sync.Mutex // the actor: one Submit at a time
			var wg sync.WaitGroup
			n := 0
			for range writers {
				wg.Go(func() {
					var u store.Unit
					answer := make(chan error, 1)
					for {
						mu.Lock()
						if n == b.N {
							mu.Unlock()
							return
						}
						n++
						id := last + store.BodyID(n)
						u.Reset()
						u.SetMessage(1, uint64(n), header)
						storetest.SetBody(&u, id, body)
						u.Sync = true
						c.Submit(&u, func(err error) { answer <- err })
						mu.Unlock()
						if err := <-answer; err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
			c.Close()
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func benchStore(b *testing.B) (*store.Pebble, store.BodyID) {
	s, err := store.OpenPebble(b.TempDir(), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	last, err := s.Load(storetest.NewContents())
	if err != nil {
		b.Fatal(err)
	}
	return s, last
}

// BenchmarkLoad opens a store with a million messages.
func BenchmarkLoad(b *testing.B) {
	const messages = 1_000_000
	dir := b.TempDir()
	s, err := store.OpenPebble(dir, store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	last, err := s.Load(storetest.NewContents())
	if err != nil {
		b.Fatal(err)
	}
	body := make([]byte, 1024)
	var u store.Unit
	start := time.Now()
	for i := range messages {
		_, _ = rand.Read(body)
		u.SetMessage(1, uint64(i), storetest.Header(last+store.BodyID(i)+1, string(body[:250])))
		storetest.SetBody(&u, last+store.BodyID(i)+1, append([]byte(nil), body...))
		if len(u.Ops) == 200 {
			u.Sync = true
			if err := s.Apply(&u); err != nil {
				b.Fatal(err)
			}
			u.Reset()
		}
	}
	b.Logf("fill %v", time.Since(start))
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		start := time.Now()
		s, err := store.OpenPebble(dir, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		opened := time.Since(start)
		count := counter{}
		if _, err := s.Load(&count); err != nil {
			b.Fatal(err)
		}
		if count.n != messages {
			b.Fatalf("%d messages", count.n)
		}
		b.Logf("open %v load %v", opened, time.Since(start)-opened)
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

type counter struct{ n int }

func (c *counter) Record(string, []byte) error { return nil }

func (c *counter) Message(_ uint32, _ uint64, h []byte) (store.BodyID, error) {
	c.n++
	id := store.BodyID(0)
	for _, b := range h[:8] {
		id = id<<8 | store.BodyID(b)
	}
	return id, nil
}
