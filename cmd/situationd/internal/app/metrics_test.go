package app

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/situationd/situationd/mqengine"
)

// A queue manager that ended between two samples is not shown as running until
// the next, which is minutes away.
func TestApp_Metrics_QueueManagerEnded_IsDownBeforeTheNextSample(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "queue_manager: {name: QM2}\nrules: [rules.yaml]\n", `version: 1
situations:
  - name: Deep
    watch: {queue: Q}
    formula: CURDEPTH > 10
    sample: 1h
    alert: {severity: warning, summary: deep}
`)
	ctx := context.Background()
	if err := mqengine.Create(ctx, mqengine.CreateOptions{Data: w.dir, Name: "QM2", MQSC: []string{filepath.Join(w.dir, "qm2.mqsc")}}); err != nil {
		t.Fatal(err)
	}
	folder, err := mqengine.Folder(w.dir, "QM2")
	if err != nil {
		t.Fatal(err)
	}
	qm, err := mqengine.Start(ctx, mqengine.Options{Name: "QM2", Folder: folder, Listen: mqengine.NoListener, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	d := w.start(Options{})
	w.eventually("ready", func() bool { return d.Ready() == nil })
	if !d.qmgrMetrics(ctx).Connected {
		t.Error("it runs and is shown as down")
	}
	if err := qm.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	w.eventually("it is shown as down", func() bool {
		m := d.qmgrMetrics(ctx)
		return !m.Connected && len(m.Queues) == 0
	})
	if _, failed, _, _ := d.samples.read(); failed != 0 {
		t.Errorf("%d samples were taken of it after its end: the test shows nothing", failed)
	}
}
