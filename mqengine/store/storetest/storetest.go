package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/situationd/situationd/mqengine/store"
)

// Disk is where a store lives across its processes.
type Disk interface {
	// Open starts a process on the disk. The one before it was closed or crashed.
	Open() (store.Store, error)
	// Crash ends the process without notice. What was not synced is lost, or kept
	// in part as rng says.
	Crash(rng *rand.Rand)
}

// Run checks everything that the contract promises. newDisk makes an empty disk.
func Run(t *testing.T, newDisk func() Disk) {
	for name, test := range map[string]func(*testing.T, Disk){
		"Empty":                   testEmpty,
		"VisitsInOrder":           testVisitsInOrder,
		"Overwrites":              testOverwrites,
		"Deletes":                 testDeletes,
		"BodiesInOrder":           testBodiesInOrder,
		"KeepsNothingOfTheUnit":   testKeepsNothing,
		"SyncedSurvivesCrash":     testSynced,
		"UnsyncedSurvivesClose":   testUnsyncedClose,
		"BodyNumbersNeverReturn":  testBodyNumbers,
		"BodyOfTheFutureRefused":  testFutureBody,
		"VisitorsErrorEndsLoad":   testVisitorError,
		"LoadsOnce":               testLoadsOnce,
		"ClosedRefuses":           testClosed,
		"UnknownOperationRefused": testUnknownOperation,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newDisk())
		})
	}
	t.Run("CrashKeepsAPrefix", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(r *rapid.T) { crashKeepsPrefix(r, newDisk()) })
	})
}

// open starts a process and loads its store.
func open(t testing.TB, d Disk) (store.Store, *Contents, store.BodyID) {
	t.Helper()
	s, err := d.Open()
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	c := NewContents()
	maxBody, err := s.Load(c)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return s, c, maxBody
}

func apply(t testing.TB, s store.Store, sync bool, fill func(*store.Unit)) {
	t.Helper()
	u := store.Unit{Sync: sync}
	fill(&u)
	if err := s.Apply(&u); err != nil {
		t.Fatalf("apply: %v", err)
	}
}

func closeStore(t testing.TB, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func want(t testing.TB, got *Contents, entries ...string) {
	t.Helper()
	if diff := cmp.Diff(entries, got.Order); diff != "" {
		t.Errorf("visited (-want +got):\n%s", diff)
	}
}

func testEmpty(t *testing.T, d Disk) {
	s, c, _ := open(t, d)
	want(t, c)
	if err := s.Space(); err != nil {
		t.Errorf("space: %v", err)
	}
	if _, err := s.Body(1); !errors.Is(err, store.ErrNoBody) {
		t.Errorf("body: %v, want ErrNoBody", err)
	}
	apply(t, s, true, func(*store.Unit) {})
	closeStore(t, s)
}

func testVisitsInOrder(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, true, func(u *store.Unit) {
		u.SetMessage(256, 1, Header(first+1, "d"))
		u.SetMessage(1, 300, Header(first+2, "c"))
		u.SetMessage(1, 2, Header(0, "b"))
		u.SetMessage(0, 9, Header(0, "a"))
		SetBody(u, first+1, []byte("one"))
		SetBody(u, first+2, nil)
		u.SetRecord("queue/B", []byte("2"))
		u.SetRecord("queue/A", []byte("1"))
		u.SetRecord("", []byte("no name"))
		u.SetRecord("queue", nil)
	})
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, `r "" no name`, `r "queue" `, `r "queue/A" 1`, `r "queue/B" 2`,
		"m 0 9 a", "m 1 2 b", "m 1 300 c", "m 256 1 d")
	wantBody(t, s, first+1, "one")
	wantBody(t, s, first+2, "")
	closeStore(t, s)
}

func wantBody(t testing.TB, s store.Store, id store.BodyID, text string) {
	t.Helper()
	if body, err := s.Body(id); err != nil || string(body) != text {
		t.Errorf("body %d is %.20q (%d bytes), %v, want %.20q (%d bytes)", id, body, len(body), err, text, len(text))
	}
}

