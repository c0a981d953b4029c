package mqengine

import (
	"context"
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// admin is a connection whose messages carry the user of this process.
func admin(t testing.TB, q *QueueManager) Conn {
	t.Helper()
	c, err := q.Connect(testContext(t), qmgr.Appl{Tag: "admin", UserID: userName(os.Geteuid())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c
}

func parse(t testing.TB, text string) *mqsc.Command {
	t.Helper()
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		t.Fatal(bad)
	}
	return cmd
}

// remotely runs a command through the command queue and wants it to succeed or fail.
func remotely(t testing.TB, r *Remote, text string, failed bool) string {
	t.Helper()
	res, err := r.Command(testContext(t), parse(t, text))
	if err != nil || res.Failed != failed {
		t.Fatalf("%s: %+v, %v; want failed %v", text, res, err, failed)
	}
	return res.Text
}

// layout is a result as runmqsc prints it.
func layout(res mqsc.Result) string {
	var b []byte
	for _, r := range res.Responses {
		b = r.AppendText(b)
	}
	return string(b)
}

func openRemote(t testing.TB, c Conn) *Remote {
	t.Helper()
	r, err := OpenRemote(testContext(t), c, "QM1", within)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCommandServer_AnswersAsRunmqsc(t *testing.T) {
	t.Parallel()
	q := startMemory(t, foundMemory(t))
	c := admin(t, q)
	r := openRemote(t, c)
	remotely(t, r, "DEFINE QLOCAL(A)", false)
	if text := remotely(t, r, "DISPLAY QLOCAL(A) PUT", false); text != layout(run(t, c, "DISPLAY QLOCAL(A) PUT")) {
		t.Errorf("the answer is %q", text)
	}
	if text := remotely(t, r, "DEFINE QLOCAL(A)", true); !strings.HasPrefix(text, "AMQ8150E") {
		t.Errorf("the answer is %q", text)
	}
	// An answer of more than one part.
	for i := range 120 {
		run(t, c, "DEFINE QLOCAL(LONG."+strings.Repeat("X", i/26+1)+string(rune('A'+i%26))+") DESCR('"+strings.Repeat("d", 60)+"')")
	}
	want := layout(run(t, c, "DISPLAY QUEUE(*) ALL"))
	if len(want) < 2*replyText {
		t.Fatalf("the answer has only %d bytes", len(want))
	}
	// The reply queue, one of the queues, is read from meanwhile.
	if got := remotely(t, r, "DISPLAY QUEUE(LONG.*) ALL", false); got != layout(run(t, c, "DISPLAY QUEUE(LONG.*) ALL")) {
		t.Errorf("%d bytes came, not those of a local answer", len(got))
	}
}

// Nothing that is put on the command queue ends the command server, and what
// can be answered is answered with a reason code.
func TestCommandServer_HostileMessages(t *testing.T) {
	t.Parallel()
	q := startMemory(t, foundMemory(t))
	c := admin(t, q)
	run(t, c, "DEFINE QLOCAL(VICTIM)")
	run(t, c, "DEFINE QLOCAL(REPLIES)")
	r := openRemote(t, c)
	replies := open(t, c, "REPLIES", mqi.MQOO_INPUT_SHARED)
	h := open(t, c, commandQueue, mqi.MQOO_OUTPUT|mqi.MQOO_SET_ALL_CONTEXT)
	send := func(body []byte, change func(*mqi.MD), options int32) {
		t.Helper()
		md := mqi.NewMD()
		md.MsgType, md.Format, md.ReplyToQ = mqi.MQMT_REQUEST, formatAdmin, "REPLIES"
		if change != nil {
			change(&md)
		}
		if _, err := c.Put(testContext(t), h, &Message{MD: md, Body: body}, mqi.PMO{Options: options}); err != nil {
			t.Fatal(err)
		}
	}
	answered := func(what string, want mqi.Reason) {
		t.Helper()
		m, err := c.Get(testContext(t), replies, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: int32(within / time.Millisecond), MaxLength: -1})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		// The header says it, also where the command was not an escape.
		if got := mqi.Reason(int32(uint32(m.Body[28]) | uint32(m.Body[29])<<8)); got != want {
			t.Errorf("%s: answered with %d, want %d", what, got, want)
		}
	}
	for name, x := range malformed() {
		send(x.body, nil, 0)
		answered(name, x.want)
	}
	drop := escape{kind: cfCommand, command: cmdEscape, sequence: 1, last: true, text: "DELETE QLOCAL(VICTIM) PURGE"}
	send(drop.encode(), func(md *mqi.MD) { md.Format = "MQSTR" }, 0)
	answered("not in PCF", mqi.MQRC_FORMAT_ERROR)
	long := drop
	long.text = "DISPLAY QMGR" + strings.Repeat(" ", maxCommand)
	run(t, c, "ALTER QLOCAL(SYSTEM.ADMIN.COMMAND.QUEUE) MAXMSGL(4194304)")
	send(long.encode(), nil, 0)
	answered("a command without end", rccfStringLength)
	nonsense := drop
	nonsense.text = "DROP TABLE messages\x00\x1b[2J"
	send(nonsense.encode(), nil, 0)
	answered("no MQSC", rccfFailed)
	// A user that may not open the socket; a message that says nobody.
	for _, name := range []string{"no-such-user", "", "root ", "../root"} {
		send(drop.encode(), func(md *mqi.MD) { md.UserIdentifier = name }, mqi.MQPMO_SET_ALL_CONTEXT)
		answered("user "+name, mqi.MQRC_NOT_AUTHORIZED)
	}
	// No way to answer: it is not carried out, and not waited for.
	send(drop.encode(), func(md *mqi.MD) { md.MsgType = mqi.MQMT_DATAGRAM; md.ReplyToQ = "" }, 0)
	ping := drop
	ping.text = "DISPLAY QMGR"
	send(ping.encode(), func(md *mqi.MD) { md.ReplyToQ = "NOT.THERE" }, 0)
	send(ping.encode(), func(md *mqi.MD) { md.ReplyToQMgr = "NOWHERE" }, 0)
	send(ping.encode(), func(md *mqi.MD) { md.ReplyToQ = commandQueue }, 0) // its own answers come back to it
	remotely(t, r, "DISPLAY QLOCAL(VICTIM)", false)
}

func TestCommandServer_SaysWhoChangedWhat(t *testing.T) {
	t.Parallel()
	q, folder := startFolder(t, dataFolder(t))
	r := openRemote(t, admin(t, q))
	remotely(t, r, "DEFINE QLOCAL(A)", false)
	remotely(t, r, "DISPLAY QLOCAL(A)", false)
	log, err := os.ReadFile(filepath.Join(folder, "errors", "AMQERR01.LOG"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(log), "AMQ8590I"); n != 1 || !strings.Contains(string(log), "'DEFINE QLOCAL(A)' for user '"+userName(os.Geteuid())+"' of queue manager QM1") {
		t.Errorf("%d lines: %s", n, log)
	}
}

// GET(DISABLED) makes the command server wait, and it goes on when that is over.
func TestCommandServer_GetDisabled_Waits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, err := Start(t.Context(), Options{Name: "QM1", Store: foundMemory(t), Network: nowhere{}})
		if err != nil {
			t.Fatal(err)
		}
		c := admin(t, q)
		r := openRemote(t, c)
		run(t, c, "ALTER QLOCAL(SYSTEM.ADMIN.COMMAND.QUEUE) GET(DISABLED)")
		synctest.Wait()
		r.wait = 2 * time.Second
		if _, err := r.Command(t.Context(), parse(t, "DEFINE QLOCAL(LATE)")); !errors.Is(err, ErrNoResponse) {
			t.Errorf("while it is disabled: %v", err)
		}
		run(t, c, "ALTER QLOCAL(SYSTEM.ADMIN.COMMAND.QUEUE) GET(ENABLED)")
		time.Sleep(2 * commandRetry)
		synctest.Wait()
		run(t, c, "DISPLAY QLOCAL(LATE)") // it was carried out, late
		if err := q.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

func TestCommandServer_Manual_DoesNotStart(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	q := startMemory(t, s)
	c := connectTo(t, q)
	status := func(c Conn) string { return layout(run(t, c, "DISPLAY QMSTATUS CMDSERV")) }
	eventually(t, "the command server runs", func() bool { return strings.Contains(status(c), "CMDSERV(RUNNING)") })
	run(t, c, "ALTER QMGR SCMDSERV(MANUAL)")
	if err := q.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	c = connectTo(t, startMemory(t, s.Reopen()))
	if got := status(c); !strings.Contains(got, "CMDSERV(STOPPED)") {
		t.Errorf("after the restart: %s", got)
	}
}

// Who may open the socket may administer by message: its owner, root, its group.
func TestCommandServer_Authority(t *testing.T) {
	t.Parallel()
	own := userName(os.Geteuid())
	socket := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(socket, nil, 0o660); err != nil {
		t.Fatal(err)
	}
	may := administrators(socket)
	for name, want := range map[string]bool{own: true, "root": true, "": false, "no-such-user": false, "0": own == "0"} {
		if may(name) != want {
			t.Errorf("user %q: %v", name, !want)
		}
	}
	// A user of another group may not.
	if u, err := user.Lookup("nobody"); err == nil && u.Username != own {
		if may("nobody") {
			t.Error("nobody may")
		}
	}
	if administrators("")("nobody") {
		t.Error("without a socket others than ourselves may")
	}
}
