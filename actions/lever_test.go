package actions

import (
	"testing"
	"time"

	"github.com/situationd/situationd/situations"
)

func TestReadyElsewhere(t *testing.T) {
	t.Parallel()
	type inst = situations.Instance
	local := func(f func(*inst)) inst {
		i := inst{QMgr: "QM2", Local: true, Put: true, Reachable: true}
		if f != nil {
			f(&i)
		}
		return i
	}
	remote := func(f func(*inst)) inst {
		i := inst{QMgr: "QM3", Put: true, Reachable: true}
		if f != nil {
			f(&i)
		}
		return i
	}
	lever := func(v situations.Verb, n int) Lever { return Lever{Lever: situations.Lever{Verb: v, Value: n}} }
	put, rank, prty := lever(situations.VerbPut, 0), lever(situations.VerbRank, 0), lever(situations.VerbPriority, 0)
	v6 := put
	v6.V6 = true
	tests := []struct {
		name  string
		lever Lever
		in    []inst
		want  int
	}{
		{"one other", put, []inst{local(nil), remote(nil)}, 1},
		{"no lever", Lever{}, []inst{local(nil), remote(nil)}, 1},
		{"only ours", put, []inst{local(nil)}, 0},
		{"put-disabled", put, []inst{local(nil), remote(func(i *inst) { i.Put = false })}, 0},
		{"suspended", put, []inst{local(nil), remote(func(i *inst) { i.Suspended = true })}, 0},
		{"unreachable", put, []inst{local(nil), remote(func(i *inst) { i.Reachable = false })}, 0},
		{"lower rank: ranks come before put", put, []inst{local(func(i *inst) { i.ClwlRank = 9 }), remote(nil)}, 0},
		{"lower rank before MQ 8", v6, []inst{local(func(i *inst) { i.ClwlRank = 9 }), remote(nil)}, 1},
		{"lower channel rank", put, []inst{local(func(i *inst) { i.ChannelRank = 1 }), remote(nil)}, 0},
		{"a third has the top rank but is down", put, []inst{
			local(nil), remote(nil), remote(func(i *inst) { i.ClwlRank, i.Reachable = 5, false }),
		}, 0},
		{"lower priority is enough when ours is disabled", put, []inst{local(func(i *inst) { i.ClwlPrty = 9 }), remote(nil)}, 1},
		{"rank strictly higher", rank, []inst{local(func(i *inst) { i.ClwlRank = 9 }), remote(func(i *inst) { i.ClwlRank = 9 })}, 1},
		{"rank equal after", rank, []inst{local(func(i *inst) { i.ClwlRank = 9 }), remote(nil)}, 0},
		{"rank: top only", rank, []inst{local(nil), remote(func(i *inst) { i.ClwlRank = 3 }), remote(func(i *inst) { i.ClwlRank = 9 })}, 1},
		{"rank: top is disabled", rank, []inst{local(nil), remote(func(i *inst) { i.ClwlRank = 3 }), remote(func(i *inst) { i.ClwlRank, i.Put = 9, false })}, 0},
		{"priority strictly higher", prty, []inst{local(func(i *inst) { i.ClwlPrty = 1 }), remote(func(i *inst) { i.ClwlPrty = 1 })}, 1},
		{"priority equal after", prty, []inst{local(func(i *inst) { i.ClwlPrty = 1 }), remote(nil)}, 0},
		{"priority: unreachable do not count", prty, []inst{
			local(nil), remote(func(i *inst) { i.ClwlPrty = 1 }), remote(func(i *inst) { i.ClwlPrty, i.Reachable = 9, false }),
		}, 1},
		{"priority: channel first", prty, []inst{local(func(i *inst) { i.ChannelPrty = 1 }), remote(func(i *inst) { i.ClwlPrty = 1 })}, 0},
		{"two others", put, []inst{local(nil), remote(nil), remote(func(i *inst) { i.QMgr = "QM4" })}, 2},
	}
	for _, tc := range tests {
		if got := ReadyElsewhere(situations.Row{Instances: tc.in, InstancesKnown: true}, tc.lever); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestDirection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		attr, from, to string
		want           direction
	}{
		{attrPut, enabled, disabled, lowering},
		{attrPut, disabled, enabled, raising},
		{attrPut, disabled, disabled, neither},
		{attrRank, "9", "0", lowering},
		{attrRank, "0", "10", raising},
		{attrPriority, "3", "4", raising},
		{attrUseQ, "QMGR", useAny, neither},
		{attrRank, "?", "0", neither},
	}
	for _, tc := range tests {
		if got := directionOf(tc.attr, tc.from, tc.to); got != tc.want {
			t.Errorf("%s %s to %s: %d, want %d", tc.attr, tc.from, tc.to, got, tc.want)
		}
	}
}

func TestGraceOfShortIntervals(t *testing.T) {
	t.Parallel()
	tests := []struct{ configured, interval, want time.Duration }{
		{10 * time.Second, 5 * time.Minute, 10 * time.Second},
		{10 * time.Second, 5 * time.Second, 10 * time.Second},
		{10 * time.Second, time.Second, 2 * time.Second},
		{10 * time.Second, 4900 * time.Millisecond, 9800 * time.Millisecond},
		{time.Second, time.Second, time.Second},
		{0, time.Second, 0},
	}
	for _, tc := range tests {
		if got := Grace(tc.configured, tc.interval); got != tc.want {
			t.Errorf("Grace(%s, %s) = %s, want %s", tc.configured, tc.interval, got, tc.want)
		}
	}
}

func TestViewCountsGraceFromTheLatestStart(t *testing.T) {
	t.Parallel()
	at := func(s int) time.Time { return time.Date(2026, 11, 30, 10, 0, s, 0, time.UTC) }
	v := view{graceFrom: at(0)}
	step := func(obs *situations.Observation, restarted bool, from time.Time) {
		t.Helper()
		if got := v.take(obs); got != restarted || !v.graceFrom.Equal(from) {
			t.Errorf("sample at %s: restarted %v, grace from %s; want %v, %s", obs.At, got, v.graceFrom, restarted, from)
		}
	}
	step(&situations.Observation{At: at(10), Started: at(5), Connected: at(8)}, false, at(8))
	step(&situations.Observation{At: at(11), Err: errCrashed}, false, at(8))
	step(&situations.Observation{At: at(20), Started: at(15), Connected: at(18)}, true, at(18))
	step(&situations.Observation{At: at(30), Started: at(15), Connected: at(29)}, false, at(29))
	// The source's clock is off: counted from the sample.
	step(&situations.Observation{At: at(40), Started: at(59), Connected: at(29)}, true, at(40))
	step(&situations.Observation{At: at(50), Started: at(1), Connected: at(29)}, true, at(50))
	step(&situations.Observation{At: at(60), Started: at(1), Connected: at(29)}, false, at(50))
}
