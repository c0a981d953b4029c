package qmgr

import (
	"fmt"
	"strconv"
	"time"

	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// display is DISPLAY of everything that clusterCommand does not know.
func (m *Machine) display(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	switch cmd.Noun {
	case "QUEUE", "QLOCAL", "QALIAS", "QREMOTE", "QMODEL":
		return m.displayQueues(now, fx, cmd)
	case "QSTATUS":
		return m.displayQStatus(now, cmd)
	case "CONN":
		return m.displayConns(now, cmd)
	case "QMGR":
		r := newReport(cmd, wordsOf(object.QMgr).shown)
		r.object(m.catalog.qmgr, nil)
		return r.result()
	case "QMSTATUS":
		return m.displayQMStatus(now, cmd)
	case "CHANNEL", "NAMELIST", "PROCESS", "LISTENER":
		return m.displayObjects(cmd)
	case "LSSTATUS":
		return m.displayListener(now, cmd)
	}
	return failed("AMQ8404E")
}

// maxReport is the longest answer of one DISPLAY in bytes: well below what a frame to
// an application holds. MQ answers each object by itself and knows no such limit.
const maxReport = 64 << 20

// report gathers the records of one DISPLAY.
type report struct {
	cmd  *mqsc.Command
	id   string
	out  mqsc.Result
	seen map[object.Kind][]*object.Attr
	room int // bytes that the answer may still grow
}

func newReport(cmd *mqsc.Command, id string) *report {
	return &report{cmd: cmd, id: id, seen: map[object.Kind][]*object.Attr{}, room: maxReport}
}

// add appends a record of fields that value gives, if it passes the filter of
// WHERE. Attributes that value does not know are left out.
func (r *report) add(wanted []*object.Attr, value func(a *object.Attr) (mqsc.Field, bool)) {
	fields := make([]mqsc.Field, 0, len(wanted))
	passed := r.cmd.Where == nil
	for _, a := range wanted {
		f, ok := value(a)
		if !ok {
			continue
		}
		if w := r.cmd.Where; w != nil && w.Keyword == a.Keyword && w.Match(f) {
			passed = true
		}
		fields = append(fields, f)
	}
	if passed {
		r.append(mqsc.Response{ID: r.id, Text: mqsc.Reply(r.id).Text, Fields: fields})
	}
}

// append adds a record while there is room.
func (r *report) append(records ...mqsc.Response) {
	for _, rec := range records {
		r.room -= len(rec.ID) + len(rec.Text)
		for _, f := range rec.Fields {
			r.room -= len(f.Key) + 4
			for _, v := range f.Values {
				r.room -= len(v) + 4
			}
		}
		if r.room < 0 {
			r.out.Responses = nil
			return
		}
		r.out.Responses = append(r.out.Responses, rec)
	}
}

// object appends an object's record; live gives the values that it does not hold itself.
func (r *report) object(o *object.Object, live func(keyword string) (string, bool)) {
	wanted, ok := r.seen[o.Kind()]
	if !ok {
		wanted = r.cmd.Wanted(object.Attrs(o.Kind()))
		r.seen[o.Kind()] = wanted
	}
	r.add(wanted, func(a *object.Attr) (mqsc.Field, bool) {
		if live != nil && a.Live {
			if v, ok := live(a.Keyword); ok {
				return field(a.Keyword, v), true
			}
		}
		key, values, bare := o.Field(a.Keyword)
		return mqsc.Field{Key: key, Values: values, Bare: bare}, true
	})
}

// result is the answer: all records, or that there is nothing.
func (r *report) result() mqsc.Result { return r.or(notFound(r.cmd.Name)) }

// or is result with another answer for nothing.
func (r *report) or(none mqsc.Result) mqsc.Result {
	switch {
	case r.room < 0:
		return failed("AMQ8404E", fmt.Sprintf("The answer is longer than %d MiB: give a narrower name, a list of attributes, or WHERE.", maxReport>>20))
	case len(r.out.Responses) == 0:
		return none
	}
	return r.out
}

func field(key string, values ...string) mqsc.Field { return mqsc.Field{Key: key, Values: values} }

// displayQueues is DISPLAY QUEUE and its narrower forms. With CLUSINFO the
// instances in clusters follow the queues of our own.
func (m *Machine) displayQueues(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	kind, typ := object.ParseKind(cmd.Noun), param(cmd, "TYPE")
	if typ != "" && typ != "ALL" {
		kind = object.ParseKind(typ)
	}
	r := newReport(cmd, wordsOf(object.QLocal).shown)
	if typ != "QCLUSTER" {
		cluster, clusNL := param(cmd, "CLUSTER"), param(cmd, "CLUSNL")
		for _, q := range m.namedQueues(cmd.Name) {
			a := q.attr.public
			if kind != object.KindNone && q.def.Kind() != kind ||
				cluster != "" && !mqsc.Generic(cluster, a.Cluster) || clusNL != "" && !mqsc.Generic(clusNL, a.ClusNL) {
				continue
			}
			r.object(q.def, q.liveValue)
		}
	}
	if _, all := cmd.Param("CLUSINFO"); all || typ == "QCLUSTER" {
		r.append(m.clusterInstances(now, fx, cmd)...)
	}
	return r.result()
}

// namedQueues are the queues that a name, generic or not, stands for.
func (m *Machine) namedQueues(name string) []*queue {
	if q := m.catalog.queues[name]; q != nil {
		return []*queue{q}
	}
	var out []*queue
	for _, q := range m.catalog.sortedQueues() {
		if mqsc.Generic(name, q.name) {
			out = append(out, q)
		}
	}
	return out
}

// clusterInstances asks the cluster's side for the same names.
func (m *Machine) clusterInstances(now time.Time, fx *Effects, cmd *mqsc.Command) []mqsc.Response {
	other := *cmd
	other.Noun, other.Kind, other.Params = "QCLUSTER", object.KindNone, nil
	for _, p := range cmd.Params {
		if p.Keyword == "CLUSTER" {
			other.Params = append(other.Params, p)
		}
	}
	res, ok := m.clusterCommand(now, fx, &other)
	if !ok || res.Failed {
		return nil
	}
	return res.Responses
}

// liveValue is a value of a queue that no definition holds.
func (q *queue) liveValue(keyword string) (string, bool) {
	switch keyword {
	case "CURDEPTH":
		return strconv.Itoa(q.depth), true
	case "IPPROCS":
		return strconv.Itoa(q.inputs), true
	case "OPPROCS":
		return strconv.Itoa(q.outputs), true
	}
	return "", false
}

// displayObjects is DISPLAY of channels, namelists, processes and listeners.
func (m *Machine) displayObjects(cmd *mqsc.Command) mqsc.Result {
	kind := kindOf(cmd)
	r := newReport(cmd, wordsOf(kind).shown)
	typ := param(cmd, "CHLTYPE")
	for _, o := range m.catalog.sortedObjects(spaceOf(kind)) {
		if mqsc.Generic(cmd.Name, o.Name) && (typ == "" || typ == "ALL" || typ == o.Kind().String()) {
			r.object(o, nil)
		}
	}
	return r.result()
}
