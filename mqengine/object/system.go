package object

// systemQueues are the local queues every queue manager has.
var systemQueues = []struct {
	name, descr string
	set         map[string]string
}{
	{"SYSTEM.DEFAULT.LOCAL.QUEUE", "", nil},
	{"SYSTEM.DEAD.LETTER.QUEUE", "Dead-letter queue", map[string]string{"MAXDEPTH": "999999999"}},
	{"SYSTEM.ADMIN.COMMAND.QUEUE", "Commands in PCF", map[string]string{"MAXDEPTH": "3000", "MAXMSGL": "32762"}},
	{"SYSTEM.ADMIN.QMGR.EVENT", "Queue manager events", map[string]string{"MAXDEPTH": "3000"}},
	{"SYSTEM.ADMIN.PERFM.EVENT", "Performance events", map[string]string{"MAXDEPTH": "3000"}},
	{"SYSTEM.ADMIN.CHANNEL.EVENT", "Channel events", map[string]string{"MAXDEPTH": "3000"}},
	{"SYSTEM.DEFAULT.INITIATION.QUEUE", "Trigger messages", map[string]string{"MAXDEPTH": "1000"}},
	{"SYSTEM.CHANNEL.INITQ", "Trigger messages of channels", map[string]string{"MAXDEPTH": "1000"}},
	{"SYSTEM.CHANNEL.SYNCQ", "State of channels", map[string]string{"DEFPSIST": "YES", "MAXDEPTH": "999999999"}},
	{"SYSTEM.CLUSTER.COMMAND.QUEUE", "Commands of the repository", map[string]string{"DEFPSIST": "YES", "MAXDEPTH": "200000", "MAXMSGL": "104857600"}},
	{"SYSTEM.CLUSTER.REPOSITORY.QUEUE", "Saved repository", map[string]string{"DEFPSIST": "YES", "MAXDEPTH": "999999999", "MAXMSGL": "104857600"}},
	{"SYSTEM.CLUSTER.TRANSMIT.QUEUE", "Messages to other queue managers of clusters",
		map[string]string{"DEFPSIST": "YES", "MAXDEPTH": "999999999", "MAXMSGL": "104857600", "USAGE": "XMITQ"}},
	{"SYSTEM.CLUSTER.HISTORY.QUEUE", "Repository as it was before a REFRESH", map[string]string{"DEFPSIST": "YES", "MAXDEPTH": "999999999", "MAXMSGL": "104857600"}},
}

// SystemObjects are the objects of a new queue manager, apart from the queue
// manager object: the defaults that DEFINE copies from, and the queues that
// MQ keeps its own state in. Each call makes new ones.
func SystemObjects() []*Object {
	var out []*Object
	for _, q := range systemQueues {
		o := New(QLocal, q.name)
		o.mustSet("DESCR", q.descr)
		for keyword, v := range q.set {
			o.mustSet(keyword, v)
		}
		out = append(out, o)
	}
	out = append(out,
		New(QAlias, "SYSTEM.DEFAULT.ALIAS.QUEUE"),
		New(QRemote, "SYSTEM.DEFAULT.REMOTE.QUEUE"),
		New(QModel, "SYSTEM.DEFAULT.MODEL.QUEUE"),
		newModel("SYSTEM.MQSC.REPLY.QUEUE", "TEMPDYN", "NORMAL"),
		newModel("SYSTEM.CLUSTER.TRANSMIT.MODEL.QUEUE", "PERMDYN", "XMITQ"),
	)
	for _, d := range []struct {
		kind Kind
		name string
	}{
		{Sender, "SYSTEM.DEF.SENDER"}, {Receiver, "SYSTEM.DEF.RECEIVER"}, {ClusSdr, "SYSTEM.DEF.CLUSSDR"},
		{ClusRcvr, "SYSTEM.DEF.CLUSRCVR"}, {SvrConn, "SYSTEM.DEF.SVRCONN"},
		{Namelist, "SYSTEM.DEFAULT.NAMELIST"}, {Process, "SYSTEM.DEFAULT.PROCESS"}, {Listener, "SYSTEM.DEFAULT.LISTENER.TCP"},
	} {
		out = append(out, New(d.kind, d.name))
	}
	return out
}

func newModel(name, defType, usage string) *Object {
	o := New(QModel, name)
	o.mustSet("DEFTYPE", defType)
	o.mustSet("USAGE", usage)
	if usage == "XMITQ" {
		o.mustSet("DEFPSIST", "YES")
		o.mustSet("MAXDEPTH", "999999999")
		o.mustSet("MAXMSGL", "104857600")
	}
	return o
}

// mustSet is Set for values that this package states itself.
func (o *Object) mustSet(keyword, v string) {
	if err := o.Set(keyword, v); err != nil {
		panic("object: " + o.Name + ": " + err.Error())
	}
}

// DefaultName is the system object that DEFINE copies from for a kind; blank if there is none.
func DefaultName(k Kind) string {
	switch k {
	case QLocal:
		return "SYSTEM.DEFAULT.LOCAL.QUEUE"
	case QAlias:
		return "SYSTEM.DEFAULT.ALIAS.QUEUE"
	case QRemote:
		return "SYSTEM.DEFAULT.REMOTE.QUEUE"
	case QModel:
		return "SYSTEM.DEFAULT.MODEL.QUEUE"
	case Sender:
		return "SYSTEM.DEF.SENDER"
	case Receiver:
		return "SYSTEM.DEF.RECEIVER"
	case ClusSdr:
		return "SYSTEM.DEF.CLUSSDR"
	case ClusRcvr:
		return "SYSTEM.DEF.CLUSRCVR"
	case SvrConn:
		return "SYSTEM.DEF.SVRCONN"
	case Namelist:
		return "SYSTEM.DEFAULT.NAMELIST"
	case Process:
		return "SYSTEM.DEFAULT.PROCESS"
	case Listener:
		return "SYSTEM.DEFAULT.LISTENER.TCP"
	default: // there is one queue manager, and nothing to copy it from
		return ""
	}
}
