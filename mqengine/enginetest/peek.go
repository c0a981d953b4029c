package enginetest

import (
	"strings"

	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// peekConn is the connection of whoever looks at a queue manager from outside time.
const peekConn qmgr.ConnID = 1 << 62

// display asks a queue manager what an operator would ask and gives the answer
// at once, one map per object. It is no event of the run: a display changes nothing.
func (n *node) display(text string) []map[string]string {
	cmd := n.s.parsed(text)
	if cmd == nil {
		return nil
	}
	before := len(n.fx.Replies)
	n.m.Step(n.now(), qmgr.Connect{Conn: peekConn, Appl: qmgr.Appl{Tag: "peek"}}, &n.fx)
	n.m.Step(n.now(), qmgr.Call{Conn: peekConn, Tag: 1, Request: qmgr.CommandReq{Command: cmd}}, &n.fx)
	n.m.Step(n.now(), qmgr.Disconnect{Conn: peekConn}, &n.fx)
	var res mqsc.Result
	kept := n.fx.Replies[:before]
	for _, r := range n.fx.Replies[before:] {
		if r.Conn == peekConn {
			res, _ = r.Result.(mqsc.Result)
		} else {
			kept = append(kept, r)
		}
	}
	n.fx.Replies = kept
	return rowsOf(res)
}

// rowsOf gives one map of keywords to values per object that a DISPLAY shows.
func rowsOf(res mqsc.Result) (rows []map[string]string) {
	for _, r := range res.Responses {
		if len(r.Fields) == 0 {
			continue
		}
		row := map[string]string{}
		for _, f := range r.Fields {
			row[f.Key] = strings.Join(f.Values, ",")
		}
		rows = append(rows, row)
	}
	return rows
}

// parsed keeps the commands of a run, which are few and come often.
func (s *sim) parsed(text string) *mqsc.Command {
	if cmd := s.commands[text]; cmd != nil {
		return cmd
	}
	cmd, err := mqsc.Parse(text)
	if err != nil {
		s.fail("%s: %v", text, err)
		return nil
	}
	s.commands[text] = cmd
	return cmd
}
