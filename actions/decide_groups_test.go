package actions

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/situations"
)

var (
	theChannel = situations.GroupChannel.Item("TO.QM2")
	theManager = situations.GroupQMgr.Item("QM2")
)

// hosted is a queue of QM2 in C1 that QM3 has too, put-enabled or not.
func hosted(name string, elsewhere bool) situations.Row {
	return situations.Row{
		Queue: name, Base: name, Type: "QLOCAL", Clusters: []string{"C1"}, InstancesKnown: true,
		Env: situations.Attributes{QUEUE: name, CLUSTER: "C1", PUT: enabled},
		Instances: []situations.Instance{
			{QMgr: "QM2", Cluster: "C1", Local: true, Put: true, Reachable: true},
			{QMgr: "QM3", Cluster: "C1", Put: elsewhere, Reachable: true},
		},
	}
}

// channelFacts are those of a decision about a channel of so and so type and status.
func channelFacts(chlType, status string, queues ...situations.Row) *Facts {
	return factsOf(situations.Row{
		Queue: theChannel, Type: chlType, Clusters: []string{"C1"},
		Env: situations.ChannelAttributes{CHANNEL: "TO.QM2", CHLTYPE: chlType, STATUS: status, CLWLWGHT: 50, CLUSTER: "C1"},
	}, queues...)
}

func managerFacts(clusters, suspended []string, queues ...situations.Row) *Facts {
	env := situations.QMgrAttributes{QMGR: "QM2", SUSPEND: situations.No}
	if len(suspended) > 0 {
		env.SUSPEND = situations.Yes
	}
	return factsOf(situations.Row{Queue: theManager, Clusters: clusters, Suspended: suspended, Env: env}, queues...)
}

func factsOf(row situations.Row, queues ...situations.Row) *Facts {
	o := newOuts(nil)
	return &Facts{
		Now: time.Unix(1000, 0), Target: Target{QMgr: "QM2", Queue: row.Queue}, Sampled: true, Present: true, Row: row,
		Queues: queues, Repository: true, JournalOK: true, BudgetFree: true, Claims: NewClaims(nil), Outs: &o,
	}
}

func decideOne(f *Facts, a situations.Action) decision {
	in := situations.Intent{Key: situations.Key{Situation: "S", QMgr: "QM2", Queue: f.Target.Queue}, Edge: open, Interval: time.Second, Actions: []situations.Action{a}}
	return decide(&in, 0, f)
}

// inShort is a decision in short: what is set, what holds it, or why nothing is done.
func inShort(d decision) string {
	switch d.Do {
	case doHold:
		return "held " + strings.Join(Codes(d.Holds), " ") + ": " + sentence(d.Holds)
	case doNoChange:
		return "no change: " + d.Reason
	}
	var out []string
	for _, c := range d.Changes {
		out = append(out, c.Attr+" "+c.Before+"->"+c.After)
	}
	return strings.Join(out, ", ")
}

