package qmgr

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// maxShown is the highest number that MQ shows for averages.
const maxShown = 999999999

// status appends a record of a view. Values that value does not know are blank,
// as MQ shows what it has not measured.
func (r *report) status(view object.View, value func(keyword string) []string) {
	r.add(r.cmd.Wanted(view.Attrs()), func(a *object.Attr) (mqsc.Field, bool) {
		v := value(a.Keyword)
		if v == nil {
			v = []string{""}
			if a.Type == object.Pair {
				v = []string{"", ""}
			}
		}
		return field(a.Keyword, v...), true
	})
}

// clock shows Unix milliseconds as MQ shows dates and times, in the zone of now; blank for never.
func clock(now time.Time, ms int64, layout string) []string {
	if ms == 0 {
		return nil
	}
	return []string{time.UnixMilli(ms).In(now.Location()).Format(layout)}
}

const (
	dateLayout = "2006-01-02"
	timeLayout = "15.04.05"
)

func yesNo(yes bool) []string {
	if yes {
		return []string{"YES"}
	}
	return []string{"NO"}
}

func number(n int) []string { return []string{strconv.Itoa(n)} }

// displayQStatus is DISPLAY QSTATUS, of queues or of the handles open on them.
func (m *Machine) displayQStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8450I")
	handles, open := selector(cmd, "TYPE") == "HANDLE", selector(cmd, "OPENTYPE")
	for _, q := range m.namedQueues(cmd.Name) {
		if q.def.Kind() != object.QLocal {
			continue
		}
		if !handles {
			r.status(object.ViewQueueStatus, func(k string) []string { return m.queueStatusValue(now, q, k) })
			continue
		}
		for _, h := range q.handles {
			if open == "INPUT" && h.input == 0 || open == "OUTPUT" && !h.has(mqi.MQOO_OUTPUT) {
				continue
			}
			r.status(object.ViewHandleStatus, func(k string) []string { return m.handleStatusValue(q, h, k) })
		}
	}
	return r.result()
}

func (m *Machine) queueStatusValue(now time.Time, q *queue, keyword string) []string {
	switch keyword {
	case "QUEUE":
		return []string{q.name}
	case "TYPE":
		return []string{"QUEUE"}
	case "CURDEPTH":
		return number(q.depth)
	case "IPPROCS":
		return number(q.inputs)
	case "OPPROCS":
		return number(q.outputs)
	case "CURFSIZE":
		return number(int((q.bytes + 1<<20 - 1) >> 20))
	case "UNCOM":
		if q.uncommitted == 0 {
			return []string{"NO"}
		}
		return number(q.uncommitted)
	case "MONQ":
		return []string{m.monitoringWord(q)}
	}
	if m.monitored(q) {
		return q.monitoredValue(now, keyword)
	}
	return nil
}

func (q *queue) monitoredValue(now time.Time, keyword string) []string {
	switch keyword {
	case "LGETDATE":
		return clock(now, q.lastGet, dateLayout)
	case "LGETTIME":
		return clock(now, q.lastGet, timeLayout)
	case "LPUTDATE":
		return clock(now, q.lastPut, dateLayout)
	case "LPUTTIME":
		return clock(now, q.lastPut, timeLayout)
	case "MSGAGE":
		oldest := q.oldest()
		if oldest == 0 {
			return number(0)
		}
		return number(int(min(max(now.UnixMilli()-oldest, 0)/1000, maxShown)))
	case "QTIME":
		return []string{strconv.FormatInt(min(q.shortTime, maxShown), 10), strconv.FormatInt(min(q.longOne, maxShown), 10)}
	}
	return nil
}

// monitoringWord is MONQ in force.
func (m *Machine) monitoringWord(q *queue) string {
	if !m.monitored(q) {
		return "OFF"
	}
	if word := q.def.Str("MONQ"); word != "QMGR" {
		return word
	}
	return m.catalog.qmgr.Str("MONQ")
}

