package mqengine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A creation or deletion that was killed leaves a folder of many megabytes. The
// next one removes it, but no folder that somebody works in.
func TestCreate_RemovesWhatKilledCreationsLeft(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	make := func(name string, age time.Duration) string {
		dir := filepath.Join(qmgrsDir(data), workPrefix+name)
		if err := os.MkdirAll(filepath.Join(dir, "qm", "store"), 0o750); err != nil {
			t.Fatal(err)
		}
		when := time.Now().Add(-age)
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dead, deadToo := make("new-1", time.Hour), make("deleted-2", 2*leftoverAge)
	young, held := make("new-3", time.Second), make("new-4", time.Hour)
	f, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]bool{dead: false, deadToo: false, young: true, held: true} {
		if there, err := exists(dir); err != nil || there != want {
			t.Errorf("%s is there: %v, %v; want %v", filepath.Base(dir), there, err, want)
		}
	}
	if err := Delete(data, "QM1"); err != nil {
		t.Error(err)
	}
	if list, err := List(data); err != nil || len(list) != 0 {
		t.Errorf("after the deletion: %v, %v", list, err)
	}
}
