package killtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

// nobodysUID is a user that need not exist.
const nobodysUID = 54321

// roots lists the files that are root's.
func roots(t *testing.T, dir string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid == 0 {
			list = append(list, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Root looks after what a dead daemon of another user left, and gives it back: a
// queue manager is started for that, and a journal and a token are written. The
// daemon's user must be able to go on with all of it.
func TestOwner_RootRevertsForADeadDaemon_FilesStayTheDaemons(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can run a daemon as another user")
	}
	data := dataFolder(t)
	write := func(name, text string) string {
		path := filepath.Join(data, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("qm.mqsc", "ALTER QMGR REPOS(C1)\nDEFINE CHANNEL(TO.QM9) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1(9)') CLUSTER(C1)\nDEFINE QLOCAL(Q) CLUSTER(C1)\n")
	write("rules.yaml", "version: 1\ndefaults: {sample: 100ms}\nsituations:\n  - {name: S, watch: {queue: Q}, formula: IPPROCS == 0, actions: [{put: DISABLED, allow_last: true}]}\n")
	file := write("d.yaml", fmt.Sprintf("queue_manager: {name: QM9, connect: hosted, hosted: {listen: none, mqsc: [qm.mqsc]}}\nrules: [rules.yaml]\ndata: %q\nstartup_grace: 0s\n", data))
	for _, dir := range []string{data, program.Bin(t)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(data, nobodysUID, nobodysUID); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"qm.mqsc", "rules.yaml", "d.yaml"} {
		if err := os.Chown(filepath.Join(data, name), nobodysUID, nobodysUID); err != nil {
			t.Fatal(err)
		}
	}
	run := func() *proctest.Process {
		cmd := program.Command(t, data, "situationd", "run", "--config", file)
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobodysUID, Gid: nobodysUID}
		return proctest.Spawn(t, cmd)
	}
	ask := func(args ...string) proctest.Outcome {
		return proctest.Do(t, program.Command(t, data, "situationd", args...), "")
	}
	lowered := func(want string) {
		t.Helper()
		proctest.WaitFor(t, "lowered: "+want, func() (bool, error) {
			out := ask("lowered", "--qmgr", "QM9")
			return holds(strings.Contains(out.Stdout, want), out)
		})
	}
	daemon := run()
	lowered("PUT(DISABLED)")
	daemon.Kill()
	// A crash in the wrong moment leaves less than there was.
	for _, name := range []string{"actions.jsonl", "owner"} {
		if err := os.Remove(filepath.Join(data, "daemon", "QM9", name)); err != nil {
			t.Fatal(err)
		}
	}
	lowered("PUT(DISABLED)")
	if out := ask("revert", "--all", "--qmgr", "QM9"); out.Exit != 0 {
		t.Fatalf("revert: %+v", out)
	}
	lowered("nothing is lowered")
	if left := roots(t, data); len(left) > 0 {
		t.Errorf("root's: %v", left)
	}
	journal, err := os.ReadFile(filepath.Join(data, "daemon", "QM9", "actions.jsonl"))
	if err != nil || !strings.Contains(string(journal), `"by":"root"`) {
		t.Errorf("the journal does not say that root did it: %v\n%s", err, journal)
	}
	daemon = run()
	proctest.WaitFor(t, "the daemon at work again", func() (bool, error) {
		out := ask("status", "--qmgr", "QM9", "-o", "json")
		return holds(strings.Contains(strings.ReplaceAll(out.Stdout, " ", ""), `"ready":true`), out)
	})
	daemon.Stop(t)
}

// holds is a condition with what was said if it does not hold.
func holds(ok bool, out proctest.Outcome) (bool, error) {
	if ok {
		return true, nil
	}
	return false, fmt.Errorf("%+v", out)
}