func (m *Machine) handleStatusValue(q *queue, h *handle, keyword string) []string {
	switch keyword {
	case "QUEUE":
		return []string{q.name}
	case "TYPE":
		return []string{"HANDLE"}
	case "BROWSE":
		return yesNo(h.has(mqi.MQOO_BROWSE))
	case "INPUT":
		return []string{h.inputWord()}
	case "INQUIRE":
		return yesNo(h.has(mqi.MQOO_INQUIRE))
	case "OUTPUT":
		return yesNo(h.has(mqi.MQOO_OUTPUT))
	case "SET":
		return yesNo(h.has(mqi.MQOO_SET))
	case "HSTATE":
		return []string{h.stateWord()}
	case "ASTATE":
		return []string{"NONE"}
	}
	return m.applValue(h.conn, keyword)
}

func (h *handle) inputWord() string {
	switch h.input {
	case 0:
		return "NO"
	case mqi.MQOO_INPUT_EXCLUSIVE:
		return "EXCL"
	}
	return "SHARED"
}

// stateWord is HSTATE: whether a call is in progress on the handle.
func (h *handle) stateWord() string {
	if h.busy {
		return "ACTIVE"
	}
	return "INACTIVE"
}

// applValue is what displays of handles and connections say of the application.
func (m *Machine) applValue(c *conn, keyword string) []string {
	switch keyword {
	case "APPLTAG":
		return []string{c.applName()}
	case "APPLTYPE":
		return []string{"USER"}
	case "CONNAME":
		return []string{c.appl.Conn}
	case "PID":
		return number(c.appl.PID)
	case "TID":
		return number(0)
	case "URTYPE":
		return []string{"QMGR"}
	case "USERID":
		return []string{c.appl.UserID}
	case "QMURID":
		if len(c.unit.entries) > 0 {
			return []string{fmt.Sprintf("0.%d", c.id)}
		}
		return []string{"0.0"}
	}
	return nil
}