func testOverwrites(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, false, func(u *store.Unit) {
		u.SetMessage(1, 1, Header(first+1, "old"))
		SetBody(u, first+1, []byte("body"))
		u.SetRecord("k", []byte("old"))
	})
	apply(t, s, true, func(u *store.Unit) {
		u.SetMessage(1, 1, Header(first+1, "backed out once"))
		u.SetRecord("k", []byte("new"))
		u.SetRecord("k", []byte("newer"))
	})
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, `r "k" newer`, "m 1 1 backed out once")
	wantBody(t, s, first+1, "body")
	closeStore(t, s)
}

func testDeletes(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, true, func(u *store.Unit) {
		for i := range store.BodyID(3) {
			u.SetMessage(1, uint64(i), Header(first+1+i, fmt.Sprint(i)))
			SetBody(u, first+1+i, []byte{byte(i)})
		}
		u.SetRecord("a", []byte("1"))
		u.SetRecord("b", []byte("2"))
	})
	apply(t, s, true, func(u *store.Unit) {
		u.DeleteMessage(1, 1)
		u.DeleteBody(first + 2)
		u.DeleteRecord("a")
		u.DeleteRecord("never there")
		u.DeleteMessage(9, 9)
	})
	if _, err := s.Body(first + 2); !errors.Is(err, store.ErrNoBody) {
		t.Errorf("deleted body: %v, want ErrNoBody", err)
	}
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, `r "b" 2`, "m 1 0 0", "m 1 2 2")
	wantBody(t, s, first+1, "\x00")
	wantBody(t, s, first+3, "\x02")
	closeStore(t, s)
}

func testBodiesInOrder(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, true, func(u *store.Unit) {
		for i := range store.BodyID(20) {
			u.SetMessage(1, uint64(i), Header(first+1+i, ""))
			SetBody(u, first+1+i, bytes.Repeat([]byte{'a' + byte(i)}, 400*int(i%4))) // some go to files of their own
		}
		u.SetRecord("behind", []byte("is no body"))
	})
	apply(t, s, true, func(u *store.Unit) {
		u.DeleteMessage(1, 2)
		u.DeleteBody(first + 3)
	})
	check := func(when string, s store.Store, first store.BodyID) {
		for _, c := range []struct {
			id         store.BodyID
			next, size int
			want       string
		}{
			{1, 0, 1 << 20, "a"},
			{1, 3, 1 << 20, "a b d"}, // c is gone
			{2, 1, 1 << 20, "b"},
			{4, 4, 1600, "d e f"}, // what would be too long ends it: 1200, 0 and 400 bytes
			{4, 4, 1, "d"},        // but not the one asked for
			{5, 100, 1 << 20, "e f g h i j k l m n o p q r s t"},
		} {
			list, err := s.Bodies(first+c.id, c.next, c.size)
			var got []string
			for _, b := range list {
				n := b.ID - first - 1
				if want := bytes.Repeat([]byte{'a' + byte(n)}, 400*int(n%4)); !bytes.Equal(b.Data, want) {
					t.Errorf("%s: body %d of Bodies(%d, %d, %d) has %d other bytes, want %d", when, n+1, c.id, c.next, c.size, len(b.Data), len(want))
				}
				got = append(got, string('a'+rune(n)))
			}
			if strings.Join(got, " ") != c.want || err != nil {
				t.Errorf("%s: Bodies(%d, %d, %d) gives %s, %v, want %s", when, c.id, c.next, c.size, got, err, c.want)
			}
		}
		for _, id := range []store.BodyID{3, 21} {
			if list, err := s.Bodies(first+id, 100, 1<<20); !errors.Is(err, store.ErrNoBody) {
				t.Errorf("%s: body %d is not there, and Bodies gives %d, %v", when, id, len(list), err)
			}
		}
	}
	check("in memory", s, first)
	closeStore(t, s)
	s, _, _ = open(t, d)
	check("opened again", s, first)
	closeStore(t, s)
	if _, err := s.Bodies(first+1, 1, 1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

func testKeepsNothing(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	header, body, record := Header(first+1, "header"), []byte("body"), []byte("record")
	var u store.Unit
	u.SetMessage(1, 1, header)
	SetBody(&u, first+1, body)
	u.SetRecord("k", record)
	u.Sync = true
	if err := s.Apply(&u); err != nil {
		t.Fatal(err)
	}
	for _, b := range [][]byte{header, body, record} {
		clear(b)
	}
	u.Reset()
	got, err := s.Body(first + 1)
	if err != nil || string(got) != "body" {
		t.Errorf("body is %q, %v", got, err)
	}
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, `r "k" record`, "m 1 1 header")
	closeStore(t, s)
}

