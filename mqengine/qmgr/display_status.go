package qmgr

import (
	"fmt"
	"strconv"
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

func yesNo(yes bool) []string { return []string{yesOrNo(yes)} }

func number(n int) []string { return []string{strconv.Itoa(n)} }

// displayQStatus is DISPLAY QSTATUS, of queues or of the handles open on them.
func (m *Machine) displayQStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8450I")
	handles, open := param(cmd, "TYPE") == "HANDLE", param(cmd, "OPENTYPE")
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
	case "CURMAXFS":
		return number(int(q.attr.maxBytes >> 20))
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

// displayQMStatus is DISPLAY QMSTATUS.
func (m *Machine) displayQMStatus(now time.Time, cmd *mqsc.Command) mqsc.Result {
	r := newReport(cmd, "AMQ8705I")
	started := m.cfg.StartTime.UnixMilli()
	r.status(object.ViewQMStatus, func(keyword string) []string {
		switch keyword {
		case "QMNAME":
			return []string{m.name}
		case "STATUS":
			if m.quiescing {
				return []string{"QUIESCING"}
			}
			return []string{"RUNNING"}
		case "CHINIT":
			return []string{"RUNNING"}
		case "CMDSERV":
			return []string{m.commandServerStatus()}
		case "CONNS":
			return number(len(m.conns))
		case "HOSTNAME":
			return []string{m.cfg.Host}
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

// StartsCommandServer reports whether the shell shall start the command server, SCMDSERV(QMGR).
// It is for the start, before the first Step.
func (m *Machine) StartsCommandServer() bool { return m.qmgrObject().Str("SCMDSERV") != "MANUAL" }

// commandServerStatus is CMDSERV of DISPLAY QMSTATUS: the command server is an
// application of the shell, seen by its handle.
func (m *Machine) commandServerStatus() string {
	if q := m.localQueue(adminCommandQueue); q != nil && q.inputs > 0 {
		return "RUNNING"
	}
	return "STOPPED"
}

// adminCommandQueue is where commands in PCF are put.
const adminCommandQueue = "SYSTEM.ADMIN.COMMAND.QUEUE"