// TestDecideOf: the levers of channels and of the queue manager.
func TestDecideOf(t *testing.T) {
	t.Parallel()
	weight := func(v string) situations.Action { return situations.Action{Verb: situations.VerbWeight, Value: v} }
	start, stop := situations.Action{Verb: situations.VerbStartChannel}, situations.Action{Verb: situations.VerbStopChannel}
	suspend, resume := situations.Action{Verb: situations.VerbSuspend}, situations.Action{Verb: situations.VerbResume}
	inC2 := situations.Action{Verb: situations.VerbSuspend, Clusters: []string{"C2"}}
	last := suspend
	last.AllowLast = true
	both, alone := hosted("BOTH", true), hosted("ALONE", false)
	unknown := hosted("UNKNOWN", true)
	unknown.InstancesKnown = false
	for _, c := range []struct {
		name string
		f    *Facts
		a    situations.Action
		want string
	}{
		{"weight", channelFacts("CLUSRCVR", "RUNNING", both), weight("1"), "CLWLWGHT 50->1"},
		{"weight raised", channelFacts("CLUSRCVR", "RUNNING", alone), weight("99"), "CLWLWGHT 50->99"},
		{"weight, one queue is only here", channelFacts("CLUSRCVR", "RUNNING", both, alone), weight("1"), "held last_instance: no other instance of ALONE"},
		{"weight of another's channel", channelFacts("CLUSSDR", "RUNNING", both), weight("1"), "held channel_type: CHANNEL(TO.QM2) is a CLUSSDR"},
		{"weight already", channelFacts("CLUSRCVR", "RUNNING", alone), weight("50"), "no change: CLWLWGHT(50) already"},
		{"stop a sender", channelFacts("SDR", "RUNNING", alone), stop, "STATUS STARTED->STOPPED"},
		{"stop the receiver", channelFacts("CLUSRCVR", "RUNNING", alone), stop, "held last_instance"},
		{"stop what is stopped", channelFacts("SDR", "STOPPED"), stop, "no change: STATUS(STOPPED) already"},
		{"stop what is stopping", channelFacts("SDR", "STOPPING"), stop, "no change: STATUS(STOPPING) already"},
		{"start what runs", channelFacts("SDR", "RUNNING"), start, "no change: STATUS(RUNNING) already"},
		{"start what is on its way", channelFacts("SDR", "BINDING"), start, "no change: STATUS(BINDING) already"},
		{"start what is idle", channelFacts("SDR", "INACTIVE"), start, "STATUS INACTIVE->STARTED"},
		{"start what retries", channelFacts("SDR", "RETRYING"), start, "STATUS RETRYING->STARTED"},
		{"start what is stopped", channelFacts("SDR", "STOPPED"), start, "STATUS STOPPED->STARTED"},
		{"status unknown", channelFacts("SDR", ""), start, "held unknown"},
		{"suspend", managerFacts([]string{"C1", "C2"}, nil, both), suspend, "SUSPEND(C1) NO->YES, SUSPEND(C2) NO->YES"},
		{"suspend the rest", managerFacts([]string{"C1", "C2"}, []string{"C1"}, alone), suspend, "SUSPEND(C2) NO->YES"},
		{"suspend, one queue is only here", managerFacts([]string{"C1"}, nil, both, alone), suspend, "held last_instance: no other instance of ALONE could be chosen; suspend takes all queues of QM2 away"},
		{"suspend, one is not known", managerFacts([]string{"C1"}, nil, unknown), suspend, "held last_instance: the other instances of UNKNOWN are not known yet"},
		{"suspend from another cluster", managerFacts([]string{"C1", "C2"}, nil, alone), inC2, "SUSPEND(C2) NO->YES"},
		{"suspend, even the last", managerFacts([]string{"C1"}, nil, alone), last, "SUSPEND(C1) NO->YES"},
		{"suspend in no cluster", managerFacts(nil, nil), suspend, "held unknown: QM2 is in no cluster"},
		{"suspend from one it is not in", managerFacts([]string{"C1"}, nil), inC2, "held unknown: SUSPEND(C2) has no value"},
		{"suspend, nothing hosted", managerFacts([]string{"C1"}, nil), suspend, "SUSPEND(C1) NO->YES"},
		{"resume", managerFacts([]string{"C1"}, []string{"C1"}, alone), resume, "SUSPEND(C1) YES->NO"},
		{"resume what is not suspended", managerFacts([]string{"C1"}, nil), resume, "no change: SUSPEND(C1)(NO) already"},
	} {
		if got := inShort(decideOne(c.f, c.a)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A rank of the channel is weighed before the queues' own: what is above ours
// once it is down counts, not what is above it now.
func TestDecideOf_RankOfTheChannel(t *testing.T) {
	t.Parallel()
	q := hosted("Q", true)
	q.Instances[0].ChannelRank = 9
	f := channelFacts("CLUSRCVR", "RUNNING", q)
	env := f.Row.Env.(situations.ChannelAttributes)
	env.CLWLRANK = 9
	f.Row.Env = env
	q.Instances[1].ChannelRank = 5
	if got := inShort(decideOne(f, rank("0"))); got != "CLWLRANK 9->0" {
		t.Error(got)
	}
	if got := inShort(decideOne(f, rank("6"))); !strings.HasPrefix(got, "held last_instance") {
		t.Errorf("still above the other: %s", got)
	}
}

// A person's value stays: the claim is dropped, whatever the rule wants.
func TestDecideOf_APersonsValueStays(t *testing.T) {
	t.Parallel()
	f := managerFacts([]string{"C1", "C2"}, nil, hosted("Q", true))
	now := time.Unix(900, 0)
	for _, c := range []string{"C1", "C2"} {
		f.Claims.hold(f.Target, suspendIn(c), "S", situations.No, situations.Yes, now)
		f.Claims.settle(f.Target, suspendIn(c), situations.Yes)
	}
	f.Claims.observe(f.Target, suspendIn("C1"), situations.No, false)
	d := decideOne(f, situations.Action{Verb: situations.VerbSuspend, Claim: true})
	if got := inShort(d); got != "SUSPEND(C2) NO->YES" || !slices.Equal(d.Drop, []string{suspendIn("C1")}) {
		t.Errorf("%s, drops %v", got, d.Drop)
	}
	d = decideOne(f, situations.Action{Verb: situations.VerbRevert})
	if d.Do != doNoChange || !slices.Contains(d.Drop, suspendIn("C1")) {
		t.Errorf("revert: %s, drops %v", inShort(d), d.Drop)
	}
}

// TestMade: after a restart a channel that was idle when it was to be started is
// started when it does something else.
func TestMade(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, status string
		want           bool
	}{
		{"INACTIVE", "INACTIVE", false}, {"INACTIVE", "RUNNING", true}, {"INACTIVE", "RETRYING", true}, {"RETRYING", "RETRYING", false},
		{"RETRYING", "STOPPED", false}, {situations.Stopped, "INACTIVE", true}, {situations.Stopped, "STOPPED", false},
	} {
		row := situations.Row{Env: situations.ChannelAttributes{STATUS: c.status}}
		if got := made(&row, change{Attr: attrStatus, Before: c.before, After: situations.Started}); got != c.want {
			t.Errorf("it was %s and is %s: made %v", c.before, c.status, got)
		}
	}
}

// TestAffected: what takes an item out of the balancing takes which queues.
func TestAffected(t *testing.T) {
	t.Parallel()
	elsewhere := hosted("ELSEWHERE", true)
	elsewhere.Clusters = []string{"C2"}
	system := hosted("SYSTEM.X", true)
	system.System = true
	queues := []situations.Row{hosted("A", true), elsewhere, hosted("B", false), system, {Queue: "NONE"}}
	suspend := situations.Action{Verb: situations.VerbSuspend}
	for _, c := range []struct {
		f        *Facts
		clusters []string
		want     string
	}{
		{managerFacts([]string{"C1"}, nil), nil, "A B"},
		{managerFacts([]string{"C1", "C2"}, nil), nil, "A ELSEWHERE B"},
		{managerFacts([]string{"C1", "C2"}, nil), []string{"C2"}, "ELSEWHERE"},
		{channelFacts("CLUSRCVR", "RUNNING"), nil, "A B"},
		{channelFacts("CLUSSDR", "RUNNING"), nil, ""},
	} {
		var got []string
		for _, r := range affected(c.f.Target, &suspend, &c.f.Row, queues, c.clusters) {
			got = append(got, r.Queue)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s in %v: %v, want %s", c.f.Target.Queue, c.clusters, got, c.want)
		}
	}
}

// What takes several queues away asks about all of them in one look, and waits
// for whoever wants one of them first.
func TestAsk_AboutEveryQueue(t *testing.T) {
	t.Parallel()
	a, b := hosted("A", true), hosted("B", true)
	a.Instances[1].QMID, b.Instances[1].QMID = "QM3", "QM3"
	intent := func(qmid, queue string) PeerIntent { return PeerIntent{QMgr: qmid, QMID: qmid, Queue: queue} }
	for _, c := range []struct {
		name string
		look PeerLook
		want peerStep
	}{
		{"nobody", PeerLook{}, peersGo},
		{"a lower one wants the second", PeerLook{Intents: []PeerIntent{intent("QM1", "B")}}, peersWithdraw},
		{"a higher one wants the second", PeerLook{Intents: []PeerIntent{intent("QM3", "B")}}, peersWait},
		{"another queue", PeerLook{Intents: []PeerIntent{intent("QM1", "C")}}, peersGo},
		{"the second is down there", PeerLook{Instances: []PeerInstance{
			{QMgr: "QM3", QMID: "QM3", Queue: "A", Put: true}, {QMgr: "QM3", QMID: "QM3", Queue: "B"},
		}}, peersTooFew},
	} {
		p := &countedPeers{look: c.look}
		e := &Engine{opt: Options{Peers: p}}
		in := situations.Intent{Actions: []situations.Action{{Verb: situations.VerbSuspend}}}
		s := &step{tg: &target{Target: Target{QMgr: "QM2", Queue: theManager}}, en: &entry{in: in}}
		got, why, err := e.ask(t.Context(), s, []*situations.Row{&a, &b}, "QM2")
		if err != nil || got != c.want || !slices.Equal(p.asked, []string{""}) {
			t.Errorf("%s: %d (%s), %v; asked %q", c.name, got, why, err, p.asked)
		}
	}
}

// countedPeers answer always the same.
type countedPeers struct {
	look  PeerLook
	asked []string
}

func (p *countedPeers) Look(_ context.Context, queue string) (PeerLook, error) {
	p.asked = append(p.asked, queue)
	return p.look, nil
}
