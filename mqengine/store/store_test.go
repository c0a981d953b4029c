package store_test

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// memoryDisk crashes a Memory.
type memoryDisk struct{ m *store.Memory }

func (d *memoryDisk) Open() (store.Store, error) {
	d.m = d.m.Reopen()
	return d.m, nil
}

func (d *memoryDisk) Crash(rng *rand.Rand) {
	keep := 0
	if rng != nil {
		keep = rng.IntN(d.m.Unsynced() + 1)
	}
	d.m = d.m.Crash(keep)
}

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func() storetest.Disk { return &memoryDisk{store.NewMemory()} })
}

// pebbleDisk is a file system in memory that a power cut can hit.
type pebbleDisk struct {
	fs *vfs.MemFS
	p  *store.Pebble
}

func (d *pebbleDisk) Open() (store.Store, error) {
	p, err := store.OpenPebble("qm/store", store.Options{FS: d.fs}.WithMemTable(smallTable))
	d.p = p
	return p, err
}

// crashableFS is a file system in memory with space on it.
func crashableFS() *vfs.MemFS {
	fs := vfs.NewCrashableMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	return fs
}

func (d *pebbleDisk) Crash(rng *rand.Rand) {
	cfg := vfs.CrashCloneCfg{}
	if rng != nil {
		cfg = vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng}
	}
	clone := d.fs.CrashClone(cfg)
	_ = d.p.Close() // the process that died goes on in the old file system
	clone.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30, TotalBytes: 1 << 30})
	d.fs = clone
}

func TestPebble(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func() storetest.Disk { return &pebbleDisk{fs: crashableFS()} })
}
