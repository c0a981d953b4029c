package mqengine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// member starts a queue manager of a cluster that listens on loopback.
func member(t *testing.T, name, listen string, s *store.Memory) (*QueueManager, Conn) {
	t.Helper()
	if s == nil {
		s = store.NewMemory()
		if err := found(s, name); err != nil {
			t.Fatal(err)
		}
		s = s.Reopen()
	}
	q, err := Start(testContext(t), Options{Name: name, Store: s, Listen: listen})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) })
	return q, connectTo(t, q)
}

// join makes a queue manager a member of cluster C1 whose full repository is at connname.
func join(t *testing.T, q *QueueManager, c Conn, repos string, connname string) {
	t.Helper()
	if repos == q.Name() {
		run(t, c, "ALTER QMGR REPOS(C1)")
	}
	run(t, c, fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CLUSTER(C1) CONNAME('%s') SHORTTMR(1)", q.Name(), connName(q.Addr())))
	if repos != q.Name() {
		run(t, c, fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) CLUSTER(C1) CONNAME('%s') SHORTTMR(1)", repos, connname))
	}
}

// Two queue managers over real TCP: a queue of the one is found and used from
// the other, also after the receiving side was lost and came back.
func TestCluster_TwoQueueManagers_OverTCP(t *testing.T) {
	t.Parallel()
	q1, c1 := member(t, "QM1", "127.0.0.1:0", nil)
	s2 := store.NewMemory()
	if err := found(s2, "QM2"); err != nil {
		t.Fatal(err)
	}
	s2 = s2.Reopen()
	q2, c2 := member(t, "QM2", "127.0.0.1:0", s2)
	join(t, q1, c1, "QM1", "")
	join(t, q2, c2, "QM1", connName(q1.Addr()))
	run(t, c2, "DEFINE QLOCAL(DCQ1) CLUSTER(C1) DEFBIND(NOTFIXED) DEFPSIST(YES)")
	var h Handle
	eventually(t, "QM1 knows the queue", func() bool {
		var err error
		h, _, err = c1.Open(testContext(t), mqi.OD{ObjectName: "DCQ1"}, mqi.MQOO_OUTPUT)
		return err == nil
	})
	res := put(t, c1, h, "over the channel", mqi.MQPMO_NO_SYNCPOINT)
	if res.ResolvedQMgrName != "QM2" {
		t.Errorf("it was sent to %s", res.ResolvedQMgrName)
	}
	in := open(t, c2, "DCQ1", mqi.MQOO_INPUT_SHARED)
	m, err := c2.Get(testContext(t), in, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: 10000, MaxLength: -1})
	if err != nil || string(m.Body) != "over the channel" || m.MD.MsgId != res.MsgId {
		t.Fatalf("got %+v, %v", m, err)
	}
	if err := q2.Stop(testContext(t)); err != nil {
		t.Fatal(err)
	}
	const n = 20
	for i := range n {
		put(t, c1, h, fmt.Sprint(i), 0)
	}
	_, c2 = member(t, "QM2", q2.Addr(), s2.Reopen())
	in = open(t, c2, "DCQ1", mqi.MQOO_INPUT_SHARED)
	for i := range n {
		m, err := c2.Get(testContext(t), in, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: 15000, MaxLength: -1})
		if err != nil || string(m.Body) != fmt.Sprint(i) {
			t.Fatalf("message %d is %+v, %v", i, m, err)
		}
	}
	wantEmpty(t, c2, in)
	res2, err := c1.Instances(testContext(t), qmgr.InstancesReq{Queues: []string{"DCQ1"}})
	if err != nil || len(res2.Instances) != 1 || res2.Instances[0].QMgr != "QM2" {
		t.Errorf("instances %+v, %v", res2, err)
	}
}

// A change of an instance is seen as an event where it is routed.
func TestCluster_Watch_TellsOfInstances(t *testing.T) {
	t.Parallel()
	q1, c1 := member(t, "QM1", "127.0.0.1:0", nil)
	q2, c2 := member(t, "QM2", "127.0.0.1:0", nil)
	changes, err := c1.Watch(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	join(t, q1, c1, "QM1", "")
	join(t, q2, c2, "QM1", connName(q1.Addr()))
	run(t, c2, "DEFINE QLOCAL(DCQ1) CLUSTER(C1)")
	for c := range changes {
		if c.Kind&ClusterChanged == 0 {
			continue
		}
		res, err := c1.Instances(testContext(t), qmgr.InstancesReq{Queues: []string{"DCQ1"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Instances) == 1 {
			return
		}
	}
	t.Error("the watch ended")
}

// Bytes of any content at the listener are refused and logged, and hurt nobody.
func TestLinks_Stranger_Refused(t *testing.T) {
	t.Parallel()
	_, folder := startFolder(t, dataFolder(t))
	if err := End(testContext(t), folder, "QM1", EndMode{}); err != nil {
		t.Fatal(err)
	}
	q, err := Start(testContext(t), Options{Name: "QM1", Folder: folder, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Stop(context.Background()) })
	for _, bytes := range []string{"GET / HTTP/1.0\r\n\r\n", strings.Repeat("\xff", 100)} {
		nc, err := net.Dial("tcp", q.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := nc.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	link, err := Options{}.withDefaults().Network.Dial(testContext(t), q.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer link.Close()
	if err := link.Send([]byte{99, 1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the error log tells of all three", func() bool {
		log, err := os.ReadFile(errorLogName(folder+"/errors", 1))
		return err == nil && strings.Count(string(log), "AMQ9207E") >= 3
	})
	run(t, connectTo(t, q), "DEFINE QLOCAL(STILL.WORKS)")
}

// A queue manager that cannot be reached leaves the channel retrying, and Stop does not wait for it.
func TestLinks_NobodyThere_Retrying(t *testing.T) {
	t.Parallel()
	q, c := member(t, "QM1", "127.0.0.1:0", nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	join(t, q, c, "QM9", connName(dead))
	eventually(t, "the channel is RETRYING", func() bool {
		for _, r := range run(t, c, "DISPLAY CHSTATUS(*)").Responses {
			for _, f := range r.Fields {
				if f.Key == "STATUS" && f.Values[0] == "RETRYING" {
					return true
				}
			}
		}
		return false
	})
	if err := q.Stop(testContext(t)); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
