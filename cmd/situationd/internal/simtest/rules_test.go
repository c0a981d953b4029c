package simtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/mqengine/enginetest"
)

// shape is what a seed draws first.
type shape struct {
	members int
	peers   bool
	weather enginetest.Weather
	limits  config.Limits
	lag     time.Duration // between a daemon and its queue manager

	onChange, maintenance, conflict, minTwo bool

	duration     time.Duration
	daemonDown   time.Duration
	dieAtWrite   float64 // per write of a daemon
	programFails float64
	every        rates
}

// rates are how often things happen; zero for never.
type rates struct {
	put, reader, kill, stop, power, crash, rules, alter, define, trigger, hold, revert,
	cut, suspend, channel, clock, peer, am, journal time.Duration
}

func drawShape(r interface{ IntN(int) int }) shape {
	const s, ms = time.Second, time.Millisecond
	d := func(choices ...time.Duration) time.Duration { return choices[r.IntN(len(choices))] }
	f := func(choices ...float64) float64 { return choices[r.IntN(len(choices))] }
	yes := func(n int) bool { return r.IntN(n) == 0 }
	return shape{
		members: 3 + r.IntN(2), peers: yes(2),
		weather: enginetest.Weather{
			DiskMax: d(200*time.Microsecond, 5*ms), WireMin: 50 * time.Microsecond, WireMax: d(ms, 20*ms), TurnDelay: d(0, 100*time.Microsecond),
			Skew: d(0, 0, 2*s), Crash: f(0, 0.0002, 0.001), CrashInRelease: f(0, 0.001), DownMax: d(s, 8*s),
		},
		limits: config.Limits{Budget: []int{60, 60, 3}[r.IntN(3)], LedgerTTL: 10 * time.Minute, Breaker: []int{0, 0, 50}[r.IntN(3)]},
		lag:    d(0, ms, 20*ms), onChange: yes(2), maintenance: yes(3), conflict: yes(3), minTwo: yes(4),
		duration: d(60*s, 100*s), daemonDown: d(500*ms, 4*s), dieAtWrite: f(0, 0, 0.005, 0.02), programFails: f(0, 0.3),
		every: rates{
			put: d(50*ms, 200*ms), reader: d(2*s, 5*s), kill: d(0, 8*s, 20*s), stop: d(0, 20*s), power: d(0, 0, 30*s), crash: d(0, 15*s),
			rules: d(0, 10*s), alter: d(0, 5*s), define: d(0, 0, 10*s), trigger: d(0, 0, 15*s), hold: d(0, 15*s), revert: d(0, 0, 30*s),
			cut: d(0, 10*s), suspend: d(0, 0, 15*s), channel: d(0, 0, 15*s), clock: d(0, 0, 20*s), peer: d(0, 10*s), am: d(0, 15*s), journal: d(0, 0, 20*s),
		},
	}
}

// The queues of a run, by how their rules take an instance out of the balancing.
const (
	queuePut   = "A.PUT" // availability by put, one rule for three queues
	queuePut2  = "A.PUT2"
	queuePut3  = "A.PUT3"
	queueRank  = "B.RANK"  // availability by rank
	queuePrty  = "C.PRTY"  // priority with useq, and on_clear: revert
	queuePlain = "D.PLAIN" // two plain situations, as in the article
	queueProg  = "E.PROG"  // two programs
	queueFlap  = "F.FLAP"  // availability by put; its readers come and go all the time
)

var queues = []string{queuePut, queuePut2, queuePut3, queueRank, queuePrty, queuePlain, queueProg, queueFlap}

// claims says that the rules of a queue give back what they found, and leave alone
// what a person set.
func claims(queue string) bool {
	return strings.HasPrefix(queue, "A.") || queue == queueFlap || queue == queuePrty
}

// brokenKinds are the ways in which rule files are broken.
const brokenKinds = 3

// variant is one of the rule files of a run.
type variant struct {
	label   string
	without string // a queue whose rules are missing
	broken  int    // in which way; 0 if it is not
}

