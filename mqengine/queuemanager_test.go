package mqengine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// A folder that was copied or renamed does not start under another name.
func TestStart_FolderOfAnother_Refused(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	q, folder := startFolder(t, data)
	if err := q.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	other, err := Folder(data, "QM2")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(folder, other); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(testContext(t), Options{Name: "QM2", Folder: other}); err == nil || !strings.Contains(err.Error(), "these are the data of queue manager QM1, not of QM2") {
		t.Errorf("start gives %v", err)
	}
	if err := os.Rename(other, folder); err != nil {
		t.Fatal(err)
	}
	restartFolder(t, folder)
}

// Bodies beyond the budget are read back from the store, before and after a
// restart, also when one turn deletes what it answers.
func TestQueueManager_BodiesBeyondBudget_ReadBack(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	_, folder := startFolder(t, data)
	stopAll := func(q *QueueManager) {
		t.Helper()
		if err := q.Stop(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	start := func() *QueueManager {
		t.Helper()
		q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, BodyBudget: 1000})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Stop(context.Background()) })
		return q
	}
	first, err := Dial(testContext(t), folder, "QM1", qmgr.Appl{Tag: "end"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(first.Disconnect(testContext(t)), End(testContext(t), folder, "QM1", EndMode{})); err != nil {
		t.Fatal(err)
	}
	q := start()
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	const n = 40
	body := func(i int) string { return fmt.Sprintf("%d-%s", i, strings.Repeat("x", 100*i)) }
	for i := range n {
		put(t, c, h, body(i), 0)
	}
	for i := range n / 2 {
		wantGet(t, c, h, body(i), 0)
	}
	stopAll(q)
	c = connectTo(t, start())
	h = open(t, c, "Q", outputAndInput)
	for i := n / 2; i < n; i++ {
		wantGet(t, c, h, body(i), 0)
	}
	wantEmpty(t, c, h)
}

// A crash after the answers loses nothing that was persistent, and everything that was not.
func TestQueueManager_Crash_KeepsAnswered(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	q := startMemory(t, s)
	c := connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	put(t, c, h, "answered", 0)
	put(t, c, h, "not committed", mqi.MQPMO_SYNCPOINT)
	volatile := message("volatile")
	volatile.MD.Persistence = mqi.MQPER_NOT_PERSISTENT
	if _, err := c.Put(testContext(t), h, volatile, mqi.PMO{}); err != nil {
		t.Fatal(err)
	}
	after := s.Crash(0) // of what was not synced nothing is left
	c = connectTo(t, startMemory(t, after))
	h = open(t, c, "Q", outputAndInput)
	wantGet(t, c, h, "answered", 0)
	wantEmpty(t, c, h)
}

// When the store fails, the callers of that turn and all others get an error,
// nothing is answered as done, and Err says why.
func TestQueueManager_StoreFails_Ends(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	q := startMemory(t, s)
	c, waiting := connectTo(t, q), connectTo(t, q)
	run(t, c, "DEFINE QLOCAL(Q)")
	h, hw := open(t, c, "Q", outputAndInput), open(t, waiting, "Q", mqi.MQOO_INPUT_SHARED)
	ended := make(chan error, 1)
	go func() {
		md := mqi.NewMD()
		md.MsgId = mqi.MsgId{1} // not what is put
		_, err := waiting.Get(testContext(t), hw, md, mqi.GMO{
			Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1,
			MatchOptions: mqi.MQMO_MATCH_MSG_ID,
		})
		ended <- err
	}()
	s.Fail(errors.New("the disk is gone"))
	_, err := c.Put(testContext(t), h, message("lost"), mqi.PMO{})
	if r := mqi.ReasonOf(err); r != mqi.MQRC_UNEXPECTED_ERROR && r != mqi.MQRC_CONNECTION_BROKEN {
		t.Errorf("the put gives %v", err)
	}
	if err := <-ended; !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		t.Errorf("the waiting get gives %v", err)
	}
	<-q.Done()
	if err := q.Err(); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
		t.Errorf("Err is %v", err)
	}
	if _, err := c.Put(testContext(t), h, message("x"), mqi.PMO{}); !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		t.Errorf("a later put gives %v", err)
	}
	if _, err := q.Connect(testContext(t), qmgr.Appl{Tag: "late"}); !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		t.Errorf("a later connect gives %v", err)
	}
}

