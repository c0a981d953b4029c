package enginetest

import (
	"strconv"
	"strings"
)

// The oracle chooses again, from what an operator can display and by the words of
// the manual, not by the product's code: who may get a message. Which one of
// them is next, by sequence factor, is left to the tests of the workload package.

// destination is one way to one instance.
type destination struct {
	qmgr, qmid string
	local      bool
	put        bool
	suspended  bool
	status     string
	netPrty    int
	chlRank    int
	chlPrty    int
	qRank      int
	qPrty      int
}

// permitted is what the oracle allows for one choice.
type permitted struct {
	qmgrs     map[string]bool
	inhibited bool // every destination that the ranks leave takes no puts
	none      bool // no destination at all
}

func number(s string) int {
	v, _ := strconv.Atoi(s)
	return v
}

// permit says who may get a message for a queue that is put at n.
func (n *node) permit(queue string) permitted {
	all, useAny := n.destinations(queue)
	if len(all) == 0 {
		return permitted{none: true}
	}
	var left []destination
	if n.s.cfg.modern {
		left = keepBest(keepBest(all, func(d *destination) int { return d.chlRank }), func(d *destination) int { return d.qRank })
		left = keepIf(left, func(d *destination) bool { return d.put })
	} else {
		left = keepIf(all, func(d *destination) bool { return d.put })
	}
	if len(left) == 0 {
		return permitted{inhibited: true}
	}
	if own := keepIf(left, func(d *destination) bool { return d.local }); len(own) > 0 && !useAny {
		return permitted{qmgrs: map[string]bool{own[0].qmgr: true}}
	}
	if !n.s.cfg.modern {
		left = keepBest(keepBest(left, func(d *destination) int { return d.chlRank }), func(d *destination) int { return d.qRank })
	}
	if active := keepIf(left, func(d *destination) bool { return !d.suspended }); len(active) > 0 {
		left = active
	}
	left = keepBest(left, (*destination).reachability)
	left = keepIf(left, func(d *destination) bool {
		for i := range left {
			if left[i].qmid == d.qmid && left[i].netPrty > d.netPrty {
				return false
			}
		}
		return true
	})
	left = keepBest(keepBest(left, func(d *destination) int { return d.chlPrty }), func(d *destination) int { return d.qPrty })
	p := permitted{qmgrs: map[string]bool{}}
	for i := range left {
		p.qmgrs[left[i].qmgr] = true
	}
	return p
}

// reachability ranks the states of channels: the first group that has anybody wins.
func (d *destination) reachability() int {
	switch {
	case d.local:
		return 4
	case d.status == "INACTIVE" || d.status == "RUNNING":
		return 4
	case d.status == "RETRYING":
		return 2
	case d.status == "REQUESTING" || d.status == "PAUSED" || d.status == "STOPPED":
		return 1
	}
	return 3
}

func keepIf(all []destination, ok func(*destination) bool) []destination {
	var out []destination
	for i := range all {
		if ok(&all[i]) {
			out = append(out, all[i])
		}
	}
	return out
}

func keepBest(all []destination, value func(*destination) int) []destination {
	best := -1 << 31
	for i := range all {
		best = max(best, value(&all[i]))
	}
	return keepIf(all, func(d *destination) bool { return value(d) == best })
}

// destinations are the instances that n knows, with every way to each.
func (n *node) destinations(queue string) (all []destination, useAny bool) {
	own, useQ := n.display("DISPLAY QLOCAL("+queue+") ALL"), n.display("DISPLAY QMGR CLWLUSEQ")[0]["CLWLUSEQ"]
	qmid := n.display("DISPLAY QMGR QMID")[0]["QMID"]
	if len(own) > 0 && own[0]["CLUSTER"] == "" && own[0]["CLUSNL"] == "" {
		// Not in a cluster: the local queue is all there is.
		return []destination{{qmgr: n.name, local: true, put: own[0]["PUT"] == "ENABLED"}}, false
	}
	ways := n.display("DISPLAY CLUSQMGR(*) ALL")
	mine := map[string]map[string]string{} // the own CLUSRCVR by cluster
	for _, w := range ways {
		if w["QMID"] == qmid {
			mine[w["CLUSTER"]] = w
		}
	}
	if len(own) > 0 {
		d := destination{qmgr: n.name, qmid: qmid, local: true, put: own[0]["PUT"] == "ENABLED", qRank: number(own[0]["CLWLRANK"]), qPrty: number(own[0]["CLWLPRTY"])}
		d.over(mine[own[0]["CLUSTER"]])
		all = append(all, d)
		if u := own[0]["CLWLUSEQ"]; u != "QMGR" {
			useQ = u
		}
	}
	for _, in := range n.display("DISPLAY QCLUSTER(" + queue + ") ALL") {
		if in["QMID"] == qmid || mine[in["CLUSTER"]] == nil {
			continue
		}
		for _, w := range ways {
			if w["QMID"] != in["QMID"] || w["CLUSTER"] != in["CLUSTER"] {
				continue
			}
			d := destination{qmgr: in["CLUSQMGR"], qmid: in["QMID"], put: in["PUT"] == "ENABLED", qRank: number(in["CLWLRANK"]), qPrty: number(in["CLWLPRTY"])}
			d.over(w)
			all = append(all, d)
		}
	}
	return all, useQ == "ANY"
}

// over takes what the row of a channel in DISPLAY CLUSQMGR says.
func (d *destination) over(w map[string]string) {
	if w == nil {
		return
	}
	d.suspended, d.status = w["SUSPEND"] == "YES", strings.TrimSpace(w["STATUS"])
	d.netPrty, d.chlRank, d.chlPrty = number(w["NETPRTY"]), number(w["CLWLRANK"]), number(w["CLWLPRTY"])
}
