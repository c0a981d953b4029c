package situations

// evaluation is what the terms of a formula look at. It is reused from row to
// row, so evaluating allocates nothing.
type evaluation struct {
	table   *attributeTable
	attrs   *Attributes
	channel *ChannelAttributes
	qmgr    *QMgrAttributes
	row     *Row
	lever   Lever
	missing uint64 // bits of attributes without a value
	// failed: something had no value or no finite result, so the verdict is
	// unknown whatever the operators made of it.
	failed bool

	// What attrs, channel and qmgr point to.
	store        Attributes
	channelStore ChannelAttributes
	qmgrStore    QMgrAttributes
}

var (
	readyBit   = queueTable.named("READY_ELSEWHERE").bit
	readersBit = queueTable.named("READERS_ELSEWHERE").bit
)

// load prepares for the formulas of one row. Only the attributes in uses are
// looked at, since the rest cannot matter.
func (e *evaluation) load(row *Row, uses uint64) {
	e.row, e.missing, e.failed = row, 0, false
	e.attrs, e.channel, e.qmgr = &e.store, &e.channelStore, &e.qmgrStore
	switch a := row.Env.(type) {
	case Attributes:
		e.table, e.store = queueTable, a
	case *Attributes:
		e.table, e.attrs = queueTable, a
	case ChannelAttributes:
		e.table, e.channelStore = channelTable, a
	case QMgrAttributes:
		e.table, e.qmgrStore = qmgrTable, a
	default:
		g, _ := GroupOf(row.Queue)
		e.table, e.missing = tableOf(g), ^uint64(0) // no sample, no values
		return
	}
	for _, name := range row.Missing {
		if a := e.table.named(name); a != nil {
			e.missing |= a.bit
		}
	}
	if e.table == queueTable {
		e.elsewhere(row, uses)
	}
	e.blanks(uses)
}

// elsewhere looks at what the instances tell: it is counted here, not taken from
// the sample.
func (e *evaluation) elsewhere(row *Row, uses uint64) {
	e.missing &^= readyBit | readersBit
	if !row.InstancesKnown {
		e.missing |= readyBit | readersBit
	}
	if uses&readersBit != 0 && !readersKnown(row.Instances) {
		e.missing |= readersBit
	}
}

// blanks marks the attributes whose text is none of their values: a queue
// manager leaves blank what it does not collect, and that is no value.
func (e *evaluation) blanks(uses uint64) {
	for i := range e.table.list {
		a := &e.table.list[i]
		if uses&a.bit != 0 && a.text != nil && len(a.Values) > 0 && a.text(e) == "" {
			e.missing |= a.bit
		}
	}
}

func readersKnown(list []Instance) bool {
	for i := range list {
		if !list[i].Local && !list[i].ReadersKnown {
			return false
		}
	}
	return true
}

func (e *evaluation) readyElsewhere() int {
	return ReadyElsewhere(e.row, e.lever)
}

func (e *evaluation) readersElsewhere() int {
	n := 0
	for i := range e.row.Instances {
		if x := &e.row.Instances[i]; !x.Local {
			n += x.Readers
		}
	}
	return n
}

// readers counts the handles whose APPLTAG matches a pattern.
func (e *evaluation) readers(pattern string) int {
	n := 0
	for i := range e.row.Readers {
		if glob(pattern, e.row.Readers[i].ApplTag) {
			n++
		}
	}
	return n
}

// Lever is what a rule turns down when it opens. READY_ELSEWHERE counts the
// instances that are still above ours then.
type Lever struct {
	Verb  Verb // put, rank or priority; empty if the rule has none
	Value int  // of rank and priority
	// Channel: rank and priority are those of the channel to us, not of the queue.
	Channel bool
}

// ReadyElsewhere counts the instances on other queue managers that the workload
// algorithm could choose from here once the lever is down: those of the highest
// rank that anyone has, ours included, that are put-enabled, not suspended and
// behind a channel that works. A lever of rank or priority must leave them
// strictly above ours, or messages would come back. In the order of MQ 6 and 7
// (row.V6) instances that are put-disabled are out before ranks are compared.
// The count means nothing while row.InstancesKnown is false.
func ReadyElsewhere(row *Row, lever Lever) int {
	var ours Instance // what the lever leaves of our own
	top := [2]int{-1, -1}
	for i := range row.Instances {
		x := row.Instances[i]
		if x.Local {
			x = lowered(x, lever)
			ours = x
		}
		if x.Put || !row.V6 {
			top = higher(top, [2]int{x.ChannelRank, x.ClwlRank})
		}
	}
	n := 0
	for i := range row.Instances {
		x := &row.Instances[i]
		rank, prty := [2]int{x.ChannelRank, x.ClwlRank}, [2]int{x.ChannelPrty, x.ClwlPrty}
		switch {
		case x.Local, !x.Put, x.Suspended, !x.Reachable, rank != top:
		case lever.Verb == VerbRank && rank == [2]int{ours.ChannelRank, ours.ClwlRank}:
		case lever.Verb == VerbPriority && higher(prty, [2]int{ours.ChannelPrty, ours.ClwlPrty}) != prty:
		case lever.Verb == VerbPriority && prty == [2]int{ours.ChannelPrty, ours.ClwlPrty}:
		default:
			n++
		}
	}
	return n
}

// lowered is our own instance with the lever down.
func lowered(x Instance, lever Lever) Instance {
	switch {
	case lever.Verb == VerbRank && lever.Channel:
		x.ChannelRank = lever.Value
	case lever.Verb == VerbRank:
		x.ClwlRank = lever.Value
	case lever.Verb == VerbPriority && lever.Channel:
		x.ChannelPrty = lever.Value
	case lever.Verb == VerbPriority:
		x.ClwlPrty = lever.Value
	default: // put, or no lever of the rule's own: a program that disables the queue
		x.Put = false
	}
	return x
}

// higher compares as the algorithm does: the channel's value, then the queue's.
func higher(a, b [2]int) [2]int {
	if b[0] > a[0] || b[0] == a[0] && b[1] > a[1] {
		return b
	}
	return a
}
