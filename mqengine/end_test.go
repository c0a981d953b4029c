package mqengine

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// A controlled end waits for who has work under way, refuses who comes, and is
// over as soon as the last one has closed.
func TestEnd_Controlled_WaitsForApplications(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	q, folder := startFolder(t, data)
	c, idle := dialTo(t, folder), dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	put(t, c, h, "under way", mqi.MQPMO_SYNCPOINT)
	ended := make(chan error, 1)
	go func() { ended <- End(testContext(t), folder, "QM1", EndMode{Controlled: true}) }()
	eventually(t, "it is shown", func() bool {
		info, err := Look(data, "QM1")
		return err == nil && info.Status == StatusQuiescing && info.PID == os.Getpid()
	})
	if _, err := Dial(testContext(t), folder, "QM1", qmgr.Appl{Tag: "late"}); !errors.Is(err, mqi.MQRC_Q_MGR_QUIESCING) {
		t.Errorf("who comes gets %v", err)
	}
	if _, err := q.Connect(testContext(t), qmgr.Appl{Tag: "late"}); !errors.Is(err, mqi.MQRC_Q_MGR_QUIESCING) {
		t.Errorf("who comes in this process gets %v", err)
	}
	_, err := c.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_FAIL_IF_QUIESCING, MaxLength: -1})
	if !errors.Is(err, mqi.MQRC_Q_MGR_QUIESCING) {
		t.Errorf("a get gives %v", err)
	}
	if err := c.Commit(testContext(t)); err != nil {
		t.Error(err)
	}
	select {
	case <-q.Done():
		t.Fatal("it ended under an open queue")
	default:
	}
	if err := c.Close(testContext(t), h, 0); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := idle.Commit(testContext(t)); !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		t.Errorf("who was only connected gets %v", err)
	}
	restartFolder(t, folder)
	if st, _ := statusOf(t, dialTo(t, folder), "Q"); st.CurDepth != 1 {
		t.Errorf("what was committed meanwhile: depth %d", st.CurDepth)
	}
}

// An application that does not end has its time; a second, immediate end does not wait for it.
func TestEnd_Controlled_IsBounded(t *testing.T) {
	t.Parallel()
	for name, hurry := range map[string]func(folder string) EndMode{
		"in time": func(string) EndMode { return EndMode{Controlled: true, Within: time.Second} },
		"a second end": func(folder string) EndMode {
			go func() {
				for { // once the first one is under way
					if p, err := dialSocket(context.Background(), folder, "QM1", qmgr.Appl{Tag: "probe"}); err != nil {
						_ = End(context.Background(), folder, "QM1", EndMode{})
						return
					} else if p.close() != nil {
						return
					}
				}
			}()
			return EndMode{Controlled: true}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, folder := startFolder(t, dataFolder(t))
			c := dialTo(t, folder)
			run(t, c, "DEFINE QLOCAL(Q)")
			h := open(t, c, "Q", outputAndInput)
			if err := End(testContext(t), folder, "QM1", hurry(folder)); err != nil {
				t.Error(err)
			}
			if err := c.Close(testContext(t), h, 0); !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
				t.Errorf("the application gets %v", err)
			}
		})
	}
}

// A start that fails leaves the queue manager as it was.
func TestStart_Fails_StatusAsBefore(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	data := dataFolder(t)
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	folder, err := Folder(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	for _, before := range []struct{ line, status string }{
		{"", StatusEnded}, {"ended", StatusEnded}, {"pid 1", StatusEndedUnexpectedly}, {"starting 1", StatusEndedUnexpectedly},
	} {
		if before.line != "" {
			if err := os.WriteFile(lockPath(folder), []byte(before.line+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, Listen: taken.Addr().String()}); err == nil {
			t.Fatal("the address was free")
		}
		if info, err := Look(data, "QM1"); err != nil || info.Status != before.status {
			t.Errorf("%q: it is shown as %+v, %v", before.line, info, err)
		}
	}
}

// STOP CONN breaks the connection of another program, and of who says it.
func TestStopConn_Broken(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c, victim := dialTo(t, folder), dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, victim, "Q", outputAndInput)
	put(t, victim, h, "lost", mqi.MQPMO_SYNCPOINT)
	res := run(t, c, "DISPLAY CONN(*) WHERE(UOWSTATE EQ ACTIVE)")
	var id string
	for _, f := range res.Responses[0].Fields {
		if f.Key == "CONN" {
			id = f.Values[0]
		}
	}
	run(t, c, "STOP CONN("+id+")")
	if _, err := victim.Get(testContext(t), h, mqi.NewMD(), mqi.GMO{}); !errors.Is(err, mqi.MQRC_CONNECTION_BROKEN) {
		t.Errorf("it gets %v", err)
	}
	if st, _ := statusOf(t, c, "Q"); st.CurDepth != 0 || len(st.Readers) != 0 {
		t.Errorf("afterwards: %+v", st.QueueCounts)
	}
}

// Start and end are in the error log.
func TestErrorLog_StartAndEnd(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	if err := End(testContext(t), folder, "QM1", EndMode{Controlled: true}); err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(errorLogName(folder+"/errors", 1))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"AMQ8003I", "AMQ8156I", "AMQ8004I"} {
		if strings.Count(string(log), id) != 1 {
			t.Errorf("%s is not there once:\n%s", id, log)
		}
	}
}
