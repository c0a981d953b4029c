package adapt

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// displayed are the answers that the rows of channels and of the queue manager
// are made of, as DISPLAY gives them.
type displayed struct {
	channels, status, cluster []map[string]string
	qmgr, running             map[string]string
}

// askOthers reads what the rules look at beside queues. Nobody asks for what no
// rule watches: a DISPLAY of all channels is work for a queue manager.
func (s *Source) askOthers(ctx context.Context, at time.Time) ([]situations.Row, error) {
	want := s.groups.Load()
	if want == nil {
		return nil, nil
	}
	channels, qmgr := (*want)(situations.GroupChannel), (*want)(situations.GroupQMgr)
	if !channels && !qmgr {
		return nil, nil
	}
	d, err := s.display(ctx, channels, qmgr)
	if err != nil {
		return nil, err
	}
	var rows []situations.Row
	if channels {
		rows = d.channelRows(s.qmgr, s.depthOf, at)
	}
	if qmgr {
		rows = append(rows, d.managerRow(s.qmgr, s.repos, s.depthOf, at))
	}
	return rows, nil
}

func (s *Source) display(ctx context.Context, channels, qmgr bool) (*displayed, error) {
	d := &displayed{}
	ask := func(noun string, into *[]map[string]string) error {
		rows, err := Display(ctx, s.link, noun, "*")
		*into = rows
		return err
	}
	if err := ask("CHSTATUS", &d.status); err != nil {
		return nil, err
	}
	if err := ask("CLUSQMGR", &d.cluster); err != nil {
		return nil, err
	}
	if channels {
		if err := ask("CHANNEL", &d.channels); err != nil {
			return nil, err
		}
	}
	if !qmgr {
		return d, nil
	}
	for noun, into := range map[string]*map[string]string{"QMGR": &d.qmgr, "QMSTATUS": &d.running} {
		rows, err := Display(ctx, s.link, noun, "")
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			*into = rows[0]
		}
	}
	return d, nil
}

// depthOf is the depth of a local queue as last sampled.
func (s *Source) depthOf(queue string) (int, bool) {
	i := s.table.find(queue)
	if i < 0 {
		return 0, false
	}
	return s.table.queues[i].CurDepth, true
}

// channelRows makes a row of every channel that is defined or that the cluster
// made, sorted by name.
func (d *displayed) channelRows(qmgr string, depth func(string) (int, bool), at time.Time) []situations.Row {
	byName := map[string]*channelRow{}
	row := func(name string) *channelRow {
		r := byName[name]
		if r == nil {
			r = &channelRow{}
			r.env.CHANNEL, r.env.QMGR = name, qmgr
			byName[name] = r
		}
		return r
	}
	for _, m := range d.channels {
		row(m["CHANNEL"]).define(m)
	}
	for _, m := range d.cluster {
		row(m["CHANNEL"]).inCluster(m)
	}
	for _, m := range d.status {
		if r := byName[m["CHANNEL"]]; r != nil { // else its definition went in between
			r.status = append(r.status, m)
		}
	}
	out := make([]situations.Row, 0, len(byName))
	for _, r := range byName {
		out = append(out, r.finish(depth, at))
	}
	slices.SortFunc(out, func(a, b situations.Row) int { return strings.Compare(a.Queue, b.Queue) })
	return out
}

// channelRow is a channel while its row is made.
type channelRow struct {
	env      situations.ChannelAttributes
	missing  []string
	clusters []string
	defined  bool
	cluster  map[string]string // what the cluster says of every queue manager that it leads to
	differ   []string          // and what it says differently
	status   []map[string]string
}

// define takes in what DISPLAY CHANNEL says.
func (r *channelRow) define(m map[string]string) {
	r.defined = true
	r.values(m)
	r.env.CHLTYPE, r.env.DESCR, r.env.CLUSTER = m["CHLTYPE"], m["DESCR"], m["CLUSTER"]
	if r.env.CLUSTER != "" {
		r.clusters = []string{r.env.CLUSTER}
	}
}

