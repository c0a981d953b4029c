package main

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestSumOfSyncs(t *testing.T) {
	summary := `% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 98.76    0.012345         123       100           fdatasync
  1.24    0.000155          15        10         2 fsync
  0.00    0.000000           0         7           fsyncdata
------ ----------- ----------- --------- --------- ----------------
100.00    0.012500                 117         2 total
`
	if n, err := sumSyncs(summary); err != nil || n != 110 {
		t.Errorf("%d, %v: want 110", n, err)
	}
	if n, err := sumSyncs(""); err != nil || n != 0 {
		t.Errorf("%d, %v of nothing", n, err)
	}
	if _, err := sumSyncs("1 2 3 many fsync"); err == nil {
		t.Error("a line that is no count was taken")
	}
}

// One sync can cover what is outstanding at once and no more.
func TestRoundWithTooFewSyncsIsVoid(t *testing.T) {
	for _, c := range []struct {
		answers, outstanding, syncs int
		void                        bool
	}{
		{1000, 1, 999, false}, {1000, 1, 998, true}, {1000, 16, 61, false}, {1000, 16, 60, true},
		{10, 16, 0, false}, {0, 1, 0, false}, {100_000, 1024, 96, false}, {100_000, 1024, 95, true},
	} {
		r := round{answers: c.answers, syncs: c.syncs, needed: syncsNeeded(c.answers, c.outstanding), counted: true}
		if r.void() != c.void {
			t.Errorf("%+v: void %v, %d needed", c, r.void(), r.needed)
		}
	}
}

// A void round is in no median, no ratio, and no verdict.
func TestTableLeavesVoidRoundsOut(t *testing.T) {
	columns := []column{
		{name: "situationd", rounds: []round{{perSecond: 200, counted: true}, {perSecond: 220, counted: true}, {perSecond: 240, counted: true}}},
		{name: "a", rounds: []round{{perSecond: 100, counted: true}, {perSecond: 900, counted: true, needed: 5, syncs: 4}}},
		{name: "b", rounds: []round{{perSecond: 900, counted: true, needed: 5}}},
		{name: "c", err: errors.New("not here\nat all")},
	}
	var text strings.Builder
	printColumns(&text, "T", columns, map[string]goal{"a": {2, 2.5}, "b": {1, 2}})
	for _, want := range []string{
		"| situationd | 200 / **220** / 240 |", "| 1 of 2 | 0 | 2.20 times | 2 (2.5) | met |",
		"| 1 of 1 | 0 | no valid round |  |  |", "| c | left out: not here |",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if err := honest(columns[:2], true); err != nil {
		t.Error(err)
	}
	columns[0].rounds[1].needed = 1
	if honest(columns[:2], true) == nil {
		t.Error("our own void round was no error")
	}
	if honest([]column{{}, {name: lazyName, rounds: []round{{counted: true}}}}, true) == nil {
		t.Error("the lazy one passed")
	}
}

func TestVerdict(t *testing.T) {
	g := goal{1.7, 2}
	for ratio, want := range map[float64]string{1.69: "MISSED", 1.7: "met", 2: "beyond stretch"} {
		if got := g.verdict(ratio); got != want {
			t.Errorf("%v: %s, want %s", ratio, got, want)
		}
	}
	if (goal{}).verdict(5) != "" {
		t.Error("a verdict without a goal")
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{1, 3}, 2}, {[]float64{1, 2, 9}, 2}} {
		if got := median(c.in); got != c.want {
			t.Errorf("%v: %v", c.in, got)
		}
	}
}

// Children of children are found, whatever their names.
func TestFamily(t *testing.T) {
	p, err := startProcess(nil, "sh", "-c", "sleep 60 & echo there; wait")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	if err := p.until(t.Context(), "sh", func() bool { return p.out.contains("there") }); err != nil {
		t.Fatal(err)
	}
	list, err := family(p.cmd.Process.Pid)
	if err != nil || len(list) != 2 || !slices.Contains(list, p.cmd.Process.Pid) {
		t.Errorf("%v, %v: want the shell and its child", list, err)
	}
}

// The count of syncs sees those of children too. Nothing is begun once it is done:
// strace does not end if it has to while a shell begins a process with vfork.
func TestCountSyncs(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("no strace here")
	}
	dir := t.TempDir()
	if err := exec.Command("mkfifo", dir+"/go").Run(); err != nil {
		t.Fatal(err)
	}
	p, err := startProcess(nil, "sh", "-c", `read line <"$0/go"; for i in 1 2 3; do dd if=/dev/zero of="$0/f" bs=1 count=1 conv=fsync 2>/dev/null; done; echo done; read line <"$0/go"`, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	n, err := countSyncs(t.Context(), &server{process: p}, dir, func() error {
		if err := os.WriteFile(dir+"/go", []byte("go\n"), 0o600); err != nil {
			return err
		}
		return p.until(t.Context(), "sh", func() bool { return p.out.contains("done") })
	})
	if err != nil || n != 3 {
		t.Errorf("%d syncs, %v: want 3", n, err)
	}
}
