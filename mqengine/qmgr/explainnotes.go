package qmgr

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/workload"
)

// notes tells what would change the choice, and what a reader of it should know.
func (m *Machine) notes(now time.Time, req *ExplainReq, d *destination, x *choice, to *routeResult, reason mqi.Reason) []string {
	if len(x.cands) == 0 {
		return nil
	}
	out := whatIf(x)
	if reason == mqi.MQRC_CLUSTER_PUT_INHIBITED && x.req.Order == workload.Modern {
		for i := range x.cands {
			if x.cands[i].Put {
				out = append(out, "warning: an instance of a lower CLWLRANK is put-enabled, but ranks are looked at before PUT")
				break
			}
		}
	}
	if reason == mqi.MQRC_NONE && to.Channel != "" {
		if s := m.senderStatus(to.Channel); s != mqi.MQCHS_RUNNING && s != mqi.MQCHS_INACTIVE {
			out = append(out, fmt.Sprintf("warning: channel %s is %s; the message waits on %s until it runs", to.Channel, s, to.XmitQ.name))
		}
	}
	if d.bind == bindOnOpen && req.QMgr == "" {
		out = append(out, "bound on open: each handle keeps the instance that was chosen when it was opened")
	}
	if n := m.boundHandles(d.name); n > 0 {
		out = append(out, fmt.Sprintf("warning: %d open handles on %s are bound to their instance; they keep it until they are opened again", n, m.name))
	}
	if !m.repositoriesReachable(now, []string{req.Queue}) {
		out = append(out, "warning: no full repository can be reached; this is what was known before")
	}
	return out
}

// boundHandles counts the handles that chose an instance of a cluster queue when they were opened.
func (m *Machine) boundHandles(name string) (n int) {
	for _, c := range m.conns {
		for _, h := range c.handles {
			if h != nil && h.has(mqi.MQOO_OUTPUT) && h.dest.name == name && h.dest.bind == bindOnOpen && !h.dest.addressed {
				n++
			}
		}
	}
	return n
}

// maxWhatIf bounds the alternatives that notes tells of.
const maxWhatIf = 3

// whatIf runs the choice again for those that PUT(DISABLED) or SUSPEND took out, as if it had not.
func whatIf(x *choice) []string {
	var out []string
	for _, s := range x.trace.Steps {
		if s.Step != workload.StepPut && s.Step != workload.StepSuspend {
			continue
		}
		for _, v := range s.Candidates {
			if v.Kept || len(out) == maxWhatIf {
				continue
			}
			cands := slices.Clone(x.cands)
			word := "put-enabled"
			for i := range cands {
				if cands[i].QMgr != v.QMgr {
					continue
				}
				if s.Step == workload.StepPut {
					cands[i].Put = true
				} else {
					cands[i].Suspended, word = false, "resumed"
				}
			}
			var t workload.Trace
			_, _ = workload.Choose(&x.req, cands, &t) // the trace has all
			out = append(out, fmt.Sprintf("If %s were %s: %s.", v.QMgr, word, Shares(shares(&t, cands))))
		}
	}
	return out
}

// maxShares is how many queue managers Shares names.
const maxShares = 8

// Shares puts shares in words, the greatest first: "QM2 75 %, QM3 25 %".
func Shares(share map[string]float64) string {
	names := make([]string, 0, len(share))
	for name := range share {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "nobody"
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(share[b], share[a]), cmp.Compare(a, b)) })
	more := len(names) - maxShares
	names = names[:min(len(names), maxShares)]
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.3g %%", name, share[name]*100)
	}
	if more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}
