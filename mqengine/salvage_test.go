package mqengine

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// stocked is a queue manager with messages in tables and blobs, ended in order.
func stocked(t *testing.T, messages int) (data, folder string) {
	t.Helper()
	data = dataFolder(t)
	q, folder := startFolder(t, data)
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	for i := range messages {
		put(t, c, h, fmt.Sprintf("%05d%s", i, strings.Repeat("x", 2000)), 0)
	}
	if err := q.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	// A start writes what is in the log to tables.
	if err := restartFolder(t, folder).Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	return data, folder
}

// largest is the largest file of the store with that ending.
func largest(t *testing.T, folder, ending string) (path string, size int64) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(storePath(folder), "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.Size() >= size {
			path, size = name, info.Size()
		}
	}
	if path == "" {
		t.Fatalf("the store has no %s file", ending)
	}
	return path, size
}

// A store that lost bodies is reported before anything is given up, queue by
// queue; after a salvage the rest is there, each message once, and the damaged
// store is kept.
func TestSalvage_BodiesLost_ReportedAndTheRestIsThere(t *testing.T) {
	t.Parallel()
	const messages = 300
	data, folder := stocked(t, messages)
	blob, size := largest(t, folder, ".blob")
	text, err := os.ReadFile(blob)
	if err != nil {
		t.Fatal(err)
	}
	for i := size / 2; i < size/2+50; i++ {
		text[i] ^= 0xff
	}
	if err := os.WriteFile(blob, text, 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := Examine(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	var lost int
	line := strings.Join(before.Lines, "\n")
	i := strings.Index(line, "lost: ")
	if i < 0 {
		t.Fatalf("the report does not say what is lost:\n%s", line)
	}
	if _, err := fmt.Sscanf(line[i:], "lost: %d messages of queue Q,", &lost); err != nil || lost == 0 {
		t.Fatalf("%v: the report does not say what is lost:\n%s", err, line)
	}
	after, err := Salvage(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(after.Kept); err != nil {
		t.Errorf("the damaged store: %v", err)
	}
	c := connectTo(t, restartFolder(t, folder))
	h := open(t, c, "Q", outputAndInput)
	seen := map[string]bool{}
	for {
		body, reason := get(t, c, h, 0)
		if reason == mqi.MQRC_NO_MSG_AVAILABLE {
			break
		}
		if reason != mqi.MQRC_NONE {
			t.Fatal(reason)
		}
		if len(body) != 2005 || seen[body[:5]] {
			t.Fatalf("a message of %d bytes, or twice: %.5s", len(body), body)
		}
		seen[body[:5]] = true
	}
	if len(seen)+lost != messages {
		t.Errorf("%d messages are there and %d were reported as lost, of %d", len(seen), lost, messages)
	}
	put(t, c, h, "new", 0)
	wantGet(t, c, h, "new", 0)
}

// Where the definition of a queue is lost, the messages that are whole and that
// nobody can get any more are counted.
func TestLosses_DefinitionLost_MessagesOutOfReachAreCounted(t *testing.T) {
	t.Parallel()
	s := qmgr.NewSalvage()
	for _, queue := range []uint32{9, 7, 9} {
		if err := s.Message(queue, 1, nil, 0, nil); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Join(lossesOf(&store.Findings{Messages: 3}, s, nil).Lines, "\n")
	want := "out of reach: 1 messages of the queue of number 7, whose definition is lost; they stay in the store and cannot be got\n" +
		"out of reach: 2 messages of the queue of number 9, whose definition is lost; they stay in the store and cannot be got\n"
	if !strings.HasPrefix(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

// A range that cannot be read is told as what lies in it, also where it has no end.
func TestLosses_Gaps_SayWhatLiesInThem(t *testing.T) {
	t.Parallel()
	key := func(queue uint32, seq uint64) []byte {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, queue), seq)
	}
	const one, two = "the queue of number 1, whose definition is lost", "the queue of number 2, whose definition is lost"
	for _, test := range []struct {
		gap  store.Gap
		want string
	}{
		{store.Gap{Space: store.SpaceRecord, First: []byte("a"), Last: []byte("b")}, `definitions and states from "a" up to "b"`},
		{store.Gap{Space: store.SpaceRecord, First: []byte("a\x00\x01"), Last: []byte("b\x00\x00\x01")}, `definitions and states from "a" up to "b"`},
		{store.Gap{Space: store.SpaceRecord, First: []byte("a")}, `definitions and states from "a" on`},
		{store.Gap{Space: store.SpaceMessage}, "the messages of all queues"},
		{store.Gap{Space: store.SpaceMessage, Last: key(1, 5)}, "the messages of all queues up to position 5 of " + one},
		{store.Gap{Space: store.SpaceMessage, First: key(1, 5)}, "the messages of " + one + " from position 5 on, and of all queues of higher number"},
		{store.Gap{Space: store.SpaceMessage, First: key(1, 5), Last: key(1, 7)}, "the messages of " + one + " from position 5 up to 7"},
		{store.Gap{Space: store.SpaceMessage, First: key(1, 5), Last: key(2, 7)}, "the messages of " + one + " from position 5 on, up to position 7 of " + two},
	} {
		l := lossesOf(&store.Findings{Gaps: []store.Gap{test.gap}}, qmgr.NewSalvage(), nil)
		if want := "lost: " + test.want; l.Whole || l.Lines[0] != want {
			t.Errorf("got %q, want %q", l.Lines[0], want)
		}
	}
}

// Files that are cut or gone stop the start with one line that says damaged.
func TestStart_FilesCutOrGone_SaysDamaged(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{".log", ".sst", ".blob"} {
		for _, gone := range []bool{true, false} {
			t.Run(fmt.Sprint(ending, gone), func(t *testing.T) {
				t.Parallel()
				data, folder := stocked(t, 20)
				path, size := largest(t, folder, ending)
				var err error
				if gone {
					err = os.Remove(path)
				} else {
					err = os.Truncate(path, size/2)
				}
				if err != nil {
					t.Fatal(err)
				}
				q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder})
				if err == nil {
					t.Fatal("it started", q.Stop(testContext(t)))
				}
				if !Damaged(err) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), filepath.Base(path)) {
					t.Errorf("start: %v; want one line that names the file", err)
				}
				if _, err := Salvage(data, "QM1"); err != nil {
					t.Fatal(err)
				}
				run(t, connectTo(t, restartFolder(t, folder)), "DISPLAY QMGR QMID")
			})
		}
	}
}
