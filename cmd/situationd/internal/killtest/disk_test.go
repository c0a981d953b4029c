package killtest

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// smallDisk mounts a file system of so many MiB, where that is allowed.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := dataFolder(t)
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no small disk can be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fillDisk leaves no byte free and gives the file to remove.
func fillDisk(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for block := make([]byte, 1<<20); len(block) > 0; {
		n, err := f.Write(block)
		switch {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:n/2] // the last bytes go in smaller pieces
		case err != nil:
			t.Fatal(err)
		}
	}
	return path
}

// putUntil puts numbered bodies outside syncpoint until one is refused.
func putUntil(t *testing.T, conn mqengine.Conn, h mqengine.Handle, name string) (answered []string, refused error) {
	t.Helper()
	filler := strings.Repeat("0123456789abcdef", 4<<10)
	for i := 0; i < 20_000; i++ {
		id := names(i, 1, name)[0]
		err := put(conn, h, id, mqi.MQPMO_NO_SYNCPOINT, func(id string) []byte { return []byte(id + " " + filler) })
		if err != nil {
			return answered, err
		}
		answered = append(answered, id)
	}
	t.Fatal("the disk is never full")
	return nil, nil
}

// A disk that fills up: puts are refused before it is full, gets go on, and when
// others take the rest the queue manager says so and ends. What was answered is
// there when there is room again.
func TestDisk_FullAndFreedAgain_AnsweredMessagesSurvive(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, "100m")
	qm := proctest.NewQMgr(t, &program, filepath.Join(disk, "d"), "DSK1", "DEFINE QLOCAL(Q) MAXDEPTH(999999)\n", nil)
	qm.Start(t)
	conn, err := qm.Dial(t.Context(), "putter")
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := conn.Open(t.Context(), mqi.OD{ObjectName: "Q"}, mqi.MQOO_OUTPUT|mqi.MQOO_INPUT_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	answered, err := putUntil(t, conn, h, "a")
	if !errors.Is(err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE) || len(answered) < 50 {
		t.Fatalf("after %d puts: %v, want 2056", len(answered), err)
	}
	for i := range 10 {
		msg, err := conn.Get(t.Context(), h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_NO_SYNCPOINT, MaxLength: -1})
		if err != nil || !strings.HasPrefix(string(msg.Body), answered[i]+" ") {
			t.Fatalf("get %d with puts refused: %v", i, err)
		}
	}
	answered = answered[10:]
	filler := fillDisk(t, disk)
	qm.Kill()
	out := proctest.Do(t, program.Command(t, qm.Data, "situationd", "strmqm", "DSK1", "--listen", "none"), "")
	if out.Exit == 0 {
		t.Error("a start on a full disk says success")
	} else if out.Exit != 1 || !strings.Contains(out.Stderr, "no space left on device") || strings.Contains(out.Stderr, "goroutine") {
		t.Errorf("a start on a full disk exits %d: %s", out.Exit, out.Stderr)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	qm.Start(t)
	var left []string
	for _, body := range content(t, qm, "Q") {
		id, _, _ := strings.Cut(string(body), " ")
		left = append(left, id)
	}
	once(t, answered, left)
	t.Logf("%d messages of 64 KiB answered before the disk was full, all there", len(answered))
}
