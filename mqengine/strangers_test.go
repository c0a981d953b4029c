package mqengine

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// startListening starts a queue manager with a listener.
func startListening(t *testing.T) (q *QueueManager, folder string) {
	t.Helper()
	data := dataFolder(t)
	if err := Create(testContext(t), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		t.Fatal(err)
	}
	folder, err := Folder(data, "QM1")
	if err != nil {
		t.Fatal(err)
	}
	q, err = Start(testContext(t), Options{Name: "QM1", Folder: folder, Listen: "127.0.0.1:0", helloWait: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) })
	return q, folder
}

// However many connect and say nothing: a partner that says hello is heard, at
// the listener and at the socket, and what the silent ones cost is bounded.
func TestStrangers_Silent_KeepNobodyOut(t *testing.T) {
	t.Parallel()
	q, folder := startListening(t)
	for network, addr := range map[string]string{"tcp": q.Addr(), "unix": SocketPath(folder)} {
		for range strangersMax + 100 {
			nc, err := net.Dial(network, addr)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = nc.Close() })
		}
	}
	hello := channel.AppendFrame(nil, &channel.Frame{Kind: channel.FrameHello, Version: 1, Channel: "NO.SUCH", Type: "CLUSSDR", QMgr: "QM2", QMID: "QM2_1"}, nil)
	link, err := transport.TCP(channelLinks()).Dial(testContext(t), q.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = link.Close() })
	if err := link.Send(hello); err != nil {
		t.Fatal(err)
	}
	answer, err := link.Receive()
	if err != nil {
		t.Fatal(err)
	}
	f, err := channel.DecodeFrame(answer, channel.DefaultLimits(), nil)
	if err != nil || f.Kind != channel.FrameRefuse || !strings.Contains(f.Reason, "NO.SUCH") {
		t.Errorf("the answer is %+v, %v", f, err)
	}
	run(t, dialTo(t, folder), "DEFINE QLOCAL(STILL.WORKS)")
	eventually(t, "all but the youngest strangers are gone", func() bool {
		q.links.mu.Lock()
		defer q.links.mu.Unlock()
		q.locals.mu.Lock()
		defer q.locals.mu.Unlock()
		return len(q.links.open) <= strangersMax && len(q.locals.open) <= strangersMax+1
	})
}

// The order in which strangers go is that of their coming.
func TestStrangers_OldestGoes(t *testing.T) {
	t.Parallel()
	var s strangers
	net := transport.NewMemory(transport.Options{Protocol: transport.ProtocolChannel})
	l, err := net.Listen("QM1")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var links []transport.Link
	for range strangersMax + 2 {
		go func() { _, _ = net.Dial(t.Context(), "QM1") }()
		link, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer link.Close()
		links = append(links, link)
	}
	for i, link := range links[:strangersMax] {
		if old := s.enter(link); old != nil {
			t.Fatalf("number %d was too many", i)
		}
	}
	if !s.leave(links[0]) || s.leave(links[0]) {
		t.Error("who spoke did not leave once")
	}
	if old := s.enter(links[strangersMax]); old != nil {
		t.Error("there was room again")
	}
	if old := s.enter(links[strangersMax+1]); old != links[1] || s.leave(links[1]) || s.count() != strangersMax {
		t.Errorf("%v had to go of %d", old, s.count())
	}
}

// What waits for the actor is bounded in bytes, too.
func TestMailbox_Weight_PostersWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := newMailbox()
		m.post(item{weight: mailboxBytes - 1})
		m.post(item{weight: 100 << 20}) // one goes over, so that the largest message fits an empty box
		posted := make(chan bool)
		go func() { posted <- m.post(item{weight: 1}) }()
		synctest.Wait()
		select {
		case <-posted:
			t.Fatal("a full box took more")
		default:
		}
		if n := len(m.take(nil)); n != 2 {
			t.Fatalf("%d items", n)
		}
		if !<-posted {
			t.Error("the box refused")
		}
		m.take(nil)
		if m.weight != 0 {
			t.Errorf("an empty box weighs %d", m.weight)
		}
	})
}

// One kind of message, however many, leaves room for others, and is counted.
func TestErrorLog_Flood_CountedNotWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var console bytes.Buffer
		dir := t.TempDir()
		log := openErrorLog(dir, hclog.New(&hclog.LoggerOptions{Output: &console}))
		for i := range 1000 {
			log.one(qmgr.LogEntry{ID: "AMQ9207E", Text: fmt.Sprintf("stranger %d \x1b[31m\u009b\xff", i)})
		}
		log.one(qmgr.LogEntry{ID: "AMQ6708W", Text: "disk"})
		log.tell()
		time.Sleep(quotaEvery)
		log.tell()
		log.tell()
		for i := range quotaLines + 1 {
			log.one(qmgr.LogEntry{ID: "AMQ9207E", Text: fmt.Sprintf("later %d", i)})
		}
		log.close()
		b, err := os.ReadFile(errorLogName(dir, 1))
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range map[string]string{"file": string(b), "console": console.String()} {
			if n := strings.Count(text, "\n"); n != 2*quotaLines+3 {
				t.Errorf("%s: %d lines", where, n)
			}
			for _, want := range []string{"stranger 0", "950 more of these messages were left out since", "the last: stranger 999", "disk", "1 more of these", "the last: later 50"} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %q is missing", where, want)
				}
			}
			if strings.ContainsAny(text, "\x1b\u009b\ufffd") {
				t.Errorf("%s: a terminal would obey it", where)
			}
		}
	})
}
