package qmgr

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/workload"
)

// ExplainReq asks where a message would go that were put now, and why. Nothing
// is put and nothing is counted: the next choice is what it would have been.
// What the repository does not know yet is asked for, as MQOPEN does. The reply
// carries *Explanation, or the reason code of a name that leads nowhere with a
// detail that says what to do.
type ExplainReq struct {
	Queue string
	QMgr  string // queue manager that the putter names; blank for none
	Bind  int32  // one of MQOO_BIND_*
	// Arriving: the message is not put by an application but comes over a cluster channel, not fixed.
	Arriving bool
	// Moving: MOVE takes it off this queue, which asks the cluster and no definition of ours.
	Moving bool
}

func (ExplainReq) request() {}

// Explanation is how one message is routed. Its JSON is what `explain routing -o json` prints.
type Explanation struct {
	Queue    string `json:"queue"`
	From     string `json:"from"`
	Bind     string `json:"bind"`     // open, notfixed or group
	Workload string `json:"workload"` // modern or v6
	// Steps of the workload algorithm; none where nothing was to be chosen.
	Steps  []workload.Step `json:"steps"`
	Chosen *string         `json:"chosen"` // the queue manager; nil if a put would fail
	// Share is the part of many messages that each queue manager gets.
	Share map[string]float64 `json:"share"`
	QMgr  string             `json:"qmgr,omitempty"` // that the putter named
	// Arriving: of a message that comes over a cluster channel.
	Arriving bool `json:"arriving,omitempty"`
	// Path are the definitions that the name was resolved through.
	Path []string `json:"path,omitempty"`
	// Reason is what a put would get.
	Reason string `json:"reason,omitempty"`
	// Notes are sentences for a person: what would change the choice, and what to beware of.
	Notes []string `json:"notes,omitempty"`
}

func (m *Machine) explain(now time.Time, fx *Effects, c *conn, tag uint64, req *ExplainReq, last bool) {
	x := &choice{}
	r := resolving{now: now, fx: fx, last: last, choice: x}
	to, d, reason := m.resolveExplained(r, req)
	switch {
	case reason == reasonWait:
		m.park(now, c, tag, *req, m.awaited(&d))
		return
	case reason != mqi.MQRC_NONE && len(x.cands) == 0:
		fx.Replies = append(fx.Replies, Reply{
			Conn: c.id, Tag: tag, CompCode: mqi.MQCC_FAILED, Reason: reason, Detail: m.remedy(req, &d, reason),
		})
		return
	case reason == mqi.MQRC_NONE && to.Status == routeLocal:
		reason = m.admits(to.Queue, &message{md: mqi.NewMD()})
	case reason == mqi.MQRC_NONE:
		reason = m.admits(to.XmitQ, &message{md: mqi.NewMD()})
	}
	e := &Explanation{
		Queue: req.Queue, From: m.name, Bind: bindWord(d.bind), Workload: orderWord(m.cfg.Order), QMgr: req.QMgr, Arriving: req.Arriving,
		Steps: x.trace.Steps, Share: map[string]float64{}, Path: m.path(req, &d),
	}
	if e.Steps == nil {
		e.Steps = []workload.Step{}
	}
	if reason == mqi.MQRC_NONE {
		e.choose(x, &to)
	} else {
		e.Reason = reason.Error()
	}
	e.Notes = m.notes(now, req, &d, x, &to, reason)
	c.ok(fx, tag, e)
}

// resolveExplained goes the way of a put: MQOPEN, then MQPUT; or that of an arrival.
func (m *Machine) resolveExplained(r resolving, req *ExplainReq) (to routeResult, d destination, reason mqi.Reason) {
	if req.Moving {
		to, reason = m.routeArrival(r, req.Queue, false)
		return to, destination{name: req.Queue, bind: bindNotFixed}, reason
	}
	if req.Arriving {
		d = destination{name: req.Queue, qmgr: req.QMgr, bind: bindNotFixed}
		to, reason = m.resolveArrival(r, &message{targetQ: req.Queue, targetQMgr: req.QMgr, fromCluster: true})
		return to, d, reason
	}
	if d, reason = m.resolveOutput(r, req.Queue, req.QMgr, bindOption(req.Bind)); reason != mqi.MQRC_NONE {
		return to, d, reason
	}
	md := mqi.NewMD()
	to, reason = m.target(r, &d, &md)
	return to, d, reason
}

// choose says who gets the message: the winner, or where there was no choice the only way.
func (e *Explanation) choose(x *choice, to *routeResult) {
	if len(x.cands) == 0 {
		chosen := to.TargetQMgr
		if chosen == "" { // an ordinary transmission queue that stands for a queue manager
			chosen = to.XmitQ.name
		}
		e.Chosen, e.Share = &chosen, map[string]float64{chosen: 1}
		return
	}
	chosen := x.cands[max(x.trace.Winner, 0)].QMgr
	if to.Status == routeLocal && x.trace.Winner < 0 {
		chosen = e.From
	}
	e.Chosen, e.Share = &chosen, shares(&x.trace, x.cands)
}