// sortedConns are the connections in the order in which they came.
func (m *Machine) sortedConns() []*conn {
	out := make([]*conn, 0, len(m.conns))
	for _, c := range m.conns {
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
	return out
}

// displayConns is DISPLAY CONN, of connections, their handles, or both.
func (m *Machine) displayConns(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8276I")
	typ := selector(cmd, "TYPE")
	for _, c := range m.sortedConns() {
		if !mqsc.Generic(strings.ToUpper(cmd.Name), c.identifier()) {
			continue
		}
		if ext := selector(cmd, "EXTCONN"); ext != "" && !mqsc.Generic(strings.ToUpper(ext), m.extConn()) {
			continue
		}
		if typ != "HANDLE" {
			r.status(object.ViewConn, func(k string) []string { return m.connValue(now, c, k) })
		}
		if typ != "HANDLE" && typ != "ALL" {
			continue
		}
		for _, h := range c.handles {
			if h != nil {
				r.status(object.ViewConnHandle, func(k string) []string { return m.connHandleValue(c, h, k) })
			}
		}
	}
	return r.result()
}

func (c *conn) identifier() string { return fmt.Sprintf("%016X", uint64(c.id)) }

// extConn is the first half of every connection's identifier here: AMQC and the queue manager's name.
func (m *Machine) extConn() string {
	b := []byte("AMQC            ")
	copy(b[4:], m.name)
	return strings.ToUpper(hex.EncodeToString(b))
}

func (m *Machine) connValue(now time.Time, c *conn, keyword string) []string {
	switch keyword {
	case "CONN":
		return []string{c.identifier()}
	case "EXTCONN":
		return []string{m.extConn()}
	case "TYPE":
		return []string{"CONN"}
	case "ASTATE":
		return []string{"NONE"}
	case "UOWSTATE":
		if len(c.unit.entries) > 0 {
			return []string{"ACTIVE"}
		}
		return []string{"NONE"}
	case "UOWSTDA", "UOWSTTI":
		if len(c.unit.entries) == 0 {
			return nil
		}
		if keyword == "UOWSTDA" {
			return clock(now, c.unit.started, dateLayout)
		}
		return clock(now, c.unit.started, timeLayout)
	}
	return m.applValue(c, keyword)
}

func (m *Machine) connHandleValue(c *conn, h *handle, keyword string) []string {
	switch keyword {
	case "CONN":
		return []string{c.identifier()}
	case "EXTCONN":
		return []string{m.extConn()}
	case "TYPE":
		return []string{"HANDLE"}
	case "OBJNAME":
		return []string{h.name}
	case "OBJTYPE":
		if h.object == nil && h.queue == nil && h.dest.name == "" {
			return []string{"QMGR"}
		}
		return []string{"QUEUE"}
	case "OPENOPTS":
		return []string{openWords(h.options)}
	case "HSTATE":
		return []string{h.stateWord()}
	case "ASTATE":
		return []string{"NONE"}
	case "READA":
		return []string{"NO"}
	}
	return nil
}

var openOptionWords = []struct {
	bit  int32
	word string
}{
	{mqi.MQOO_INPUT_AS_Q_DEF, "MQOO_INPUT_AS_Q_DEF"}, {mqi.MQOO_INPUT_SHARED, "MQOO_INPUT_SHARED"},
	{mqi.MQOO_INPUT_EXCLUSIVE, "MQOO_INPUT_EXCLUSIVE"}, {mqi.MQOO_BROWSE, "MQOO_BROWSE"}, {mqi.MQOO_OUTPUT, "MQOO_OUTPUT"},
	{mqi.MQOO_INQUIRE, "MQOO_INQUIRE"}, {mqi.MQOO_SET, "MQOO_SET"}, {mqi.MQOO_SAVE_ALL_CONTEXT, "MQOO_SAVE_ALL_CONTEXT"},
	{mqi.MQOO_PASS_IDENTITY_CONTEXT, "MQOO_PASS_IDENTITY_CONTEXT"}, {mqi.MQOO_PASS_ALL_CONTEXT, "MQOO_PASS_ALL_CONTEXT"},
	{mqi.MQOO_SET_IDENTITY_CONTEXT, "MQOO_SET_IDENTITY_CONTEXT"}, {mqi.MQOO_SET_ALL_CONTEXT, "MQOO_SET_ALL_CONTEXT"},
	{mqi.MQOO_FAIL_IF_QUIESCING, "MQOO_FAIL_IF_QUIESCING"}, {mqi.MQOO_BIND_ON_OPEN, "MQOO_BIND_ON_OPEN"},
	{mqi.MQOO_BIND_NOT_FIXED, "MQOO_BIND_NOT_FIXED"}, {mqi.MQOO_BIND_ON_GROUP, "MQOO_BIND_ON_GROUP"},
}

func openWords(options int32) string {
	var words []string
	for _, o := range openOptionWords {
		if options&o.bit != 0 {
			words = append(words, o.word)
		}
	}
	return strings.Join(words, ",")
}

// displayQMStatus is DISPLAY QMSTATUS. There is no command server: commands come over connections.
func (m *Machine) displayQMStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8705I")
	started := m.cfg.StartTime.UnixMilli()
	r.status(object.ViewQMStatus, func(keyword string) []string {
		switch keyword {
		case "QMNAME":
			return []string{m.name}
		case "STATUS", "CHINIT":
			return []string{"RUNNING"}
		case "CMDSERV":
			return []string{"STOPPED"}
		case "CONNS":
			return number(len(m.conns))
		case "STANDBY":
			return []string{"NOPERMIT"}
		case "STARTDA":
			return clock(now, started, dateLayout)
		case "STARTTI":
			return clock(now, started, timeLayout)
		}
		return nil
	})
	return r.result()
}

// listenerName is what LSSTATUS calls the listener of the queue manager's own address.
const listenerName = "SYSTEM.DEFAULT.LISTENER.TCP"

// displayListener is DISPLAY LSSTATUS: the one listener there is belongs to the
// process that hosts the queue manager.
func (m *Machine) displayListener(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8631I")
	host, port, err := net.SplitHostPort(m.cfg.Listen)
	if err != nil || !mqsc.Generic(cmd.Name, listenerName) {
		return r.result()
	}
	started := m.cfg.StartTime.UnixMilli()
	r.status(object.ViewLsStatus, func(keyword string) []string {
		switch keyword {
		case "LISTENER":
			return []string{listenerName}
		case "STATUS":
			return []string{"RUNNING"}
		case "IPADDR":
			return []string{host}
		case "PORT":
			return []string{port}
		case "TRPTYPE":
			return []string{"TCP"}
		case "CONTROL":
			return []string{"QMGR"}
		case "STARTDA":
			return clock(now, started, dateLayout)
		case "STARTTI":
			return clock(now, started, timeLayout)
		}
		return nil
	})
	return r.result()
}
