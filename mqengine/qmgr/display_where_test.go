package qmgr

import (
	"flag"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// allConditions has TestWhereOnEveryDisplay try each value that there is.
var allConditions = flag.Bool("where.all", false, "try every condition on every display")

// someConditions are tried on each display without it.
const someConditions = 60

// everyDisplay are the displays that take WHERE, each of everything.
var everyDisplay = []string{
	"QUEUE(*)", "QUEUE(*) TYPE(QLOCAL)", "QUEUE(*) CLUSINFO", "QLOCAL(*)", "QALIAS(*)", "QREMOTE(*)", "QMODEL(*)", "QCLUSTER(*)", "QCLUSTER(*) CLUSINFO",
	"QSTATUS(*)", "QSTATUS(*) TYPE(HANDLE)", "CHANNEL(*)", "CHSTATUS(*)", "CLUSQMGR(*)", "CONN(*)", "CONN(*) TYPE(HANDLE)",
	"CONN(*) TYPE(ALL)", "QMGR", "QMSTATUS", "NAMELIST(*)", "PROCESS(*)", "LISTENER(*)", "LSSTATUS(*)",
}

// busyMember is a member of a cluster that has something of everything.
func busyMember(t *testing.T) *netNode {
	w, qm1, _, _ := articleNet(t)
	qm1.ok("DEFINE QLOCAL(Q1) MAXDEPTH(7) DESCR('alpha') MONQ(HIGH)", "DEFINE QLOCAL(Q2) TRIGGER NOSHARE DESCR('beta; gamma')",
		"DEFINE QALIAS(A1) TARGET(Q1)", "DEFINE QREMOTE(R1) RNAME(X) RQMNAME(QM9)", "DEFINE QLOCAL(QM9) USAGE(XMITQ)",
		"DEFINE CHANNEL(TO.QM9) CHLTYPE(SDR) XMITQ(QM9) CONNAME('qm9(1414)') KAINT(7)",
		"DEFINE NAMELIST(N1) NAMES(A,BB,'c')", "DEFINE NAMELIST(N2) NAMES(BB)", "DEFINE NAMELIST(N3)",
		"DEFINE PROCESS(P1) APPLICID('/bin/true')", "DEFINE LISTENER(L1) PORT(1500) CONTROL(QMGR)")
	q1, _ := qm1.open("Q1", mqi.MQOO_INPUT_SHARED|mqi.MQOO_OUTPUT|mqi.MQOO_INQUIRE)
	dcq1, _ := qm1.open("DCQ1", putNotFixed)
	if q1 == 0 || dcq1 == 0 {
		t.Fatal("the queues do not open")
	}
	for range 3 {
		qm1.put(q1, "x", true)
		qm1.put(dcq1, "y", true)
	}
	start, perr := mqsc.Parse("START LISTENER(L1)")
	if perr != nil {
		t.Fatal(perr)
	}
	qm1.step(Call{Conn: 1, Tag: 1 << 40, Request: CommandReq{Command: start}})
	qm1.step(ListenerUp{Name: "L1", Addr: "0.0.0.0:1500"})
	w.pass(time.Second)
	return qm1
}

// wantedBy evaluates a condition on a record of DISPLAY ... ALL, by the words of
// the manual: numbers are compared as numbers, everything else as text; LK and
// NL compare the beginning; the operators of lists look at every item. What a
// record does not have, or does not know, meets no condition.
func wantedBy(fields []mqsc.Field, a *object.Attr, op, value string) bool {
	i := slices.IndexFunc(fields, func(f mqsc.Field) bool {
		return f.Key == a.Keyword || a.Type == object.Flag && f.Key == a.NoForm()
	})
	if i < 0 {
		return false
	}
	f := fields[i]
	starts := func(s string) bool { return strings.HasPrefix(s, strings.TrimSuffix(value, "*")) }
	switch {
	case a.Type == object.Flag:
		set := f.Key == a.Keyword
		return (set == (value == "YES")) == (op == "EQ")
	case op == "CT":
		return slices.Contains(f.Values, value)
	case op == "EX":
		return !slices.Contains(f.Values, value)
	case op == "CTG":
		return slices.ContainsFunc(f.Values, starts)
	case op == "EXG":
		return !slices.ContainsFunc(f.Values, starts)
	}
	return slices.ContainsFunc(f.Values, func(v string) bool {
		sign := strings.Compare(v, value)
		if a.Type == object.Int || a.Type == object.Pair {
			x, okX := asNumber(a, v)
			y, okY := asNumber(a, value)
			if !okX || !okY {
				return false
			}
			sign = x - y
		}
		switch op {
		case "LK":
			return starts(v)
		case "NL":
			return !starts(v)
		case "EQ":
			return sign == 0
		case "NE":
			return sign != 0
		case "LT":
			return sign < 0
		case "LE":
			return sign <= 0
		case "GT":
			return sign > 0
		}
		return sign >= 0
	})
}

func asNumber(a *object.Attr, v string) (int, bool) {
	for _, w := range a.Words {
		if w.Name == v {
			return w.Value, true
		}
	}
	n, err := strconv.Atoi(v)
	return n, err == nil
}

// Every operator that goes with an attribute picks the records of every DISPLAY
// that the manual's words pick.
func TestWhereOnEveryDisplay(t *testing.T) {
	t.Parallel()
	n := busyMember(t)
	var fx Effects
	run := func(text string) []mqsc.Response {
		cmd, err := mqsc.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		res := n.m.command(n.net.now, &fx, cmd)
		if res.Failed {
			return nil
		}
		return res.Responses
	}
	conditions, picked := 0, 0
	for _, display := range everyDisplay {
		all := run("DISPLAY " + display + " ALL")
		if len(all) == 0 || len(all[0].Fields) == 0 {
			t.Errorf("DISPLAY %s shows nothing: %v", display, all)
			continue
		}
		for _, cond := range conditionsFor(t, display, all) {
			want := slices.DeleteFunc(slices.Clone(all), func(r mqsc.Response) bool { return !wantedBy(r.Fields, cond.attr, cond.op, cond.value) })
			got := run("DISPLAY " + display + " ALL WHERE(" + cond.attr.Keyword + " " + cond.op + " " + mqsc.Quote(cond.value) + ")")
			conditions++
			picked += len(got)
			if a, b := texts(want), texts(got); a != b {
				t.Fatalf("DISPLAY %s WHERE(%s %s %s) gives\n%s\nwant\n%s", display, cond.attr.Keyword, cond.op, cond.value, b, a)
			}
		}
	}
	t.Logf("%d conditions picked %d records", conditions, picked)
	if conditions < 1000 || picked < 1000 {
		t.Errorf("only %d conditions, %d records", conditions, picked)
	}
}

func texts(rs []mqsc.Response) string {
	var b strings.Builder
	for _, r := range rs {
		b.WriteString(r.String())
	}
	return b.String()
}

type condition struct {
	attr      *object.Attr
	op, value string
}

// conditionsFor makes conditions of the values that the records have and of one
// that they have not.
func conditionsFor(t *testing.T, display string, all []mqsc.Response) []condition {
	var out []condition
	seen := map[string]bool{}
	for _, r := range all {
		for _, f := range r.Fields {
			values := f.Values
			if f.Bare {
				values = []string{"YES", "NO"}
			}
			for _, v := range append(slices.Clone(values), "5") {
				for _, op := range []string{"EQ", "NE", "LT", "GT", "LE", "GE", "LK", "NL", "CT", "EX", "CTG", "EXG"} {
					value := v
					if strings.Contains("LK NL CTG EXG", op) {
						value = v[:min(len(v), 2)] + "*"
					}
					key := f.Key + " " + op + " " + value
					if seen[key] || op == "CT" && value == "" || op == "EX" && value == "" {
						continue
					}
					seen[key] = true
					keyword := f.Key
					text := "DISPLAY " + display + " WHERE(" + keyword + " " + op + " " + mqsc.Quote(value) + ")"
					c, err := mqsc.Parse(text)
					if err != nil {
						continue // the operator or the value does not go with the attribute
					}
					out = append(out, condition{object.Lookup(c.Where.Keyword), op, c.Where.Value})
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no conditions for DISPLAY %s", display)
	}
	if *allConditions || len(out) <= someConditions {
		return out
	}
	// Another part of them for each display: attributes come in the same order everywhere.
	some := make([]condition, 0, someConditions)
	for i := range someConditions {
		some = append(some, out[(i*len(out)/someConditions+len(display))%len(out)])
	}
	return some
}