func testSynced(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, false, func(u *store.Unit) { u.SetRecord("before", []byte("1")) })
	apply(t, s, true, func(u *store.Unit) {
		u.SetMessage(1, 1, Header(first+1, "m"))
		SetBody(u, first+1, bytes.Repeat([]byte("x"), 100_000))
	})
	// A sync without contents covers what was applied before it.
	apply(t, s, false, func(u *store.Unit) { u.SetRecord("later", []byte("2")) })
	apply(t, s, true, func(*store.Unit) {})
	d.Crash(nil)
	s, c, _ := open(t, d)
	want(t, c, `r "before" 1`, `r "later" 2`, "m 1 1 m")
	wantBody(t, s, first+1, string(bytes.Repeat([]byte("x"), 100_000)))
	closeStore(t, s)
}

func testUnsyncedClose(t *testing.T, d Disk) {
	s, _, _ := open(t, d)
	apply(t, s, false, func(u *store.Unit) { u.SetRecord("k", []byte("v")) })
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, `r "k" v`)
	closeStore(t, s)
}

func testBodyNumbers(t *testing.T, d Disk) {
	var last store.BodyID
	for round := range 4 {
		s, _, first := open(t, d)
		if first < last {
			t.Fatalf("round %d begins after %d, %d was used", round, first, last)
		}
		last = first + 1000
		sync := round%2 == 0
		apply(t, s, sync, func(u *store.Unit) { SetBody(u, last, []byte("x")); u.SetMessage(1, 1, Header(last, "m")) })
		apply(t, s, sync, func(u *store.Unit) { u.DeleteBody(last); u.DeleteMessage(1, 1) })
		if round < 2 {
			closeStore(t, s)
		} else {
			d.Crash(nil)
		}
	}
}

func testFutureBody(t *testing.T, d Disk) {
	s, _, first := open(t, d)
	apply(t, s, true, func(u *store.Unit) { u.SetMessage(1, 1, Header(first<<4, "m")) })
	closeStore(t, s)
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(NewContents()); err == nil {
		t.Error("a header that names a body that was never given is not refused")
	}
	closeStore(t, s)
}

type refuses struct{ *Contents }

var errRefused = errors.New("header of another version")

func (refuses) Message(uint32, uint64, []byte) (store.BodyID, error) { return 0, errRefused }

func testVisitorError(t *testing.T, d Disk) {
	s, _, _ := open(t, d)
	apply(t, s, true, func(u *store.Unit) { u.SetMessage(1, 1, Header(0, "m")) })
	closeStore(t, s)
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(refuses{NewContents()}); !errors.Is(err, errRefused) {
		t.Errorf("load: %v, want the visitor's error", err)
	}
	closeStore(t, s)
	s, c, _ := open(t, d)
	want(t, c, "m 1 1 m")
	closeStore(t, s)
}

func testLoadsOnce(t *testing.T, d Disk) {
	s, c, _ := open(t, d)
	if _, err := s.Load(c); err == nil {
		t.Error("a second load is not refused")
	}
	closeStore(t, s)
}

func testClosed(t *testing.T, d Disk) {
	s, c, _ := open(t, d)
	closeStore(t, s)
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := s.Apply(&store.Unit{}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("apply: %v, want ErrClosed", err)
	}
	if _, err := s.Body(1); !errors.Is(err, store.ErrClosed) {
		t.Errorf("body: %v, want ErrClosed", err)
	}
	if _, err := s.Load(c); !errors.Is(err, store.ErrClosed) {
		t.Errorf("load: %v, want ErrClosed", err)
	}
}

func testUnknownOperation(t *testing.T, d Disk) {
	s, _, _ := open(t, d)
	u := store.Unit{Ops: []store.Op{{Kind: 99}}}
	first := s.Apply(&u)
	if !errors.Is(first, store.ErrFailed) {
		t.Errorf("apply: %v, want ErrFailed", first)
	}
	if err := s.Apply(&store.Unit{}); !errors.Is(err, store.ErrFailed) {
		t.Errorf("after it: %v, want ErrFailed", err)
	}
	closeStore(t, s)
}
