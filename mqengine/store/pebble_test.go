package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/store/storetest"
)

// waitFor polls until the condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatalf("after 20 s still not so: %s", what)
		}
		<-time.After(time.Millisecond)
	}
}

func openDir(t *testing.T, dir string, opt store.Options) *store.Pebble {
	t.Helper()
	s, err := store.OpenPebble(dir, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestPebble_SecondOpen_RefusedCleanly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "store")
	s := openDir(t, dir, store.Options{})
	_, err := store.OpenPebble(dir, store.Options{})
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "open already") {
		t.Errorf("second open: %v", err)
	}
	if _, err := s.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(&store.Unit{Sync: true}); err != nil {
		t.Errorf("the first one goes on: %v", err)
	}
}

func TestPebble_MustExist_DoesNotCreate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "store")
	if _, err := store.OpenPebble(dir, store.Options{MustExist: true}); !errors.Is(err, store.ErrMissing) {
		t.Errorf("open: %v, want ErrMissing", err)
	}
	openDir(t, dir, store.Options{})
}

func TestPebble_Format_OthersAreRefusedUntouched(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ file, text, want string }{
		"newer":      {"FORMAT", "situationd store format 2\n", "use the newer program"},
		"garbage":    {"FORMAT", "\x00\xff", "FORMAT says"},
		"empty":      {"FORMAT", "", "FORMAT says"},
		"zero":       {"FORMAT", "situationd store format 0\n", "FORMAT says"},
		"other file": {"thesis.txt", "my only copy", "holds thesis.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, test.file)
			if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := store.OpenPebble(dir, store.Options{})
			if !errors.Is(err, store.ErrFormat) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("open: %v, want one line with %q", err, test.want)
			}
			if text, err := os.ReadFile(path); err != nil || string(text) != test.text {
				t.Errorf("the file is now %q, %v", text, err)
			}
		})
	}
}

func TestPebble_NotAFolder_OneError(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "store")} {
		if s, err := store.OpenPebble(dir, store.Options{}); err == nil || !strings.Contains(err.Error(), dir) || strings.Contains(err.Error(), "\n") {
			t.Errorf("open %s: %v, %v", dir, s, err)
		}
	}
}

func TestPebble_DiskNearlyFull_SpaceSaysSoAndApplyGoesOn(t *testing.T) {
	t.Parallel()
	fs := crashableFS()
	s := openDir(t, "qm", store.Options{FS: fs, Reserve: 1 << 20})
	if _, err := s.Load(storetest.NewContents()); err != nil {
		t.Fatal(err)
	}
	if err := s.Space(); err != nil {
		t.Errorf("space: %v", err)
	}
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1<<20 - 1})
	waitFor(t, "space is low", func() bool { return errors.Is(s.Space(), store.ErrLowSpace) })
	if err := s.Apply(&store.Unit{Sync: true}); err != nil {
		t.Errorf("apply: %v", err)
	}
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 20})
	waitFor(t, "space is back", func() bool { return s.Space() == nil })
}

func TestPebble_Reserve_MeasuresARealFileSystem(t *testing.T) {
	t.Parallel()
	plenty := openDir(t, t.TempDir(), store.Options{Reserve: 1})
	if err := plenty.Space(); err != nil {
		t.Errorf("one byte: %v", err)
	}
	greedy := openDir(t, t.TempDir(), store.Options{Reserve: 1 << 60})
	if err := greedy.Space(); !errors.Is(err, store.ErrLowSpace) {
		t.Errorf("an exabyte: %v, want ErrLowSpace", err)
	}
	careless := openDir(t, t.TempDir(), store.Options{Reserve: -1})
	if err := careless.Space(); err != nil {
		t.Errorf("no reserve: %v", err)
	}
}

// A creation that was interrupted anywhere is begun anew; nothing else is ever removed.
func TestPebble_CreationInterrupted_BeginsAnew(t *testing.T) {
	t.Parallel()
	count := newFaulty(errorfs.OpIsWrite)
	s, err := store.OpenPebble("qm", store.Options{FS: count.fs})
	if err != nil {
		t.Fatal(err)
	}
	total := count.count.Load()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for n := int64(1); n <= total; n++ {
		f := newFaulty(errorfs.OpIsWrite)
		f.at.Store(n)
		s, err := store.OpenPebble("qm", store.Options{FS: f.fs})
		if err == nil {
			_ = s.Close() // a removal that failed is no harm
		} else if !errors.Is(err, syscall.EIO) {
			t.Errorf("operation %d: %v", n, err)
		}
		for what, fs := range map[string]vfs.FS{"again": f.fs, "after a power failure": f.mem.CrashClone(vfs.CrashCloneCfg{})} {
			s, err := store.OpenPebble("qm", store.Options{FS: fs})
			if err != nil {
				t.Errorf("operation %d, %s: %v", n, what, err)
				continue
			}
			if _, err := s.Load(storetest.NewContents()); err != nil {
				t.Errorf("operation %d, %s: %v", n, what, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("operation %d, %s: %v", n, what, err)
			}
		}
	}
}

// Messages that come and go leave no space behind, also under one that stays.
func TestPebble_MessagesPassThrough_SpaceComesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openDir(t, dir, store.Options{}.WithMemTable(256<<10))
	last, err := s.Load(storetest.NewContents())
	if err != nil {
		t.Fatal(err)
	}
	body := make([]byte, 8<<10)
	const messages, depth = 6000, 50
	for i := range store.BodyID(messages) {
		var u store.Unit
		u.SetMessage(1, uint64(i), storetest.Header(last+i+1, "m"))
		storetest.SetBody(&u, last+i+1, body)
		if i > depth { // the first one is never read
			u.DeleteMessage(1, uint64(i-depth))
			u.DeleteBody(last + i - depth + 1)
		}
		if err := s.Apply(&u); err != nil {
			t.Fatal(err)
		}
	}
	const limit = messages * 8 << 10 / 4
	waitFor(t, "most of the space is back", func() bool { return folderSize(t, dir) < limit })
}

func folderSize(t *testing.T, dir string) (n int64) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}
