package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

// explained is what a queue manager would answer for these instances.
func explained(t *testing.T, cands []workload.Candidate) string {
	t.Helper()
	var tr workload.Trace
	winner, _ := workload.Choose(&workload.Request{}, cands, &tr)
	x := &qmgr.Explanation{Queue: "Q", From: "QM1", Bind: "group", Workload: "v6", Steps: tr.Steps, Share: map[string]float64{}}
	for i, s := range tr.Shares {
		if s > 0 {
			x.Share[cands[i].QMgr] += s
		}
	}
	x.Chosen = &cands[winner].QMgr
	x.Notes = []string{"a note\x1b[2J\nof two lines"}
	var b strings.Builder
	if err := printRouting(&b, x); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func instance(n int, channel string) workload.Candidate {
	name := fmt.Sprintf("QM%d", n)
	return workload.Candidate{QMgr: name, QMID: name, Cluster: "C1", Channel: channel, Put: true, Status: mqi.MQCHS_RUNNING, ChlWght: 50}
}

// Two channels to one queue manager are two columns, told apart by the channel.
func TestPrintRouting_SeveralChannels(t *testing.T) {
	t.Parallel()
	slow, fast, other := instance(2, "SLOW"), instance(2, "FAST"), instance(3, "TO.QM3")
	fast.NetPrty = 1
	want := strings.TrimPrefix(`
Q, put on QM1, bind on group, workload v6
step                 QM2/SLOW      QM2/FAST      QM3
 2 candidates        C1 keep       C1 keep       C1 keep
 3 channel CLWLRANK  0 keep        0 keep        0 keep
 4 queue CLWLRANK    0 keep        0 keep        0 keep
 5 PUT               ENABLED keep  ENABLED keep  ENABLED keep
 9 SUSPEND           NO keep       NO keep       NO keep
10 channel status    RUNNING keep  RUNNING keep  RUNNING keep
11 NETPRTY           0 out         1 keep        0 keep
12 channel CLWLPRTY  -             0 keep        0 keep
13 queue CLWLPRTY    -             0 keep        0 keep
15 CLWLWGHT          -             50 next       50
=> QM2 50 %, QM3 50 %; the next message goes to QM2
a note?[2J of two lines
`, "\n")
	if got := explained(t, []workload.Candidate{slow, fast, other}); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Of many instances those are named that fall out.
func TestPrintRouting_ManyInstances(t *testing.T) {
	t.Parallel()
	var cands []workload.Candidate
	for i := range 20 {
		c := instance(i, "C")
		c.Put = i%2 == 0
		cands = append(cands, c)
	}
	got := explained(t, cands)
	for _, want := range []string{
		"\n 4 queue CLWLRANK    20 of 20 stay\n",
		"\n 5 PUT               10 of 20 stay; out: QM1 DISABLED, QM3 DISABLED, QM5 DISABLED, QM7 DISABLED, QM9 DISABLED, QM11 DISABLED, QM13 DISABLED, QM15 DISABLED, and 2 more\n",
		"\n15 CLWLWGHT          10 left\n",
		"=> QM0 10 %, QM10 10 %, ", "QM2 10 %, QM4 10 %, and 2 more; the next message goes to QM0\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if lines := strings.Count(got, "\n"); lines > 20 {
		t.Errorf("%d lines", lines)
	}
}
