package mqengine

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// rawLink is a connection that speaks frames by hand, after a proper hello.
func rawLink(t *testing.T, folder string) transport.Link {
	t.Helper()
	link := rawDial(t, folder)
	h := hello{Version: ProtocolVersion, Tag: "raw"}
	if err := link.Send(h.encode()); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Receive(); err != nil {
		t.Fatal(err)
	}
	return link
}

func rawDial(t *testing.T, folder string) transport.Link {
	t.Helper()
	link, err := transport.Unix(localLinks()).Dial(testContext(t), SocketPath(folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	return link
}

// wantEnd waits for the queue manager to close the connection.
func wantEnd(t *testing.T, link transport.Link) {
	t.Helper()
	for {
		if _, err := link.Receive(); err != nil {
			if !errors.Is(err, io.EOF) && !strings.Contains(err.Error(), "reset") {
				t.Errorf("the connection ended with %v", err)
			}
			return
		}
	}
}

// Frames of any content end that connection, with a line in the error log, and
// hurt nobody else.
func TestSession_Malformed_Ended(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	for name, frame := range map[string][]byte{
		"unknown kind": {250, 1},
		"empty":        {},
		"short":        {byte(kindPut), 1, 1, 2, 3},
		"bad command":  append([]byte{byte(kindCommand), 1, 9}, "NONSENSE!"...),
		"second hello": (&hello{Version: 1}).encode(),
	} {
		t.Run(name, func(t *testing.T) {
			link := rawLink(t, folder)
			if err := link.Send(frame); err != nil {
				t.Fatal(err)
			}
			wantEnd(t, link)
		})
	}
	link := rawDial(t, folder)
	if err := link.Send([]byte("GET / HTTP/1.1\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	wantEnd(t, link)
	nc, err := net.Dial("unix", SocketPath(folder))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := nc.Write([]byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")); err != nil {
		t.Fatal(err)
	}
	run(t, c, "DEFINE QLOCAL(STILL.WORKS)")
	eventually(t, "the error log tells of it", func() bool {
		log, err := os.ReadFile(errorLogName(folder+"/errors", 1))
		return err == nil && strings.Count(string(log), "AMQ9207E") >= 6
	})
}

func TestSession_Hello_Refused(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	if _, err := Dial(testContext(t), folder, "OTHER", qmgr.Appl{Tag: "x"}); !errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR) {
		t.Errorf("another name gives %v", err)
	}
	link := rawDial(t, folder)
	h := hello{Version: 99, Tag: "later"}
	if err := link.Send(h.encode()); err != nil {
		t.Fatal(err)
	}
	frame, err := link.Receive()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := decodeWelcome(frame); !errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE) || !strings.Contains(err.Error(), "version 99") {
		t.Errorf("another version gives %v", err)
	}
	if _, err := Dial(testContext(t), folder+"-none", "QM1", qmgr.Appl{}); !errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR) {
		t.Errorf("no folder gives %v", err)
	}
}

// More calls than allowed are a broken client's.
func TestSession_TooManyCalls_Ended(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	link := rawLink(t, folder)
	send := func(tag uint64, req qmgr.Request) error {
		b, err := appendRequest(nil, tag, req)
		if err != nil {
			t.Fatal(err)
		}
		return link.Send(b)
	}
	if err := send(1, qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: mqi.MQOO_INPUT_SHARED}); err != nil {
		t.Fatal(err)
	}
	frame, err := link.Receive()
	if err != nil {
		t.Fatal(err)
	}
	rep, _, err := decodeAnswer(frame, make(interner))
	if err != nil {
		t.Fatal(err)
	}
	h := rep.result.(qmgr.OpenResult).Handle
	for tag := range uint64(maxOutstanding + 1) {
		err := send(tag+2, &qmgr.GetReq{Handle: h, MD: mqi.NewMD(), GMO: mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: mqi.MQWI_UNLIMITED}})
		if err != nil {
			break // it was noticed already
		}
	}
	wantEnd(t, link)
	eventually(t, "its reader is gone", func() bool {
		st, _ := statusOf(t, c, "Q")
		return len(st.Readers) == 0
	})
}

