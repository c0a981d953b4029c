package killtest

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

// What operations people have in their scripts: MQSC through a pipe, with blanks
// where the shell leaves them, and q with its letters glued to the values.
const (
	enableLine  = `echo 'ALTER QL(' $1 ') PUT(ENABLED)' | runmqsc $2`
	disableLine = `echo 'ALTER QL(' $1' ) PUT(DISABLED)' | runmqsc $2; q -I$1 -m$2 -o$1 -p1`
	depthLine   = `echo 'DIS QL('$1') CURDEPTH' | runmqsc $2`
	routesLine  = `echo 'DIS QC('$1') ALL' | runmqsc $2`
)

// shell runs a line as the script of a situation would, with the queue as $1 and
// the queue manager as $2.
func (c *trio) shell(t *testing.T, line, queue, qmgr string) string {
	t.Helper()
	cmd := program.Command(t, c.qm[0].Data, "sh", "-c", line, "script", queue, qmgr)
	out := proctest.Do(t, cmd, "")
	if out.Exit != 0 {
		t.Fatalf("%s with %s %s exits %d\n%s%s", line, queue, qmgr, out.Exit, out.Stdout, out.Stderr)
	}
	return out.Stdout
}

// puts gives PUT of each instance, by queue manager, as a DISPLAY QCLUSTER on the queue manager prints it.
func (c *trio) puts(t *testing.T, qmgr string) map[string]string {
	t.Helper()
	got := map[string]string{}
	for _, part := range strings.Split(c.shell(t, routesLine, "DCQ1", qmgr), "AMQ8409I")[1:] {
		got[inBrackets(part, "CLUSQMGR(")] = inBrackets(part, " PUT(")
	}
	return got
}

// depth is CURDEPTH of DCQ1 as DISPLAY QLOCAL prints it, -1 if it prints none.
func (c *trio) depth(t *testing.T, qmgr string) int {
	t.Helper()
	n, err := strconv.Atoi(inBrackets(c.shell(t, depthLine, "DCQ1", qmgr), "   CURDEPTH("))
	if err != nil {
		return -1
	}
	return n
}

// inBrackets is what stands behind open up to the next bracket.
func inBrackets(text, open string) string {
	_, rest, _ := strings.Cut(text, open)
	value, _, _ := strings.Cut(rest, ")")
	return value
}

func TestShell_CommandsInPipesDoWhatTheyDoInMQ(t *testing.T) {
	t.Parallel()
	c := newTrio(t, dcq1)
	both := map[string]string{"QM2": "ENABLED", "QM3": "ENABLED"}
	one := map[string]string{"QM2": "DISABLED", "QM3": "ENABLED"}
	same := func(want map[string]string) func() (bool, error) {
		return func() (bool, error) {
			got := c.puts(t, "QM1")
			return len(got) == 2 && got["QM2"] == want["QM2"] && got["QM3"] == want["QM3"], nil
		}
	}
	proctest.WaitFor(t, "both instances enabled as seen on QM1", same(both))
	c.shell(t, `printf '#100\n' | q -o$1 -m$2`, "DCQ1", "QM1")
	// Half of them each, unless a channel happens to retry; some must wait on QM2.
	proctest.WaitFor(t, "100 messages on both, some of them on QM2", func() (bool, error) {
		two, three := c.depth(t, "QM2"), c.depth(t, "QM3")
		return two > 0 && two+three == 100, nil
	})
	c.shell(t, disableLine, "DCQ1", "QM2")
	if depth := inBrackets(c.shell(t, depthLine, "DCQ1", "QM2"), "   CURDEPTH("); depth != "0" {
		t.Errorf("%s messages are still on QM2 after the disabling script", depth)
	}
	proctest.WaitFor(t, "QM2 disabled as seen on QM1", same(one))
	proctest.WaitFor(t, "all messages on QM3", func() (bool, error) {
		return inBrackets(c.shell(t, depthLine, "DCQ1", "QM3"), "   CURDEPTH(") == "100", nil
	})
	if out := c.shell(t, `q -I$1 -m$2`, "DCQ1", "QM3"); strings.Count(out, "(4 bytes) #100\n") != 100 {
		t.Errorf("q on QM3 printed\n%s", out)
	}
	c.shell(t, enableLine, "DCQ1", "QM2")
	proctest.WaitFor(t, "QM2 enabled again as seen on QM1", same(both))
	c.examples(t, one, both, same)
}

// examples runs the scripts that people copy.
func (c *trio) examples(t *testing.T, one, both map[string]string, same func(map[string]string) func() (bool, error)) {
	t.Helper()
	for _, x := range []struct {
		script string
		want   map[string]string
	}{{"queueDisable.sh", one}, {"queueEnable.sh", both}} {
		path, err := filepath.Abs(filepath.Join("..", "..", "..", "..", "examples", "exec", x.script))
		if err != nil {
			t.Fatal(err)
		}
		c.shell(t, `"`+path+`" $1 $2`, "DCQ1", "QM2")
		proctest.WaitFor(t, "what "+x.script+" does seen on QM1", same(x.want))
		if out := proctest.Do(t, program.Command(t, c.qm[0].Data, "sh", path, "NOSUCH", "QM2"), ""); out.Exit == 0 {
			t.Errorf("%s says success for a queue that is not there: %s", x.script, out.Stdout)
		}
	}
}

// A dash that a word processor made long is what the article's page shows.
func TestShell_LongDashIsToldAndNothingMoves(t *testing.T) {
	t.Parallel()
	out := proctest.Do(t, program.Command(t, dataFolder(t), "q", "-IQ", "-mQM2", "-oQ", "\u2013p1"), "")
	if out.Exit != 2 || !strings.Contains(out.Stderr, "plain minus sign") || strings.Count(out.Stderr, "\n") != 1 {
		t.Errorf("exit %d: %q", out.Exit, out.Stderr)
	}
}
