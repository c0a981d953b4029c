package killtest

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
)

// refused checks that a command ends with the code and says why in one line that holds all words.
func refused(t *testing.T, out proctest.Outcome, code int, words ...string) {
	t.Helper()
	if out.Exit != code || strings.Count(out.Stderr, "\n") != 1 || out.Stdout != "" {
		t.Errorf("exit %d, want %d, stdout %q, stderr %q", out.Exit, code, out.Stdout, out.Stderr)
	}
	for _, w := range words {
		if !strings.Contains(out.Stderr, w) {
			t.Errorf("stderr %q does not say %q", out.Stderr, w)
		}
	}
}

func TestKeyboard_PortInUse_OneLineAndTheNextStartWorks(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	data := dataFolder(t)
	out := proctest.Do(t, program.Command(t, data, "situationd", "strmqm", "QM1", "--create", "--listen", addr), "")
	refused(t, out, 1, "QM1", addr, "address already in use")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	qm := proctest.NewQMgr(t, &program, data, "QM1", "", nil)
	qm.Start(t)
}

// A process that does not answer still holds its queue manager: nobody may take
// it over, and who asks is told whose it is.
func TestKeyboard_FrozenHolderKeepsItsQueueManager(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	qm := proctest.NewQMgr(t, &program, data, "QM1", "DEFINE QLOCAL(Q) DEFPSIST(YES)\n", nil)
	qm.Start(t)
	if out := proctest.Do(t, program.Command(t, data, "q", "-oQ", "-mQM1"), "one\ntwo\n"); out.Exit != 0 {
		t.Fatalf("q exits %d: %s", out.Exit, out.Stderr)
	}
	qm.Signal(t, syscall.SIGSTOP)
	refused(t, proctest.Do(t, program.Command(t, data, "strmqm", "QM1", "--listen", "none"), ""), 5, "in use by process")
	refused(t, proctest.Do(t, program.Command(t, data, "dltmqm", "QM1"), ""), 5, "in use by process")
	refused(t, proctest.Do(t, program.Command(t, data, "endmqm", "QM1", "--timeout", "300ms"), ""), 1, "has not ended")
	qm.Signal(t, syscall.SIGCONT)
	qm.Kill() // the end that was asked for may have come first
	refused(t, proctest.Do(t, program.Command(t, data, "q", "-IQ", "-mQM1"), ""), 2059%256, "2059")
	qm.Start(t)
	if out := proctest.Do(t, program.Command(t, data, "q", "-IQ", "-mQM1"), ""); out.Stdout != "one\ntwo\n" {
		t.Errorf("after the restart q printed %q, %s", out.Stdout, out.Stderr)
	}
}

func TestKeyboard_FolderThatCannotBeWritten_OneLine(t *testing.T) {
	t.Parallel()
	data := filepath.Join(dataFolder(t), "d")
	if err := os.Mkdir(data, 0o500); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"crtmqm", "strmqm"} {
		args := []string{"QM1"}
		if verb == "strmqm" {
			args = append(args, "--create", "--listen", "none")
		}
		cmd := program.Command(t, data, verb, args...)
		if os.Getuid() == 0 { // who may write everywhere: as somebody who may not
			for _, dir := range []string{filepath.Dir(data), filepath.Dir(cmd.Path)} {
				if err := os.Chmod(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(data, 0o555); err != nil {
				t.Fatal(err)
			}
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		}
		refused(t, proctest.Do(t, cmd, ""), 5, "QM1", "permission denied")
	}
	file := filepath.Join(filepath.Dir(data), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, proctest.Do(t, program.Command(t, file, "crtmqm", "QM1"), ""), 1, file, "not a directory")
}