func (w *world) rulesText(v variant) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("# %s", v.label)
	p("version: 1")
	p("defaults:")
	p("  sample: {every: 1s, on_change: %v}", w.shape.onChange)
	p("situations:")
	if v.without != queuePut {
		p("  - availability: {name: A, queue: \"%s*\", cluster: C1, by: put, alert: {severity: critical}}", queuePut)
	}
	if v.without != queueRank {
		p("  - availability: {queue: %s, cluster: C1, by: rank}", queueRank)
	}
	if w.shape.conflict {
		p("  - name: Deep\n    watch: {queue: %s}\n    formula: CURDEPTH > 3 and READERS(\"zz*\") == 0\n    actions:\n      - rank: 4\n    on_clear: revert", queueRank)
	}
	if v.without != queuePrty {
		p("  - name: PrtyIdle\n    watch: {queue: %s, cluster: C1}\n    formula: IPPROCS == 0\n    severity: major", queuePrty)
		p("    actions:\n      - priority: 0\n        useq: any\n      - redistribute: true\n    on_clear: revert")
	}
	if v.without != queuePlain {
		p("  - name: PlainDown\n    watch: {queue: %s, cluster: C1}\n    formula: IPPROCS == 0\n    for: 2 samples", queuePlain)
		if w.shape.minTwo {
			p("    guard: {min_available: 2}")
		}
		if w.shape.maintenance {
			p("    maintenance:\n      - {cron: \"*/2 * * * *\", for: 40s, suppress: act}")
		}
		p("    actions:\n      - put: DISABLED\n      - redistribute: {only_if: READY_ELSEWHERE > 0, rate: 5}\n      - event: \"${QUEUE} on ${QMGR} has ${CURDEPTH} waiting\"")
		p("  - name: PlainUp\n    watch: {queue: %s, cluster: C1}\n    formula: IPPROCS > 0\n    actions:\n      - put: ENABLED", queuePlain)
	}
	if v.without != queueProg {
		p("  - name: ProgDown\n    watch: {queue: %s, cluster: C1}\n    formula: IPPROCS == 0\n    actions:", queueProg)
		p("      - exec: [/opt/prog, \"PUT(DISABLED)\", \"${QUEUE}\"]\n      - mqsc: ALTER QLOCAL(${QUEUE}) DESCR('nobody reads')")
		p("  - name: ProgUp\n    watch: {queue: %s, cluster: C1}\n    formula: IPPROCS > 0\n    actions:\n      - exec: [/opt/prog, \"PUT(ENABLED)\", \"${QUEUE}\"]", queueProg)
	}
	if v.without != queueFlap {
		p("  - availability: {queue: %s, cluster: C1, by: put}", queueFlap)
	}
	text := b.String()
	switch v.broken {
	case 1:
		return text[:len(text)*2/3] + "\n  - nam"
	case 2:
		return strings.Replace(text, "IPPROCS == 0", "IPPROCS = 0", 1)
	case brokenKinds:
		return "situations: [\n"
	}
	return text
}

// definitions are the commands that make a queue manager what it is.
func (h *host) definitions() []string {
	const attrs = "SHORTTMR(1) SHORTRTY(100000) HBINT(5) BATCHSZ(10)"
	out := []string{"ALTER QMGR DEADQ(SYSTEM.DEAD.LETTER.QUEUE)"}
	full := h.number < 2
	to := h.w.hosts[h.number%2].name
	if full {
		out = append(out, "ALTER QMGR REPOS(C1)")
		to = h.w.hosts[1-h.number].name
	}
	out = append(out,
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSRCVR) CONNAME('%s') CLUSTER(C1) %s", h.name, enginetest.ConnName(h.name), attrs),
		fmt.Sprintf("DEFINE CHANNEL(TO.%s) CHLTYPE(CLUSSDR) CONNAME('%s') CLUSTER(C1) %s", to, enginetest.ConnName(to), attrs))
	for _, q := range queues {
		if h.queues[q] != nil {
			out = append(out, define(q))
		}
	}
	return out
}

func define(queue string) string {
	extra := ""
	if queue == queueRank {
		extra = " CLWLRANK(9)"
	}
	if queue == queuePrty {
		extra = " CLWLPRTY(5)"
	}
	return fmt.Sprintf("DEFINE QLOCAL(%s) CLUSTER(C1) DEFBIND(NOTFIXED) MAXDEPTH(50000)%s", queue, extra)
}
