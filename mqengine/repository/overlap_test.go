package repository

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// overlapping is two clusters with gateways: FR1 keeps the full repositories of
// both, FR2 another of C1, FR3 another of C2. P1 is in C1, P2 in C2, the other
// partial repositories in both, over one channel as with CLUSNL.
func overlapping(t testing.TB) (w *network, partial, full []*node) {
	w = newNetwork(t)
	in := func(name string, full []string, clusters ...string) *node {
		n := w.add(name)
		n.member.Channels = []OwnChannel{{Clusters: clusters, Object: rcvr("TO."+name, "", name+"(1414)")}}
		n.member.Full = full
		return n
	}
	fr1, fr2, fr3 := in("FR1", []string{"C1", "C2"}, "C1", "C2"), in("FR2", []string{"C1"}, "C1"), in("FR3", []string{"C2"}, "C2")
	to := func(n *node, fr string, clusters ...string) {
		n.member.Senders = append(n.member.Senders, ManualSender{Channel: "TO." + fr, Addr: fr + "(1414)", Clusters: clusters})
	}
	to(fr1, "FR2", "C1")
	to(fr1, "FR3", "C2")
	to(fr2, "FR1", "C1")
	to(fr3, "FR1", "C2")
	p1, p2, p3, p4 := in("P1", nil, "C1"), in("P2", nil, "C2"), in("P3", nil, "C1", "C2"), in("P4", nil, "C1", "C2")
	to(p1, "FR2", "C1")
	to(p2, "FR3", "C2")
	to(p3, "FR1", "C1", "C2")
	to(p4, "FR2", "C1")
	to(p4, "FR3", "C2")
	for _, name := range w.names {
		w.nodes[name].update()
	}
	w.settle()
	return w, []*node{p1, p2, p3, p4}, []*node{fr1, fr2, fr3}
}

func (n *node) in(cluster string) bool {
	return slices.ContainsFunc(n.member.Channels, func(c OwnChannel) bool { return slices.Contains(c.Clusters, cluster) })
}

// Members that alter their queues, come and go, are removed by force, are
// restored from backups with their clocks behind, refresh what they know: when
// all is said every member of a cluster sees what its owners say.
func TestConvergence_OverlappingClusters(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w, partial, full := overlapping(t)
		names, clusters := []string{"A", "B"}, []string{"C1", "C2"}
		backups := map[*node]backup{}
		removed := map[*node]bool{}
		refreshes := map[*node]bool{}
		gone := map[*node]bool{}
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			n := rapid.SampledFrom(partial).Draw(rt, "node")
			name := rapid.SampledFrom(names).Draw(rt, "queue")
			cluster := rapid.SampledFrom(clusters).Draw(rt, "cluster")
			switch rapid.SampledFrom([]string{"define", "define", "drop", "ask", "suspend", "restart", "refresh", "refresh full", "remove", "back up", "restore", "leave", "restore full", "deliver", "deliver", "deliver"}).Draw(rt, "action") {
			case "define":
				o := queue(name, "")
				mustSet(o, "PUT", rapid.SampledFrom([]string{"ENABLED", "DISABLED"}).Draw(rt, "put"))
				n.share(o, rapid.SampledFrom([][]string{{"C1"}, {"C2"}, {"C1", "C2"}}).Draw(rt, "clusters")...)
			case "drop":
				n.drop(name)
			case "ask":
				n.ask(name)
			case "suspend":
				if n.in(cluster) {
					n.do(func(fx *Effects) { n.repo.Suspend(n.now(), cluster, rapid.Bool().Draw(rt, "on"), fx) })
				}
			case "restart":
				n.restart()
			case "refresh":
				n.refresh(cluster, rapid.Bool().Draw(rt, "repos"))
			case "refresh full":
				full[0].refresh(cluster, false)
			case "remove":
				fr := full[rapid.IntRange(0, 1).Draw(rt, "from")]
				fr.do(func(fx *Effects) {
					if fr.repo.ForceRemove(fr.now(), "C1", n.name+"_ID", rapid.Bool().Draw(rt, "queues"), fx) > 0 {
						removed[n], gone[n], n.skew = true, true, 0
					}
				})
			case "back up":
				backups[n] = n.backup()
			case "restore":
				if b, ok := backups[n]; ok {
					behind := time.Duration(rapid.IntRange(0, 100).Draw(rt, "behind")) * time.Second
					if gone[n] {
						// A full repository that has no channel to it any more cannot tell it how far its numbers were.
						behind = 0
					}
					n.restore(b, -behind)
					refreshes[n] = true
				}
			case "restore full":
				fr := full[0]
				if b, ok := backups[fr]; ok {
					fr.restore(b, 0)
					refreshes[fr] = true
				} else {
					backups[fr] = fr.backup()
				}
			case "leave": // or join again
				if n.in("C1") && n.in("C2") {
					n.member.Channels[0].Clusters = []string{"C1"}
				} else if len(n.member.Senders) == 2 || len(n.member.Senders[0].Clusters) == 2 {
					n.member.Channels[0].Clusters = []string{"C1", "C2"}
				}
				gone[n] = true
				n.update()
			case "deliver":
				if p := w.pending(); len(p) > 0 {
					wire := rapid.SampledFrom(p).Draw(rt, "wire")
					w.deliver(wire, rapid.IntRange(0, min(2, len(w.wires[wire])-1)).Draw(rt, "position"))
				}
			}
			w.now = w.now.Add(time.Millisecond)
		}
		w.settle()
		// As MQ's manual has it: who was removed by force or restored refreshes.
		for _, n := range append(slices.Clone(full), partial...) {
			for _, c := range clusters {
				switch {
				case (removed[n] || refreshes[n]) && n.in(c):
					n.refresh(c, false)
				case refreshes[n]: // restored to a time when it was not in it
					full[0].do(func(fx *Effects) { full[0].repo.ForceRemove(full[0].now(), c, n.name+"_ID", true, fx) })
				}
				w.settle()
			}
		}
		for _, c := range clusters {
			for _, name := range names {
				for _, n := range partial {
					n.ask(name)
				}
				w.settle()
				want := truthIn(w, c, name)
				for _, n := range w.names {
					if n := w.nodes[n]; n.in(c) {
						if got := viewIn(n, c, name); got != want {
							rt.Fatalf("%s sees %s in %s as\n%s\nwant\n%s", n, name, c, got, want)
						}
					}
				}
			}
		}
	})
}

func truthIn(w *network, cluster, name string) string {
	var out []string
	for _, n := range w.names {
		n := w.nodes[n]
		if o := n.queues[name]; o != nil && n.in(cluster) && slices.Contains(n.clusters[name], cluster) {
			out = append(out, fmt.Sprintf("%s %s %v", n, o.Str("PUT"), n.repo.suspend[cluster]))
		}
	}
	return strings.Join(out, "\n")
}

func viewIn(n *node, cluster, name string) string {
	var out []string
	for _, rec := range n.repo.Instances(n.now(), name) {
		for _, host := range n.repo.Hosts(n.now(), rec.Cluster, rec.QMID) {
			if rec.Cluster == cluster {
				out = append(out, fmt.Sprintf("%s %s %v", rec.QMgr, rec.Object.Str("PUT"), host.Suspended))
			}
		}
	}
	return strings.Join(out, "\n")
}
