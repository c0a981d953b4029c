package app

import (
	"context"
	"strconv"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/mqengine"
)

// scrapeTimeout bounds what a scrape asks the queue manager.
const scrapeTimeout = 2 * time.Second

// families are all metrics of this moment.
func (a *App) families() []httpapi.Family {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	metrics := a.qmgrMetrics(ctx)
	families := metrics.Families()
	ok, at := a.reloads.last()
	good, failed, last, took := a.samples.read()
	return append(families, httpapi.OwnFamilies(a.Status(), httpapi.Counts{
		Version: a.version.Version, Commit: a.version.Commit, GoVersion: a.version.Go,
		SamplesOK: good, SamplesFailed: failed, LastSample: last, SampleSeconds: took.Seconds(),
		ReloadOK: ok, ReloadAt: at, More: append(a.moreFamilies(), a.ownFamily(time.Now())),
	})...)
}

// qmgrMetrics is the queue manager as IBM's exporter would see it.
func (a *App) qmgrMetrics(ctx context.Context) *httpapi.QMgrMetrics {
	m := &httpapi.QMgrMetrics{Name: a.qmgr}
	if last := a.descr.Load(); last != nil {
		m.Description = *last // the series of a queue manager that is down is the same one
	}
	latest := a.source.Latest()
	if latest == nil || latest.Stale {
		return m
	}
	if _, _, err := a.link.Conn(); err != nil {
		return m // lost since the sample: the next one may be long in coming
	}
	now := time.Now()
	m.Connected = true
	if started := latest.Observation.Started; !started.IsZero() {
		m.UptimeSeconds = now.Sub(started).Seconds()
	}
	for i := range latest.Queues {
		if q := &latest.Queues[i]; q.Type == "QLOCAL" {
			m.Queues = append(m.Queues, queueMetrics(q, now))
		}
	}
	a.ownMetrics(ctx, m)
	if rows, err := adapt.Display(ctx, a.link, "CHSTATUS", "*"); err == nil {
		m.Channels = channelMetrics(rows, a.channelTexts(ctx), now)
	}
	if rows, err := adapt.Display(ctx, a.link, "CLUSQMGR", a.qmgr); err == nil {
		m.Clusters = clusterMetrics(rows)
	}
	return m
}

// ownMetrics asks for what DISPLAY QMGR, QMSTATUS and LSSTATUS say. What is not
// answered stays unknown.
func (a *App) ownMetrics(ctx context.Context, m *httpapi.QMgrMetrics) {
	if rows, err := adapt.Display(ctx, a.link, "QMGR", ""); err == nil && len(rows) == 1 {
		m.Description = rows[0]["DESCR"]
		a.descr.Store(&m.Description)
	}
	if rows, err := adapt.Display(ctx, a.link, "QMSTATUS", ""); err == nil && len(rows) == 1 {
		m.ChannelInitiator, m.CommandServer = rows[0]["CHINIT"], rows[0]["CMDSERV"]
		if n, err := strconv.Atoi(rows[0]["CONNS"]); err == nil {
			m.Connections = &n
		}
	}
	if rows, err := adapt.Display(ctx, a.link, "LSSTATUS", "*"); err == nil {
		running := 0
		for _, row := range rows {
			if row["STATUS"] == "RUNNING" {
				running++
			}
		}
		m.Listeners = &running
	}
}

// channelTexts are the descriptions of the channels that are defined.
func (a *App) channelTexts(ctx context.Context) map[string]string {
	texts := map[string]string{}
	if rows, err := adapt.Display(ctx, a.link, "CHANNEL", "*"); err == nil {
		for _, row := range rows {
			texts[row["CHANNEL"]] = row["DESCR"]
		}
	}
	return texts
}

func queueMetrics(q *mqengine.QueueStatus, now time.Time) httpapi.QueueMetrics {
	m := httpapi.QueueMetrics{
		Queue: q.Name, Depth: q.CurDepth, Uncommitted: q.Uncom,
		InputHandles: len(q.Readers), OutputHandles: q.OpProcs,
	}
	if a := q.Attributes; a != nil {
		m.Description, m.Cluster, m.MaxDepth, m.Transmission = a.Descr, a.Cluster, a.MaxDepth, a.Usage == "XMITQ"
	}
	if !q.MonQ {
		return m
	}
	since := func(unixMilli int64) (float64, bool) {
		if unixMilli == 0 {
			return 0, false
		}
		return max(0, now.Sub(time.UnixMilli(unixMilli)).Seconds()), true
	}
	m.OldestAge, m.HasOldest = since(q.Oldest)
	if q.CurDepth == 0 {
		m.OldestAge, m.HasOldest = 0, true
	}
	m.SinceGet, m.HasGet = since(q.LGet)
	m.SincePut, m.HasPut = since(q.LPut)
	return m
}

// channelMetrics makes one metric of each channel's name, type and partner: a
// channel may show several instances, and series must not repeat.
func channelMetrics(rows []map[string]string, texts map[string]string, now time.Time) []httpapi.ChannelMetrics {
	var list []httpapi.ChannelMetrics
	seen := map[string]bool{}
	for _, row := range rows {
		m := httpapi.ChannelMetrics{
			Channel: row["CHANNEL"], Type: row["CHLTYPE"], Status: row["STATUS"], RQMName: row["RQMNAME"],
			ConnName: row["CONNAME"], JobName: row["JOBNAME"], SSLCipher: row["SSLCIPH"], Numbers: map[string]int64{},
			Description: texts[row["CHANNEL"]],
		}
		id := m.Channel + "\x00" + m.Type + "\x00" + m.RQMName + "\x00" + m.ConnName + "\x00" + m.JobName
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, key := range []string{"MSGS", "BATCHES", "BYTSSENT", "BYTSRCVD", "BUFSSENT", "BUFSRCVD"} {
			if n, err := strconv.ParseInt(row[key], 10, 64); err == nil {
				m.Numbers[key] = n
			}
		}
		if at, err := time.ParseInLocation("2006-01-02 15.04.05", row["LSTMSGDA"]+" "+row["LSTMSGTI"], now.Location()); err == nil {
			m.SinceMessage, m.HasSinceMessage = max(0, now.Sub(at).Seconds()), true
		}
		list = append(list, m)
	}
	return list
}

func clusterMetrics(rows []map[string]string) []httpapi.ClusterMetrics {
	var list []httpapi.ClusterMetrics
	seen := map[string]bool{}
	for _, row := range rows {
		if row["DEFTYPE"] != "CLUSRCVR" || seen[row["CLUSTER"]] {
			continue // the record about itself only
		}
		seen[row["CLUSTER"]] = true
		list = append(list, httpapi.ClusterMetrics{
			Cluster: row["CLUSTER"], Full: row["QMTYPE"] == "REPOS", Suspended: row["SUSPEND"] == "YES", Status: row["STATUS"],
		})
	}
	return list
}