// shares sums the parts by queue manager.
func shares(t *workload.Trace, cands []workload.Candidate) map[string]float64 {
	out := make(map[string]float64)
	for i, s := range t.Shares {
		if s > 0 {
			out[cands[i].QMgr] += s
		}
	}
	return out
}

func bindWord(b bindType) string {
	switch b {
	case bindOnOpen:
		return "open"
	case bindOnGroup:
		return "group"
	default:
		return "notfixed"
	}
}

func orderWord(o workload.Order) string {
	if o == workload.V6 {
		return "v6"
	}
	return "modern"
}

// path names the definitions that the name goes through, as MQSC would show them.
func (m *Machine) path(req *ExplainReq, d *destination) []string {
	var out []string
	for _, q := range d.path {
		if q == nil {
			continue
		}
		text := fmt.Sprintf("%s(%s)", q.def.Kind(), q.name)
		if q.def.Kind() == object.QAlias {
			text += fmt.Sprintf(" TARGET(%s)", q.attr.target)
		} else {
			text += fmt.Sprintf(" RNAME(%s) RQMNAME(%s)", orBlank(q.attr.rname), orBlank(q.attr.rqmname))
			if q.attr.xmitq != "" {
				text += fmt.Sprintf(" XMITQ(%s)", q.attr.xmitq)
			}
		}
		out = append(out, text)
	}
	if q := m.catalog.queues[req.Queue]; len(out) == 0 && q != nil && !q.attr.clustered() && q.def.Kind() == object.QLocal && d.local == q {
		out = append(out, fmt.Sprintf("QLOCAL(%s) of %s, in no cluster", q.name, m.name))
	}
	return out
}

func orBlank(s string) string {
	if s == "" {
		return " "
	}
	return s
}

// remedy says what to do about a name that leads nowhere.
func (m *Machine) remedy(req *ExplainReq, d *destination, reason mqi.Reason) string {
	where := "it is in no cluster"
	if clusters := m.cluster.repo.Clusters(); len(clusters) > 0 {
		where = "no full repository knows it in " + strings.Join(clusters, ", ")
	}
	switch reason {
	case mqi.MQRC_UNKNOWN_OBJECT_NAME:
		if d.qmgr == m.name {
			return fmt.Sprintf("%s has no queue %s, and who names %s asks for one that is there; without a queue manager the clusters are asked", m.name, orBlank(d.name), m.name)
		}
		return fmt.Sprintf("%s has no queue %s, and %s; check how it is written, and CLUSTER of its definition", m.name, orBlank(d.name), where)
	case mqi.MQRC_CLUSTER_RESOLUTION_ERROR:
		return "no full repository has answered in time; look at DISPLAY CLUSQMGR(*) QMTYPE STATUS for the channels to those of QMTYPE(REPOS)"
	case mqi.MQRC_DEF_XMIT_Q_USAGE_ERROR, mqi.MQRC_UNKNOWN_DEF_XMIT_Q, mqi.MQRC_DEF_XMIT_Q_TYPE_ERROR:
		return fmt.Sprintf("nothing else leads to %s, and DEFXMITQ(%s) of %s is not a local queue with USAGE(XMITQ) that other messages than the clusters' may use", orBlank(d.qmgr), m.limits.defXmitQ, m.name)
	case mqi.MQRC_UNKNOWN_REMOTE_Q_MGR:
		return fmt.Sprintf("%s knows no queue manager %s: no transmission queue, no alias of that name and no DEFXMITQ, and %s", m.name, orBlank(d.qmgr), where)
	case mqi.MQRC_UNKNOWN_ALIAS_BASE_Q:
		return "the alias's TARGET is neither a queue of " + m.name + " nor known in its clusters"
	case mqi.MQRC_NO_DESTINATIONS_AVAILABLE:
		return "instances are known, but no channel to any of their queue managers; look at DISPLAY QCLUSTER(" + req.Queue + ") and DISPLAY CLUSQMGR(*)"
	case mqi.MQRC_Q_TYPE_ERROR:
		return "a model queue gets no messages; each open of it makes a dynamic queue at " + m.name
	case mqi.MQRC_ALIAS_BASE_Q_TYPE_ERROR:
		return "the alias's TARGET is an alias or a model queue, or leads in a circle"
	case mqi.MQRC_PUT_INHIBITED:
		return "a definition on the way is PUT(DISABLED)"
	default:
		return "a put gets this reason code"
	}
}