// The death of an application shows at once in the readers, and backs out what it did.
func TestSession_Dies_BackedOut(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	put(t, c, h, "one", 0)
	p, err := dialSocket(testContext(t), folder, "QM1", qmgr.Appl{Tag: "victim"})
	if err != nil {
		t.Fatal(err)
	}
	victim := newClient(p)
	hv := open(t, victim, "Q", mqi.MQOO_INPUT_SHARED)
	wantGet(t, victim, hv, "one", mqi.MQGMO_SYNCPOINT)
	if st, _ := statusOf(t, c, "Q"); len(st.Readers) != 1 || st.Readers[0].Tag != "victim" || st.Uncom != 1 {
		t.Errorf("with the reader: %+v", st.QueueCounts)
	}
	if err := p.close(); err != nil { // without MQDISC
		t.Fatal(err)
	}
	eventually(t, "the reader is gone and its get backed out", func() bool {
		st, _ := statusOf(t, c, "Q")
		return len(st.Readers) == 0 && st.Uncom == 0 && st.CurDepth == 1
	})
}

// A client that does not read its answers holds nobody back, and is ended when
// they are more than it may leave.
func TestSession_SlowClient_HoldsNobody(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "ALTER QMGR MAXMSGL(104857600)")
	run(t, c, "DEFINE QLOCAL(Q) MAXMSGL(104857600)")
	h := open(t, c, "Q", outputAndInput)
	big := message(strings.Repeat("b", 8<<20))
	big.MD.Persistence = mqi.MQPER_NOT_PERSISTENT
	if _, err := c.Put(testContext(t), h, big, mqi.PMO{}); err != nil {
		t.Fatal(err)
	}
	link := rawLink(t, folder)
	open, err := appendRequest(nil, 1, qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: mqi.MQOO_BROWSE})
	if err != nil {
		t.Fatal(err)
	}
	if err := link.Send(open); err != nil {
		t.Fatal(err)
	}
	if _, err := link.Receive(); err != nil {
		t.Fatal(err)
	}
	for tag := range uint64(40) { // 320 MiB of answers, none of them read
		b, err := appendRequest(nil, tag+2, &qmgr.GetReq{
			Handle: 1, MD: mqi.NewMD(), GMO: mqi.GMO{Options: mqi.MQGMO_BROWSE_FIRST, MaxLength: -1},
		})
		if err != nil {
			t.Fatal(err)
		}
		if link.Send(b) != nil {
			break
		}
		start := time.Now()
		if _, ok := statusOf(t, c, "Q"); !ok {
			t.Fatal("the queue is gone")
		}
		if _, err := c.Put(context.Background(), h, message("small"), mqi.PMO{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Fatalf("another client's put took %v", d)
		}
	}
	eventually(t, "the error log tells of the slow client", func() bool {
		log, err := os.ReadFile(errorLogName(folder+"/errors", 1))
		return err == nil && strings.Contains(string(log), "does not read its answers")
	})
}

// Who connects and says nothing is ended after a while, at the socket and at the listener.
func TestSession_Silent_Ended(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	if err := End(testContext(t), folder, "QM1", EndMode{}); err != nil {
		t.Fatal(err)
	}
	q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, Listen: "127.0.0.1:0", helloWait: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) })
	for network, addr := range map[transport.Network]string{
		transport.Unix(localLinks()): SocketPath(folder), transport.TCP(channelLinks()): q.Addr(),
	} {
		link, err := network.Dial(testContext(t), addr)
		if err != nil {
			continue // on a busy host even the dial took too long, and was ended
		}
		defer link.Close()
		wantEnd(t, link)
	}
}

// A queue manager that is starting is shown as such, and endmqm waits for it.
func TestEnd_Starting_Waits(t *testing.T) {
	t.Parallel()
	data := dataFolder(t)
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	folder, err := Folder(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	q, err := assemble(testContext(t), Options{Name: "QM1", Folder: folder}.withDefaults())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := Look(data, "QM1"); err != nil || info.Status != StatusStarting || info.PID != os.Getpid() {
		t.Errorf("it is shown as %+v, %v", info, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- End(testContext(t), folder, "QM1", EndMode{}) }()
	q.launch()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	<-q.Done()
	if info, err := Look(data, "QM1"); err != nil || info.Status != StatusEnded {
		t.Errorf("it is shown as %+v, %v", info, err)
	}
	if err := End(testContext(t), folder, "QM1", EndMode{}); !errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE) {
		t.Errorf("a second end gives %v", err)
	}
}
