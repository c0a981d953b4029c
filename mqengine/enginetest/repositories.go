package enginetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/qmgr"
)

// view is what a queue manager shows of one cluster: a line per instance, and a
// line per member.
type view struct {
	queues  []string
	members map[string]string // by name
}

// truth is what the owners themselves have defined.
func (s *sim) truth(c *cluster) view {
	v := view{members: map[string]string{}}
	for _, n := range c.members {
		for _, row := range n.display("DISPLAY QLOCAL(Q*) ALL") {
			if row["CLUSTER"] == c.name {
				v.queues = append(v.queues, fmt.Sprintf("%s at %s PUT(%s) CLWLRANK(%s) CLWLPRTY(%s) DEFBIND(%s)",
					row["QUEUE"], n.name, row["PUT"], row["CLWLRANK"], row["CLWLPRTY"], row["DEFBIND"]))
			}
		}
		for _, row := range n.display("DISPLAY CHANNEL(" + c.channel(n) + ") ALL") {
			if row["CHLTYPE"] == "CLUSRCVR" && row["CLUSTER"] == c.name {
				repos := "NORMAL"
				if c.full(n) {
					repos = "REPOS"
				}
				v.members[n.name] = memberLine(row, repos, "NO")
			}
		}
	}
	slices.Sort(v.queues)
	return v
}

func memberLine(row map[string]string, repos, suspended string) string {
	return fmt.Sprintf("%s CLWLRANK(%s) CLWLPRTY(%s) CLWLWGHT(%s) NETPRTY(%s) QMTYPE(%s) SUSPEND(%s)", row["CHANNEL"], row["CLWLRANK"], row["CLWLPRTY"], row["CLWLWGHT"], row["NETPRTY"], repos, suspended)
}

// sees is what n shows of a cluster.
func (n *node) sees(c *cluster) view {
	v := view{members: map[string]string{}}
	for _, row := range n.display("DISPLAY QCLUSTER(Q*) ALL") {
		if row["CLUSTER"] == c.name {
			v.queues = append(v.queues, fmt.Sprintf("%s at %s PUT(%s) CLWLRANK(%s) CLWLPRTY(%s) DEFBIND(%s)",
				row["QUEUE"], row["CLUSQMGR"], row["PUT"], row["CLWLRANK"], row["CLWLPRTY"], row["DEFBIND"]))
		}
	}
	for _, row := range n.display("DISPLAY CLUSQMGR(*) ALL") {
		if row["CLUSTER"] == c.name {
			v.members[row["CLUSQMGR"]] += memberLine(row, row["QMTYPE"], row["SUSPEND"])
		}
	}
	slices.Sort(v.queues)
	return v
}

// checkRepositories: in the end every member sees what the owners have defined:
// a full repository everything, a partial one what it asked for and who the
// full ones are.
func (s *sim) checkRepositories(when string) {
	for _, n := range s.nodes {
		s.addApp("I"+n.name, n, &asker{})
	}
	var wrong []string
	for range 30 {
		s.runUntil(s.now.Add(10*time.Second), nil)
		if len(s.failure) > 0 {
			return
		}
		if wrong = s.differences(); wrong == nil {
			return
		}
	}
	for _, line := range wrong[:min(len(wrong), 5)] {
		s.fail("the repositories differ %s: %s", when, line)
	}
}

func (s *sim) differences() (wrong []string) {
	for _, n := range s.nodes {
		if row := n.display("DISPLAY QLOCAL(SYSTEM.CLUSTER.TRANSMIT.QUEUE) CURDEPTH")[0]; row["CURDEPTH"] != "0" {
			wrong = append(wrong, fmt.Sprintf("%s has %s messages on its transmission queue", n.name, row["CURDEPTH"]))
		}
	}
	for _, c := range s.clusters {
		want := s.truth(c)
		if len(want.members) != len(c.members) {
			wrong = append(wrong, fmt.Sprintf("cluster %s has %d members, not %d", c.name, len(want.members), len(c.members)))
		}
		for _, n := range c.members {
			got := n.sees(c)
			if !slices.Equal(got.queues, want.queues) {
				wrong = append(wrong, fmt.Sprintf("%s sees in %s\n%s\nand the owners have\n%s", n.name, c.name, strings.Join(got.queues, "\n"), strings.Join(want.queues, "\n")))
			}
			if c.full(n) && len(got.members) != len(want.members) {
				wrong = append(wrong, fmt.Sprintf("%s keeps the full repository of %s and sees %v as members", n.name, c.name, slices.Sorted(maps.Keys(got.members))))
			}
			for _, fr := range c.members {
				if _, known := got.members[fr.name]; c.full(fr) && !known {
					wrong = append(wrong, fmt.Sprintf("%s does not know that %s keeps a full repository of %s", n.name, fr.name, c.name))
				}
			}
			for _, name := range slices.Sorted(maps.Keys(got.members)) {
				if got.members[name] != want.members[name] {
					wrong = append(wrong, fmt.Sprintf("%s sees in %s\n%s\nand the owner has\n%s", n.name, c.name, got.members[name], want.members[name]))
				}
			}
		}
	}
	return wrong
}

// asker makes every queue known at its queue manager, as opens would, and leaves.
type asker struct{}

func (asker) connected(a *app) {
	var names []string
	for _, q := range a.s.queues {
		if slices.Contains(q.cluster.members, a.n) {
			names = append(names, q.name)
		}
	}
	a.call(qmgr.InstancesReq{Queues: names, Subscribe: true}, func(answer) { a.leave(false) })
}
func (asker) died(*app)           {}
func (asker) unsent(*app, answer) {}
