package httpapi

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

func scrape(t *testing.T, families []Family) string {
	t.Helper()
	answer := httptest.NewRecorder()
	NewMetrics(func() []Family { return families }).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("scrape: %d %s", answer.Code, answer.Body.String())
	}
	return answer.Body.String()
}

func contains(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}

func sampleQMgr() *QMgrMetrics {
	return &QMgrMetrics{
		Name: "QM2", Description: "the second", Connected: true, UptimeSeconds: 5,
		Connections: new(3), Listeners: new(0), ChannelInitiator: "RUNNING",
		Queues: []QueueMetrics{
			{Queue: "DCQ1", Cluster: "C1", Depth: 7, MaxDepth: 5000, InputHandles: 1, OutputHandles: 2, HasOldest: true, OldestAge: 3},
			{Queue: "SYSTEM.CLUSTER.TRANSMIT.QUEUE", Transmission: true, Description: "to the cluster"},
		},
		Channels: []ChannelMetrics{{Channel: "TO.QM1", Type: "CLUSSDR", Status: "RETRYING", RQMName: "QM1", ConnName: "127.0.0.1(1414)", Numbers: map[string]int64{"MSGS": 9}}},
		Clusters: []ClusterMetrics{{Cluster: "C1", Full: true, Suspended: true, Status: "RUNNING"}},
	}
}

func TestMetrics_IBMNames_HaveIBMLabels(t *testing.T) {
	t.Parallel()
	page := scrape(t, sampleQMgr().Families())
	contains(t, page,
		`ibmmq_qmgr_status{description="the second",platform="UNIX",qmgr="QM2"} 2`,
		`ibmmq_qmgr_connection_count{description="the second",platform="UNIX",qmgr="QM2"} 3`,
		`ibmmq_qmgr_active_listeners{description="the second",platform="UNIX",qmgr="QM2"} 0`,
		`ibmmq_qmgr_channel_initiator_status{description="the second",platform="UNIX",qmgr="QM2"} 2`,
		`ibmmq_queue_depth{cluster="C1",description="-",platform="UNIX",qmgr="QM2",queue="DCQ1",usage="NORMAL"} 7`,
		`ibmmq_queue_input_handles{cluster="C1",description="-",platform="UNIX",qmgr="QM2",queue="DCQ1",usage="NORMAL"} 1`,
		`ibmmq_queue_oldest_message_age{cluster="C1",description="-",platform="UNIX",qmgr="QM2",queue="DCQ1",usage="NORMAL"} 3`,
		`ibmmq_queue_attribute_usage{cluster="-",description="to the cluster",platform="UNIX",qmgr="QM2",queue="SYSTEM.CLUSTER.TRANSMIT.QUEUE",usage="XMITQ"} 1`,
		`ibmmq_channel_status{channel="TO.QM1",connname="127.0.0.1(1414)",description="-",jobname="-",platform="UNIX",qmgr="QM2",rqmname="QM1",sslciph="-",type="CLUSSDR"} 5`,
		`ibmmq_cluster_suspend{cluster="C1",platform="UNIX",qmgr="QM2",qmtype="FULL"} 1`,
	)
	if strings.Contains(page, "ibmmq_qmgr_command_server_status{") || strings.Contains(page, "ibmmq_queue_time_since_get{") || strings.Contains(page, `oldest_message_age{cluster="-"`) {
		t.Error("an unknown value has a sample")
	}
}

func TestMetrics_NotConnected_OnlyTheStatusIsKnown(t *testing.T) {
	t.Parallel()
	m := sampleQMgr()
	m.Connected = false
	page := scrape(t, m.Families())
	contains(t, page, `ibmmq_qmgr_status{description="the second",platform="UNIX",qmgr="QM2"} 0`)
	if strings.Contains(page, "ibmmq_qmgr_connection_count") || strings.Contains(page, "ibmmq_queue") || strings.Contains(page, "ibmmq_channel") {
		t.Error("metrics of a queue manager that is not connected")
	}
}

func TestMetrics_Items_UnknownHasNoSample(t *testing.T) {
	t.Parallel()
	put := "DISABLED"
	page := scrape(t, OwnFamilies(Status{
		Items: []Item{
			{Situation: "S", QMgr: "QM2", Queue: "A", State: "open", Verdict: "unknown"},
			{Situation: "S", QMgr: "QM2", Queue: "B", State: "inactive", Verdict: "unknown"},
			{Situation: "S", QMgr: "QM2", Queue: "C", State: "inactive", Verdict: "false", Held: []string{"dwell"}},
		},
		Queues: []Queue{{Queue: "A", Cluster: "C1", QMgr: "QM2", Put: &put}},
		Jobs:   []Job{{Queue: "A", QMgr: "QM2", Remaining: 3}},
	}, Counts{SamplesOK: 4, LastSample: time.Unix(1, 0)}))
	contains(t, page,
		`situationd_item_open{qmgr="QM2",queue="A",situation="S"} 1`,
		`situationd_item_open{qmgr="QM2",queue="C",situation="S"} 0`,
		`situationd_items{state="inactive"} 2`,
		`situationd_items_unknown 2`,
		`situationd_items_held 1`,
		`situationd_cluster_queue_put_enabled{cluster="C1",qmgr="QM2",queue="A"} 0`,
		`situationd_samples_total{result="ok"} 4`,
	)
	if strings.Contains(page, `situationd_item_open{qmgr="QM2",queue="B"`) {
		t.Error("an unknown item has a sample")
	}
}

// What promtool check metrics would say of the page.
func TestMetrics_Page_PassesTheLinter(t *testing.T) {
	t.Parallel()
	families := append(sampleQMgr().Families(), OwnFamilies(Status{Jobs: []Job{{}}}, Counts{LastSample: time.Unix(1, 0)})...)
	problems, err := promlint.New(strings.NewReader(scrape(t, families))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
