package mqengine

import (
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// startImpatient starts a queue manager with a queue Q that ends clients which
// stop in the middle after a fraction of a second.
func startImpatient(t *testing.T) (c Conn, folder string) {
	t.Helper()
	_, folder = startFolder(t, dataFolder(t))
	if err := End(testContext(t), folder, "QM1", EndMode{}); err != nil {
		t.Fatal(err)
	}
	q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, sendWait: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(testContext(t)) })
	c = dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	return c, folder
}

// rawSocket is a connection below frames, after the preface and a hello.
func rawSocket(t *testing.T, folder string) net.Conn {
	t.Helper()
	nc, err := net.Dial("unix", SocketPath(folder))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	h := hello{Version: ProtocolVersion, Tag: "bad"}
	frame := h.encode()
	if _, err := nc.Write(append(binary.BigEndian.AppendUint32([]byte("SITDL\x00\x00\x01"), uint32(len(frame))), frame...)); err != nil {
		t.Fatal(err)
	}
	return nc
}

func sendFrame(t *testing.T, w io.Writer, tag uint64, req qmgr.Request, body []byte) {
	t.Helper()
	b, err := appendRequest(nil, tag, req)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, body...)
	if _, err := w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)); err != nil {
		t.Fatal(err)
	}
}

func logged(t *testing.T, folder, text string) func() bool {
	return func() bool {
		log, err := os.ReadFile(errorLogName(folder+"/errors", 1))
		if err != nil {
			t.Error(err)
		}
		return strings.Contains(string(log), text)
	}
}

// A client that is in the middle of a long put, with a message in its unit of work,
// holds nobody up; when it ends there nothing is left of it.
func TestClient_EndsInAFrame_BackedOut(t *testing.T) {
	t.Parallel()
	c, folder := startImpatient(t)
	nc := rawSocket(t, folder)
	sendFrame(t, nc, 1, qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: outputAndInput}, nil)
	sendFrame(t, nc, 2, &qmgr.PutReq{Handle: 1, MD: mqi.NewMD(), PMO: mqi.PMO{Options: mqi.MQPMO_SYNCPOINT}}, []byte("mine"))
	eventually(t, "its message is there", func() bool { st, _ := statusOf(t, c, "Q"); return st.Uncom == 1 })
	if _, err := nc.Write(binary.BigEndian.AppendUint32(nil, 50<<20)); err != nil {
		t.Fatal(err)
	}
	if _, err := nc.Write([]byte{byte(kindPut), 3, 1}); err != nil {
		t.Fatal(err)
	}
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	for range 10 {
		put(t, c, h, "theirs", 0)
	}
	if err := nc.(*net.UnixConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is gone and backed out", func() bool {
		st, _ := statusOf(t, c, "Q")
		return len(st.Readers) == 0 && st.Uncom == 0 && st.CurDepth == 10
	})
}

// One that goes no further in a short frame is ended in time, with a line that says why.
func TestClient_StallsInAFrame_Ended(t *testing.T) {
	t.Parallel()
	c, folder := startImpatient(t)
	nc := rawSocket(t, folder)
	sendFrame(t, nc, 1, qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: mqi.MQOO_INPUT_SHARED}, nil)
	eventually(t, "it reads", func() bool { st, _ := statusOf(t, c, "Q"); return len(st.Readers) == 1 })
	if _, err := nc.Write(binary.BigEndian.AppendUint32(nil, 20_000)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it reads no more", func() bool { st, _ := statusOf(t, c, "Q"); return len(st.Readers) == 0 })
	eventually(t, "the error log says why", logged(t, folder, "AMQ9207E"))
	eventually(t, "the error log says why", logged(t, folder, transport.ErrStalled.Error()))
}

// One that does not read its answers, few as they are, is ended in time: its unit
// of work must not wait for a program that hangs.
func TestClient_StopsReading_EndedInTime(t *testing.T) {
	t.Parallel()
	c, folder := startImpatient(t)
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	for range 8 {
		put(t, c, h, strings.Repeat("x", 1<<20), 0)
	}
	nc := rawSocket(t, folder)
	sendFrame(t, nc, 1, qmgr.OpenReq{OD: mqi.OD{ObjectName: "Q"}, Options: mqi.MQOO_INPUT_SHARED}, nil)
	for tag := range uint64(8) {
		sendFrame(t, nc, tag+2, &qmgr.GetReq{Handle: 1, MD: mqi.NewMD(), GMO: mqi.GMO{Options: mqi.MQGMO_SYNCPOINT, MaxLength: -1}}, nil)
	}
	eventually(t, "it has them all", func() bool { st, _ := statusOf(t, c, "Q"); return st.Uncom == 8 })
	put(t, c, h, "others go on", 0)
	eventually(t, "they are back", func() bool {
		st, _ := statusOf(t, c, "Q")
		return st.Uncom == 0 && st.CurDepth == 9 && len(st.Readers) == 0
	})
	eventually(t, "the error log says why", logged(t, folder, "does not read its answers"))
}

// A client that sends as fast as it can has its bounds; others get through.
func TestClient_Floods_OthersGoOn(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	link := rawLink(t, folder)
	stop, flooded := make(chan struct{}), make(chan int)
	go func() { // reads its answers, so that it may go on for ever
		for {
			if _, err := link.Receive(); err != nil {
				return
			}
		}
	}()
	go func() {
		b, err := appendRequest(nil, 1, qmgr.BackReq{})
		if err != nil {
			t.Error(err)
		}
		n := 0
		for {
			select {
			case <-stop:
				flooded <- n
				return
			default:
			}
			if link.Send(b) != nil {
				flooded <- n
				return
			}
			n++
		}
	}()
	h := open(t, c, "Q", mqi.MQOO_OUTPUT)
	for range 50 {
		put(t, c, h, "through", 0)
	}
	close(stop)
	if n := <-flooded; n < maxOutstanding {
		t.Errorf("the flood had %d calls", n)
	}
}

// Frames that are nearly right, whatever they are made of, are answered with a
// reason code or end their own connection; nobody else notices.
func TestSession_HostileFrames_HurtNobody(t *testing.T) {
	t.Parallel()
	q, folder := startFolder(t, dataFolder(t))
	c := dialTo(t, folder)
	run(t, c, "DEFINE QLOCAL(Q)")
	h := open(t, c, "Q", outputAndInput)
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	frames := sampleFrames(t)
	for range 150 {
		link := rawLink(t, folder)
		for range 1 + r.IntN(20) {
			if link.Send(hostile(r, frames)) != nil {
				break // it was ended
			}
		}
		if r.IntN(2) == 0 {
			if err := link.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
	}
	put(t, c, h, "still there", 0)
	select {
	case <-q.Done():
		t.Fatalf("seed %d: the queue manager ended: %v", seed, q.Err())
	default:
	}
}

// hostile is a frame with bytes changed, cut or added; no end, which would be obeyed.
func hostile(r *rand.Rand, frames [][]byte) []byte {
	for {
		frame := append([]byte(nil), frames[r.IntN(len(frames))]...)
		for range r.IntN(4) {
			switch at := r.IntN(len(frame)); r.IntN(4) {
			case 0:
				frame[at] = byte(r.Uint32())
			case 1:
				frame = frame[:max(at, 1)]
			case 2:
				frame = append(frame, byte(r.Uint32()))
			case 3:
				frame[at] = 0xff
			}
		}
		if kind(frame[0]) != kindEnd {
			return frame
		}
	}
}