// Below the disk reserve puts get 2056 and gets go on.
func TestQueueManager_LowSpace_RefusesPuts(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	c := connectTo(t, startMemory(t, s))
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	put(t, c, h, "before", 0)
	s.SetLow(true)
	eventually(t, "puts get 2056", func() bool {
		_, err := c.Put(testContext(t), h, message("x"), mqi.PMO{})
		return errors.Is(err, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	})
	wantGet(t, c, h, "before", 0)
	s.SetLow(false)
	eventually(t, "puts are accepted again", func() bool {
		_, err := c.Put(testContext(t), h, message("x"), mqi.PMO{})
		return err == nil
	})
}

// Stop ends waiting calls and leaves no process-wide trace: the folder can be started again at once.
func TestQueueManager_Stop_Restart(t *testing.T) {
	t.Parallel()
	q, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	put(t, c, h, "kept", 0)
	put(t, c, h, "backed out", mqi.MQPMO_SYNCPOINT)
	var wg sync.WaitGroup
	md := mqi.NewMD()
	md.CorrelId = mqi.MsgId{1}
	for range 10 {
		wg.Go(func() {
			_, err := c.Get(testContext(t), h, md, mqi.GMO{
				Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED, MatchOptions: mqi.MQMO_MATCH_CORREL_ID, MaxLength: -1,
			})
			if !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
				t.Errorf("a waiting get gives %v", err)
			}
		})
	}
	if err := q.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if _, err := os.Lstat(SocketPath(folder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	if _, err := Dial(testContext(t), folder, "QM1", qmgr.Appl{Tag: "late"}); !errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE) {
		t.Errorf("a dial gives %v", err)
	}
	again := restartFolder(t, folder)
	if again.QMID() != q.QMID() {
		t.Errorf("QMID %s became %s", q.QMID(), again.QMID())
	}
	if info, err := Look(filepath.Dir(filepath.Dir(folder)), "QM1"); err != nil || info.Status != StatusRunning || info.PID != os.Getpid() {
		t.Errorf("it is shown as %+v, %v", info, err)
	}
}

// A fault of the machine ends this queue manager and nothing else: nothing of
// the broken turn is answered or stored.
func TestActor_Panic_EndsAlone(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	var console bytes.Buffer
	q, err := assemble(testContext(t), Options{
		Name: "QM1", Store: s, Network: nowhere{}, Logger: hclog.New(&hclog.LoggerOptions{Output: &console}),
	}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	q.committer = store.NewCommitter(q.store, store.CommitterOptions{})
	q.actor.committer = q.committer
	go q.supervise()
	q.actor.take(<-q.actor.free, func(fx *qmgr.Effects) {
		fx.Unit.SetRecord("half", []byte("a turn"))
		panic("a fault")
	})
	<-q.Done()
	if err := q.Err(); err == nil || !strings.HasSuffix(err.Error(), "fault in the queue manager: a fault") {
		t.Errorf("Err is %v, want one line", err)
	}
	if text := console.String(); !strings.Contains(text, "id=AMQ6118E") || !strings.Contains(text, "queuemanager_test.go") {
		t.Errorf("the log does not say where the fault is: %s", text)
	}
	c := counting{}
	if _, err := s.Reopen().Load(&c); err != nil || c.half {
		t.Errorf("half a turn was stored: %+v, %v", c, err)
	}
}

// The default queue manager has no listener that others reach, unless it is asked for.
func TestStart_PortInUse_OneLine(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	_, folder := startFolder(t, data)
	if err := End(testContext(t), folder, "QM1", EndMode{}); err != nil {
		t.Fatal(err)
	}
	first, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer first.Stop(context.Background())
	s := foundMemory(t)
	_, err = Start(testContext(t), Options{Name: "QM1", Store: s, Listen: first.Addr()})
	if err == nil || !strings.Contains(err.Error(), first.Addr()) || strings.Contains(err.Error(), "\n") {
		t.Errorf("start on a port in use gives %v", err)
	}
	if _, err := Start(testContext(t), Options{Name: "QM1", Folder: folder}); err == nil {
		t.Error("a second start on the folder succeeded")
	} else if inUse := new(InUseError); !errors.As(err, &inUse) || inUse.PID != os.Getpid() {
		t.Errorf("a second start on the folder gives %v", err)
	}
}

// A store without the queue manager's own record is no queue manager, and nobody
// may take it for an empty one.
func TestStart_RecordsGone_Refused(t *testing.T) {
	t.Parallel()
	_, err := Start(testContext(t), Options{Name: "QM1", Store: store.NewMemory(), Network: nowhere{}})
	if err == nil || !strings.Contains(err.Error(), "damaged") || strings.Contains(err.Error(), "\n") {
		t.Errorf("start on an empty store gives %v", err)
	}
}

// What was founded but never filled has the records of a new queue manager.
func TestFound_NotEmpty_Refused(t *testing.T) {
	t.Parallel()
	s := foundMemory(t)
	if err := found(s, "QM1"); err == nil {
		t.Error("a store with a queue manager was founded again")
	}
	var v counting
	if _, err := s.Reopen().Load(&v); err != nil || v.records == 0 || v.messages != 0 {
		t.Errorf("%d records, %d messages, %v", v.records, v.messages, err)
	}
}

type counting struct {
	records, messages int
	half              bool
}

func (c *counting) Record(key string, _ []byte) error {
	c.records++
	c.half = c.half || key == "half"
	return nil
}

func (c *counting) Message(uint32, uint64, []byte) (store.BodyID, error) {
	c.messages++
	return 0, nil
}

// A folder with a path longer than a socket's address works like any other.
func TestQueueManager_LongPath(t *testing.T) {
	t.Parallel()
	data := filepath.Join(dataFolder(t), strings.Repeat("long", 40), strings.Repeat("path", 10))
	_, folder := startFolder(t, data)
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	put(t, c, open(t, c, "Q", mqi.MQOO_OUTPUT), "x", 0)
	if err := End(testContext(t), folder, "QM1", EndMode{}); err != nil {
		t.Fatal(err)
	}
	if err := Delete(data, "QM1"); err != nil {
		t.Fatal(err)
	}
	if list, err := List(data); err != nil || len(list) != 0 {
		t.Errorf("after the deletion there are %v, %v", list, err)
	}
	left, err := os.ReadDir(qmgrsDir(data))
	if err != nil || len(left) != 0 {
		t.Errorf("the deletion left %v, %v", left, err)
	}
}

// A creation that fails, at whatever command, leaves nothing.
func TestCreate_Fails_LeavesNothing(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	file := filepath.Join(data, "x.mqsc")
	if err := os.WriteFile(file, []byte("DEFINE QLOCAL(A)\n\nDEFINE QLOCAL(A)\nDEFINE QLOCAL(B)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1", MQSC: []string{file}})
	var script *ScriptError
	if !errors.As(err, &script) || script.Line != 3 || script.File != file {
		t.Errorf("create gives %v", err)
	}
	if left, err := os.ReadDir(qmgrsDir(data)); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v", left, err)
	}
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); !errors.Is(err, ErrExists) {
		t.Errorf("a second creation gives %v", err)
	}
	if _, err := Look(data, "QM2"); !errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR) {
		t.Errorf("a look at nothing gives %v", err)
	}
}