// values takes in the numbers of a definition, where a channel of its kind has them.
func (r *channelRow) values(m map[string]string) {
	env := &r.env
	env.CONNAME, env.XMITQ, env.MONCHL = m["CONNAME"], m["XMITQ"], m["MONCHL"]
	r.missing = nil
	for name, into := range map[string]*int{
		"CLWLRANK": &env.CLWLRANK, "CLWLPRTY": &env.CLWLPRTY, "CLWLWGHT": &env.CLWLWGHT, "BATCHSZ": &env.BATCHSZ,
		"SHORTRTY": &env.SHORTRTY, "LONGRTY": &env.LONGRTY, "DISCINT": &env.DISCINT,
	} {
		r.number(m, name, into)
	}
}

func (r *channelRow) number(m map[string]string, name string, into *int) {
	n, err := strconv.Atoi(strings.TrimSpace(m[name]))
	if err != nil {
		r.missing = append(r.missing, name)
		return
	}
	*into = n
}

// inCluster takes in what DISPLAY CLUSQMGR says. A channel by which several queue
// managers are reached has no value where they differ.
func (r *channelRow) inCluster(m map[string]string) {
	env := &r.env
	if r.cluster == nil {
		r.cluster = maps.Clone(m)
	}
	for name, value := range r.cluster {
		if m[name] != value {
			r.cluster[name] = ""
			r.differ = append(r.differ, name)
		}
	}
	if env.CHLTYPE == "" || env.CHLTYPE == "CLUSSDR" { // what the other end published is what holds
		r.values(r.cluster)
		env.CHLTYPE = "CLUSSDR"
	}
	if m["DEFTYPE"] == "CLUSRCVR" {
		env.CHLTYPE = "CLUSRCVR"
	}
	env.DEFTYPE, env.QMTYPE, env.SUSPEND, env.RQMNAME = r.cluster["DEFTYPE"], r.cluster["QMTYPE"], r.cluster["SUSPEND"], r.cluster["CLUSQMGR"]
	if c := m["CLUSTER"]; c != "" && !slices.Contains(r.clusters, c) {
		r.clusters = append(r.clusters, c)
		slices.Sort(r.clusters)
	}
	if env.CLUSTER == "" && len(r.clusters) > 0 {
		env.CLUSTER = r.clusters[0]
	}
}

// finish puts in what CHSTATUS says and gives the row.
func (r *channelRow) finish(depth func(string) (int, bool), at time.Time) situations.Row {
	env := &r.env
	env.INSTANCES = len(r.status)
	r.waiting(depth)
	if len(r.status) == 0 {
		env.STATUS, env.INDOUBT = "INACTIVE", "NO"
		r.missing = append(r.missing, "LSTMSGAGE", "CHSTAAGE", "SHORTRTS", "LONGRTS", "RETRIES", "XQTIME", "NETTIME")
	} else {
		r.running(at)
	}
	for _, text := range []struct{ name, from, value string }{
		{"CONNAME", "CONNAME", env.CONNAME}, {"XMITQ", "XMITQ", env.XMITQ}, {"RQMNAME", "CLUSQMGR", env.RQMNAME},
	} {
		if text.value == "" && slices.Contains(r.differ, text.from) { // the status may have told which
			r.missing = append(r.missing, text.name)
		}
	}
	return situations.Row{
		Queue: situations.GroupChannel.Item(env.CHANNEL), Type: env.CHLTYPE, Clusters: r.clusters, Env: *env, Missing: r.missing,
		System: strings.HasPrefix(env.CHANNEL, "SYSTEM."),
	}
}

