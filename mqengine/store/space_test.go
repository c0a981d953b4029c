package store_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// smallDisk is a disk in memory of a certain size.
type smallDisk struct {
	vfs.FS
	size uint64
}

func (d *smallDisk) GetDiskUsage(dir string) (vfs.DiskUsage, error) {
	names, err := d.List(dir)
	if err != nil {
		return vfs.DiskUsage{}, err
	}
	var used uint64
	for _, name := range names {
		info, err := d.Stat(d.PathJoin(dir, name))
		if err != nil {
			continue // it was deleted meanwhile
		}
		used += uint64(info.Size())
	}
	return vfs.DiskUsage{AvailBytes: d.size - min(d.size, used), TotalBytes: d.size, UsedBytes: used}, nil
}

// putBodies writes bodies that cannot be compressed until the store is low or
// there are most of them, and gives their number and the answer of Space.
func putBodies(t *testing.T, s store.Store, first store.BodyID, most int) (n int, low error) {
	t.Helper()
	r := rand.NewChaCha8([32]byte{1})
	for ; n < most; n++ {
		if low = s.Space(); low != nil {
			return n, low
		}
		body := make([]byte, 64<<10)
		r.Read(body)
		var u store.Unit
		id := first + store.BodyID(n)
		u.SetMessage(1, uint64(id), []byte("header"))
		u.SetBody(id)
		u.Ops[len(u.Ops)-1].Value = body
		u.Sync = true
		if err := s.Apply(&u); err != nil {
			t.Fatal(err)
		}
	}
	return n, nil
}

func deleteBodies(t *testing.T, s store.Store, first store.BodyID, n int) {
	t.Helper()
	var u store.Unit
	for i := range n {
		u.DeleteMessage(1, uint64(first)+uint64(i))
		u.DeleteBody(first + store.BodyID(i))
	}
	u.Sync = true
	if err := s.Apply(&u); err != nil {
		t.Fatal(err)
	}
}

// The answer comes before the disk is too full to write out what is in the log
// only; and once the messages are gone their place is given back, although
// nothing else is written any more.
func TestPebble_DiskFillsUp_SpaceSaysSoInTimeAndAgainWhenItIsFree(t *testing.T) {
	t.Parallel()
	const reserve = 16 << 20
	disk := &smallDisk{FS: vfs.NewMem(), size: 64 << 20}
	s, err := store.OpenPebble("qm", store.Options{FS: disk, Reserve: reserve}.WithMemTable(4<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	first := store.BodyID(1)
	for round := range 3 {
		n, low := putBodies(t, s, first, 1000)
		usage, err := disk.GetDiskUsage("qm")
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(low, store.ErrLowSpace) {
			t.Fatalf("round %d: after %d bodies with %d bytes free: %v, want ErrLowSpace", round, n, usage.AvailBytes, low)
		}
		if round == 0 && n < 200 {
			t.Errorf("round %d: only %d bodies of 64 KiB fit on a disk of 64 MiB", round, n)
		}
		if usage.AvailBytes < reserve-8<<20 {
			t.Errorf("round %d: %d bytes are free, %d should be", round, usage.AvailBytes, reserve)
		}
		deleteBodies(t, s, first, n)
		first += store.BodyID(n)
		waitFor(t, "space is free again", func() bool { return s.Space() == nil })
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Space(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
