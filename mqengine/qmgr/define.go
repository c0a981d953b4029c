package qmgr

import (
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// define is DEFINE. What is not said comes from LIKE's object or the default
// object of the kind, also with REPLACE.
func (m *Machine) define(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	kind, words := cmd.Kind, wordsOf(cmd.Kind)
	if err := object.CheckName(kind, cmd.Name); err != nil {
		return failed("AMQ8424E", err.Error())
	}
	old := m.catalog.find(spaceOf(kind), cmd.Name)
	switch {
	case old != nil && !cmd.Replace:
		return failed(words.exists)
	case old != nil && old.Kind() != kind:
		return failed("AMQ8151E")
	}
	o, res := m.template(cmd)
	if o == nil {
		return res
	}
	idle, err := applied(o, cmd)
	if err != nil {
		return refused(err)
	}
	if old == nil {
		o.SetTimes(now, now)
		if kind.IsQueue() {
			m.addQueue(now, fx, o)
		} else {
			m.setOther(now, fx, o)
		}
		return done(words.created, idle...)
	}
	keepFixed(o, old)
	if res := m.change(now, fx, old, o, false); res.Failed {
		return res
	}
	return done(words.created, idle...)
}

// applied sets what a DEFINE or ALTER says on o. Values that ask for what is not
// here are an error, or a remark where going without does no harm.
func applied(o *object.Object, cmd *mqsc.Command) (idle []mqsc.Response, err error) {
	if err := cmd.Apply(o); err != nil {
		return nil, err
	}
	for _, p := range cmd.Params {
		lack := o.Lack(p.Keyword)
		switch {
		case lack == nil:
		case lack.Refuse:
			return nil, lack
		default:
			idle = append(idle, mqsc.Reply("AMQ8448W", lack.Error()))
		}
	}
	return idle, o.Validate()
}

// template is the object that a DEFINE starts from.
func (m *Machine) template(cmd *mqsc.Command) (*object.Object, mqsc.Result) {
	from := m.catalog.find(spaceOf(cmd.Kind), object.DefaultName(cmd.Kind))
	if cmd.Like != "" {
		from = m.catalog.find(spaceOf(cmd.Kind), cmd.Like)
		if from == nil || from.Kind() != cmd.Kind {
			return nil, notFound(cmd.Like)
		}
	}
	if from == nil || from.Kind() != cmd.Kind {
		return object.New(cmd.Kind, cmd.Name), mqsc.Result{}
	}
	o := from.Clone()
	o.Name = cmd.Name
	if o.Kind() == object.QLocal {
		mustFix(o, "DEFTYPE", "PREDEFINED")
	}
	return o, mqsc.Result{}
}

// keepFixed carries over what a replacement does not change: when the object was
// made and how.
func keepFixed(o, old *object.Object) {
	for _, keyword := range []string{"CRDATE", "CRTIME"} {
		if o.Has(keyword) {
			mustFix(o, keyword, old.Str(keyword))
		}
	}
	if o.Kind() == object.QLocal {
		mustFix(o, "DEFTYPE", old.Str("DEFTYPE"))
	}
}

// mustFix sets a read-only attribute to a value that was one before; an error
// is a mistake in the attribute table.
func mustFix(o *object.Object, keyword, value string) {
	if err := o.SetFixed(keyword, value); err != nil {
		panic(err)
	}
}

// alter is ALTER.
func (m *Machine) alter(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	old := m.catalog.qmgr
	if cmd.Kind != object.QMgr {
		var res mqsc.Result
		if old, res = m.lookup(cmd); old == nil {
			return res
		}
	}
	o := old.Clone()
	idle, err := applied(o, cmd)
	if err != nil {
		return refused(err)
	}
	if res := m.change(now, fx, old, o, cmd.Force); res.Failed {
		return res
	}
	return done(wordsOf(cmd.Kind).changed, idle...)
}

// lookup finds the object that a command names, of the kind it says.
func (m *Machine) lookup(cmd *mqsc.Command) (*object.Object, mqsc.Result) {
	kind := kindOf(cmd)
	o := m.catalog.find(spaceOf(kind), cmd.Name)
	switch {
	case o == nil:
		return nil, notFound(cmd.Name)
	case o.Kind() == kind, cmd.Kind == object.KindNone && o.Kind().IsChannel() && kind.IsChannel():
		return o, mqsc.Result{}
	case kind.IsQueue():
		return nil, failed("AMQ8138E")
	}
	return nil, failed("AMQ8151E")
}

// change puts a new definition of an object in force.
func (m *Machine) change(now time.Time, fx *Effects, old, o *object.Object, force bool) mqsc.Result {
	affected, res := m.affected(old, o)
	if res.Failed {
		return res
	}
	if len(affected) > 0 && !force {
		return failed("AMQ8148E")
	}
	for _, h := range affected {
		h.changed = true
	}
	o.SetTimes(now, time.Time{})
	switch {
	case o.Kind() == object.QMgr:
		m.changeQMgr(now, fx, o)
	case !o.Kind().IsQueue():
		m.setOther(now, fx, o)
	default:
		m.changeQueue(now, fx, m.catalog.queues[o.Name], o)
	}
	return mqsc.Result{}
}

// affected are the open handles that a change makes invalid: it needs FORCE
// then, and they get 2041 afterwards. What a queue is used for cannot change
// while messages are on it.
func (m *Machine) affected(old, o *object.Object) ([]*handle, mqsc.Result) {
	differs := func(keyword string) bool { return o.Has(keyword) && old.Str(keyword) != o.Str(keyword) }
	if o.Kind() == object.QMgr {
		if !differs("DEFXMITQ") {
			return nil, mqsc.Result{}
		}
		return m.handlesWhere(func(h *handle) bool { return h.dest.byDefault }), mqsc.Result{}
	}
	q := m.catalog.queues[o.Name]
	switch {
	case !o.Kind().IsQueue():
	case differs("USAGE") && q.live() > 0:
		return nil, failed("AMQ8143E")
	case differs("USAGE") && m.ownUse(q):
		return nil, failed("AMQ8148E")
	case needsForce(old, o):
		return m.holders(q), mqsc.Result{}
	case differs("SHARE") && !o.Flag("SHARE") && q.inputs > 1:
		return m.handlesWhere(func(h *handle) bool { return h.queue == q && h.input != 0 }), mqsc.Result{}
	}
	return nil, mqsc.Result{}
}

// needsForce reports whether a change touches what open handles were resolved with.
func needsForce(old, o *object.Object) bool {
	return slices.ContainsFunc(object.Attrs(o.Kind()), func(a *object.Attr) bool {
		return a.Force && old.Str(a.Keyword) != o.Str(a.Keyword)
	})
}

// holders are the handles that are open on a queue or were resolved through it.
func (m *Machine) holders(q *queue) []*handle {
	if q.def.Kind() == object.QLocal {
		return q.handles
	}
	return m.handlesWhere(func(h *handle) bool { return h.object == q || h.dest.path[0] == q || h.dest.path[1] == q })
}

// handlesWhere are the open handles that a test picks.
func (m *Machine) handlesWhere(pick func(*handle) bool) []*handle {
	var out []*handle
	for _, c := range m.sortedConns() {
		for _, h := range c.handles {
			if h != nil && pick(h) {
				out = append(out, h)
			}
		}
	}
	return out
}

// delete is DELETE.
func (m *Machine) delete(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	o, res := m.lookup(cmd)
	if o == nil {
		if p, ok := cmd.Param("IGNSTATE"); ok && slices.Contains(p.Values, "YES") {
			return done(wordsOf(kindOf(cmd)).deleted)
		}
		return res
	}
	if !o.Kind().IsQueue() {
		if o.Kind() == object.Listener && m.listeners.active[o.Name] != nil {
			return failed("AMQ8148E") // as in MQ: it runs
		}
		m.deleteOther(now, fx, o)
		return done(wordsOf(o.Kind()).deleted)
	}
	q := m.catalog.queues[o.Name]
	switch {
	case len(m.holders(q)) > 0 || q.uncommitted > 0 || m.ownUse(q):
		return failed("AMQ8148E")
	case q.live() > 0 && !cmd.Purge:
		return failed("AMQ8143E")
	}
	m.deleteQueue(now, fx, q)
	return done(wordsOf(o.Kind()).deleted)
}

// clear is CLEAR QLOCAL. As in MQ nobody may have the queue open.
func (m *Machine) clear(fx *Effects, cmd *mqsc.Command) mqsc.Result {
	o, res := m.lookup(cmd)
	if o == nil {
		return res
	}
	q := m.catalog.queues[o.Name]
	if len(q.handles) > 0 || q.uncommitted > 0 || m.ownUse(q) {
		return failed("AMQ8148E")
	}
	m.purge(fx, q)
	return done("AMQ8022I")
}