// waiting is XQMSGSA. A channel without a status says nothing of it: then it is
// the depth of a transmission queue of its own, and of one shared with others it
// is known only that an empty queue holds nothing.
func (r *channelRow) waiting(depth func(string) (int, bool)) {
	env := &r.env
	for _, m := range r.status {
		if n, err := strconv.Atoi(m["XQMSGSA"]); err == nil {
			env.XQMSGSA += n
			return
		}
	}
	n, ok := depth(env.XMITQ)
	switch {
	case env.XMITQ == "" && (env.CHLTYPE == "RCVR" || env.CHLTYPE == "CLUSRCVR" || env.CHLTYPE == "SVRCONN"):
		r.missing = append(r.missing, "XQMSGSA") // nothing waits for a receiver
	case ok && (n == 0 || env.CHLTYPE != "CLUSSDR"):
		env.XQMSGSA = n
	default:
		r.missing = append(r.missing, "XQMSGSA")
	}
}

// running is what the status rows say together: sums where they count, a value
// that all share, the youngest of times.
func (r *channelRow) running(at time.Time) {
	env := &r.env
	env.STATUS, env.SUBSTATE = r.shared("STATUS"), r.shared("SUBSTATE")
	env.INDOUBT = "NO"
	if slices.ContainsFunc(r.status, func(m map[string]string) bool { return m["INDOUBT"] == "YES" }) {
		env.INDOUBT = "YES"
	}
	if name := r.shared("RQMNAME"); name != "" {
		env.RQMNAME = name
	}
	if q := r.shared("XMITQ"); q != "" {
		env.XMITQ = q
	}
	for name, into := range map[string]*int{
		"MSGS": &env.MSGS, "CURMSGS": &env.CURMSGS, "BATCHES": &env.BATCHES, "BYTSSENT": &env.BYTSSENT, "BYTSRCVD": &env.BYTSRCVD,
	} {
		for _, m := range r.status {
			n, _ := strconv.Atoi(strings.TrimSpace(m[name])) // blank where an instance has none
			*into += n
		}
	}
	r.age("LSTMSGAGE", "LSTMSGDA", "LSTMSGTI", at, &env.LSTMSGAGE)
	r.age("CHSTAAGE", "CHSTADA", "CHSTATI", at, &env.CHSTAAGE)
	first := r.status[0]
	r.number(first, "SHORTRTS", &env.SHORTRTS)
	r.number(first, "LONGRTS", &env.LONGRTS)
	if slices.ContainsFunc(r.missing, func(s string) bool { return strings.HasPrefix(s, "SHORTRT") || strings.HasPrefix(s, "LONGRT") }) {
		r.missing = append(r.missing, "RETRIES")
	} else {
		env.RETRIES = max(0, env.SHORTRTY-env.SHORTRTS) + max(0, env.LONGRTY-env.LONGRTS)
	}
	for name, into := range map[string]*int{"XQTIME": &env.XQTIME, "NETTIME": &env.NETTIME} {
		short, _, _ := strings.Cut(first[name], ",")
		r.number(map[string]string{name: short}, name, into)
	}
}

// shared is the value that all instances have. Where they differ there is none.
func (r *channelRow) shared(name string) string {
	value := r.status[0][name]
	for _, m := range r.status {
		if m[name] != value {
			r.missing = append(r.missing, name)
			return ""
		}
	}
	return value
}

// age is the time since the latest of the instances' times.
func (r *channelRow) age(name, date, clock string, at time.Time, into *int) {
	found := false
	for _, m := range r.status {
		if t, ok := stampOf(m[date], m[clock]); ok {
			if n := max(0, int(at.Sub(t)/time.Second)); !found || n < *into {
				*into, found = n, true
			}
		}
	}
	if !found {
		r.missing = append(r.missing, name)
	}
}

// stampOf reads a date and a time as DISPLAY writes them, in the zone of this host.
func stampOf(date, clock string) (time.Time, bool) {
	t, err := time.ParseInLocation("2006-01-02 15.04.05", strings.TrimSpace(date)+" "+strings.TrimSpace(clock), time.Local)
	return t, err == nil
}
