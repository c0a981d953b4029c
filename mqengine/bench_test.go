package mqengine

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/internal/samples"
	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// BenchmarkSocketPut is durable puts of 1 KiB over qm.sock: clients with so many
// calls outstanding each. SITUATIOND_BENCH_DIR names a folder on the disk to measure.
func BenchmarkSocketPut(b *testing.B) {
	for _, bb := range []struct{ clients, window int }{{1, 1}, {16, 1}, {16, 64}} {
		b.Run(fmt.Sprintf("%dx%d", bb.clients, bb.window), func(b *testing.B) { benchmarkPut(b, bb.clients, bb.window) })
	}
}

func benchmarkPut(b *testing.B, clients, window int) {
	data := b.TempDir()
	if dir := os.Getenv("SITUATIOND_BENCH_DIR"); dir != "" {
		var err error
		if data, err = os.MkdirTemp(dir, "bench"); err != nil {
			b.Fatal(err)
		}
		defer os.RemoveAll(data)
	}
	counted, folder := startCounted(b, data)
	admin := dialTo(b, folder)
	run(b, admin, "ALTER QMGR MAXMSGL(4194304)")
	var conns []Conn
	var handles []Handle
	for i := range clients {
		queue := fmt.Sprintf("Q%d", i)
		run(b, admin, "DEFINE QLOCAL("+queue+") MAXDEPTH(999999999)")
		c, err := Dial(context.Background(), folder, "QM1", qmgr.Appl{Tag: "bench"})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Disconnect(context.Background())
		conns = append(conns, c)
		handles = append(handles, open(b, c, queue, mqi.MQOO_OUTPUT))
	}
	msg := message(string(make([]byte, 1024)))
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	counted.applies.Store(0)
	var wg sync.WaitGroup
	for i, c := range conns {
		for range window {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					if _, err := c.Put(context.Background(), handles[i], msg, mqi.PMO{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
	b.ReportMetric(float64(b.N)/float64(counted.applies.Load()), "msgs/apply")
}

// countingStore counts how often the disk was asked.
type countingStore struct {
	store.Store
	applies atomic.Int64
}

func (s *countingStore) Apply(u *store.Unit) error {
	s.applies.Add(1)
	return s.Store.Apply(u)
}

func startCounted(b *testing.B, data string) (*countingStore, string) {
	if err := Create(context.Background(), CreateOptions{Data: data, Name: "QM1"}); err != nil {
		b.Fatal(err)
	}
	folder, err := Folder(data, "QM1")
	if err != nil {
		b.Fatal(err)
	}
	p, err := store.OpenPebble(storePath(folder), store.Options{MustExist: true})
	if err != nil {
		b.Fatal(err)
	}
	s := &countingStore{Store: p}
	q, err := Start(context.Background(), Options{Name: "QM1", Folder: folder, Store: s})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = q.Stop(context.Background()) })
	return s, folder
}

// BenchmarkSample50k is a sample of 50,000 queues from the table, all of them and
// the hundred that changed.
func BenchmarkSample50k(b *testing.B) {
	table := samples.NewTable(time.Now())
	attrs := testAttributes()
	rows := make([]*samples.Row, 50_000)
	for i := range rows {
		rows[i] = &samples.Row{QueueStatus: qmgr.QueueStatus{
			Number: uint32(i), Name: fmt.Sprintf("APP.QUEUE.%05d", i), Type: "QLOCAL", Attributes: attrs,
			Counts: qmgr.QueueCounts{CurDepth: i, Readers: []qmgr.Reader{{Tag: "app"}}},
		}}
	}
	table.Publish(rows, make([]*samples.Row, len(rows)))
	b.Run("full", func(b *testing.B) {
		for b.Loop() {
			sampleSince(table, 0)
		}
	})
	b.Run("full over the wire", func(b *testing.B) {
		var buf []byte
		for b.Loop() {
			buf = sampleSince(table, 0).append(buf[:0])
			readSampleRows(wire.NewReader(buf))
		}
		b.ReportMetric(float64(len(buf)), "bytes")
	})
	b.Run("changed", func(b *testing.B) {
		since := sampleSince(table, 0).Revision
		changed := make([]*samples.Row, 100)
		for i := range changed {
			status := rows[i*499].QueueStatus
			status.Counts.CurDepth = 1
			changed[i] = &samples.Row{QueueStatus: status}
		}
		table.Publish(changed, make([]*samples.Row, len(changed)))
		for b.Loop() {
			sampleSince(table, since)
		}
	})
}
