package qmgr

import (
	"cmp"
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// space is a name space of objects: all queues share one, all channels another.
type space uint8

const (
	spaceQueue space = iota
	spaceChannel
	spaceNamelist
	spaceProcess
	spaceListener
	spaces
)

// spaceWords are the folders of the spaces in record keys.
var spaceWords = [spaces]string{"queue", "channel", "namelist", "process", "listener"}

func spaceOf(k object.Kind) space {
	switch {
	case k.IsChannel():
		return spaceChannel
	case k == object.Namelist:
		return spaceNamelist
	case k == object.Process:
		return spaceProcess
	case k == object.Listener:
		return spaceListener
	}
	return spaceQueue
}

// catalog is every object of the queue manager.
type catalog struct {
	qmgr     *object.Object
	queues   map[string]*queue
	byNumber map[uint32]*queue
	others   [spaces]map[string]*object.Object
	aliases  map[string][]*queue // clustered aliases by TARGET, whether that exists or not
	number   uint32              // last number given to a queue
	sorted   []*queue            // queues by name; nil after one came or went
	// triggered are queues with triggering by INITQ; nil after a definition changed.
	triggered map[string][]*queue
}

func (k *catalog) init() {
	k.queues, k.byNumber, k.aliases = map[string]*queue{}, map[uint32]*queue{}, map[string][]*queue{}
	for s := spaceChannel; s < spaces; s++ {
		k.others[s] = map[string]*object.Object{}
	}
}

// sortedQueues are the queues of all kinds by name. The caller must not keep the slice.
func (k *catalog) sortedQueues() []*queue {
	if k.sorted == nil {
		k.sorted = make([]*queue, 0, len(k.queues))
		for _, q := range k.queues {
			k.sorted = append(k.sorted, q)
		}
		slices.SortFunc(k.sorted, func(a, b *queue) int { return strings.Compare(a.name, b.name) })
	}
	return k.sorted
}

// sortedObjects are the objects of a space other than the queues by name.
func (k *catalog) sortedObjects(s space) []*object.Object {
	out := make([]*object.Object, 0, len(k.others[s]))
	for _, o := range k.others[s] {
		out = append(out, o)
	}
	slices.SortFunc(out, func(a, b *object.Object) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

func (k *catalog) add(q *queue) {
	k.queues[q.name], k.byNumber[q.number] = q, q
	k.number = max(k.number, q.number)
	k.sorted, k.triggered = nil, nil
}

func (k *catalog) remove(q *queue) {
	delete(k.queues, q.name)
	delete(k.byNumber, q.number)
	k.sorted, k.triggered = nil, nil
}

// find is the definition of that name in a space; nil if there is none.
func (k *catalog) find(s space, name string) *object.Object {
	if s != spaceQueue {
		return k.others[s][name]
	}
	if q := k.queues[name]; q != nil {
		return q.def
	}
	return nil
}

// names gives the names in a namelist; nil if there is no such namelist.
func (k *catalog) names(namelist string) []string {
	if o := k.others[spaceNamelist][namelist]; o != nil {
		return o.List("NAMES")
	}
	return nil
}

// localQueue is the local queue (QLOCAL) of that name, or nil.
func (m *Machine) localQueue(name string) *queue {
	if q := m.catalog.queues[name]; q != nil && q.def.Kind() == object.QLocal {
		return q
	}
	return nil
}

// objectNamed finds an object; nil if there is none of that kind and name.
func (m *Machine) objectNamed(kind object.Kind, name string) *object.Object {
	if kind == object.QMgr {
		return m.catalog.qmgr
	}
	if o := m.catalog.find(spaceOf(kind), name); o != nil && o.Kind() == kind {
		return o
	}
	return nil
}

// objectsOf gives the objects of one kind in the order of their names.
func (m *Machine) objectsOf(kind object.Kind) []*object.Object {
	var out []*object.Object
	if kind.IsQueue() {
		for _, q := range m.catalog.sortedQueues() {
			if q.def.Kind() == kind {
				out = append(out, q.def)
			}
		}
		return out
	}
	for _, o := range m.catalog.sortedObjects(spaceOf(kind)) {
		if o.Kind() == kind {
			out = append(out, o)
		}
	}
	return out
}

// qmgrObject is the definition of the queue manager itself.
func (m *Machine) qmgrObject() *object.Object { return m.catalog.qmgr }
