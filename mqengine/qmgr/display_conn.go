package qmgr

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

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
	typ := param(cmd, "TYPE")
	for _, c := range m.sortedConns() {
		if !mqsc.Generic(strings.ToUpper(cmd.Name), c.identifier()) {
			continue
		}
		if ext := param(cmd, "EXTCONN"); ext != "" && !mqsc.Generic(strings.ToUpper(ext), m.extConn()) {
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
