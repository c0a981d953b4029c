package store_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// churn is a queue through which messages of 1 KiB pass, oldest first.
type churn struct {
	t           *testing.T
	s           *store.Pebble
	r           *rand.ChaCha8
	first, next store.BodyID
	keep        int // one of so many messages stays for ever; 0: none does
	live        int // those that are there
}

const churnBody, churnHeader = 1024, 200

// put and get are a hundred messages as one unit.
func (c *churn) put() {
	var u store.Unit
	for range 100 {
		body := make([]byte, churnBody)
		c.r.Read(body)
		u.SetMessage(1, uint64(c.next), body[:churnHeader])
		storetest.SetBody(&u, c.next, body)
		c.next++
		c.live++
	}
	c.apply(&u)
}

func (c *churn) get() {
	var u store.Unit
	for range 100 {
		if c.keep == 0 || int(c.first)%c.keep != 0 {
			u.DeleteMessage(1, uint64(c.first))
			u.DeleteBody(c.first)
			c.live--
		}
		c.first++
	}
	c.apply(&u)
}

// apply looks at the disk as the queue manager does.
func (c *churn) apply(u *store.Unit) {
	c.t.Helper()
	u.Sync = true
	if err := c.s.Apply(u); err != nil {
		c.t.Fatal(err)
	}
	if err := c.s.Space(); err != nil {
		c.t.Fatal(err)
	}
}

// A queue that is filled and drained again and again takes no more and more of
// the disk, also when some of its messages are never got.
func TestPebble_QueueFilledAndDrained_DiskUseIsBounded(t *testing.T) {
	t.Parallel()
	const memTable, units, rounds = 256 << 10, 30, 28
	for name, keep := range map[string]int{"AllAreGot": 0, "SomeStay": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			disk := &smallDisk{FS: vfs.NewMem(), size: 1 << 40}
			s, err := store.OpenPebble("qm", store.Options{FS: disk, Reserve: -1}.WithMemTable(memTable).WithBlobAge(10*time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Load(storetest.NewContents()); err != nil {
				t.Fatal(err)
			}
			c := &churn{t: t, s: s, r: rand.NewChaCha8([32]byte{1}), first: 1, next: 1, keep: keep}
			used := func() uint64 {
				u, err := disk.GetDiskUsage("qm")
				if err != nil {
					t.Fatal(err)
				}
				return u.UsedBytes
			}
			const round = units * 100 * (churnBody + churnHeader)
			for range rounds {
				for range units {
					c.put()
				}
				for range units {
					c.get()
				}
			}
			t.Logf("%d MiB passed through, %d KiB are there, the disk has %d KiB", rounds*round>>20, c.live*(churnBody+churnHeader)>>10, used()>>10)
			// What may be garbage: memory tables and their logs, the growth from which
			// on garbage is looked for, and half of what is there.
			limit := uint64(3*(c.live*(churnBody+churnHeader)) + 24*memTable + round)
			waitFor(t, "the disk is given back", func() bool {
				c.put() // the queue is in use, as before
				c.get()
				return used() < limit
			})
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
