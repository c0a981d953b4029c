package enginetest

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// noteEvent adds what a machine is given to the trace.
func (s *sim) noteEvent(n *node, ev qmgr.Event) {
	switch ev := ev.(type) {
	case qmgr.Tick:
		s.note(n, "tick")
	case qmgr.Space:
		s.note(n, fmt.Sprint("space low ", ev.Low))
	case qmgr.Connect:
		s.note(n, "connect", uint64(ev.Conn))
	case qmgr.Disconnect:
		s.note(n, "disconnect", uint64(ev.Conn))
	case qmgr.Call:
		s.note(n, fmt.Sprintf("call %T", ev.Request), uint64(ev.Conn), ev.Tag)
	case qmgr.LinkAccepted:
		s.note(n, "accepted", uint64(ev.Link))
	case qmgr.LinkUp:
		s.note(n, "up", uint64(ev.Link))
	case qmgr.LinkFrame:
		s.note(n, "link frame", uint64(ev.Link), uint64(ev.Frame.Kind), ev.Frame.Seq)
	case qmgr.LinkDown:
		s.note(n, "link down"+ev.Reason, uint64(ev.Link))
	}
}

// noteEffects adds everything that a turn wants to the trace.
func (s *sim) noteEffects(n *node, fx *qmgr.Effects) {
	s.note(n, "turn", uint64(len(fx.Unit.Ops)), uint64(len(fx.Replies)), uint64(len(fx.Frames)))
	for i := range fx.Unit.Ops {
		op := &fx.Unit.Ops[i]
		s.note(nil, op.Key, uint64(op.Kind), uint64(op.Queue), op.Seq, uint64(op.Body))
		s.noteBytes(op.Value)
	}
	for i := range fx.Replies {
		s.noteReply(&fx.Replies[i])
	}
	for _, f := range fx.Frames {
		s.note(nil, "out", uint64(f.Link), uint64(f.Frame.Kind), f.Frame.Seq, uint64(len(f.Frame.Messages)))
		for i := range f.Frame.Messages {
			m := &f.Frame.Messages[i]
			s.note(nil, "", m.Seq, uint64(m.Body.ID))
			s.noteBytes(m.Header)
		}
	}
	for _, d := range fx.Dials {
		s.note(nil, d.Addr, uint64(d.Link))
	}
	for _, id := range fx.Closes {
		s.note(nil, "close", uint64(id))
	}
	for _, id := range fx.Drop {
		s.note(nil, "drop", uint64(id))
	}
	for _, number := range fx.Touched {
		s.note(nil, "touched", uint64(number))
	}
	for _, l := range fx.Log {
		s.note(nil, l.ID)
		s.noteText(l.Text)
		if s.text != nil {
			s.printf("%s %s %s", n.name, l.ID, l.Text)
		}
	}
}

func (s *sim) noteReply(r *qmgr.Reply) {
	s.note(nil, "reply", uint64(r.Conn), r.Tag, uint64(r.CompCode), uint64(r.Reason))
	s.noteText(r.Detail)
	switch res := r.Result.(type) {
	case qmgr.OpenResult:
		s.note(nil, res.ResolvedQName+res.ResolvedQMgrName, uint64(res.Handle))
	case qmgr.PutResult:
		s.note(nil, res.ResolvedQName+res.ResolvedQMgrName, uint64(res.PutDateTime))
		s.noteBytes(res.MsgId[:])
		s.noteBytes(res.CorrelId[:])
	case *qmgr.GetResult:
		if res != nil {
			s.noteText(fmt.Sprintf("%+v", *res))
		}
	case *qmgr.MoveResult:
		if res != nil {
			s.noteText(fmt.Sprintf("%+v", *res))
		}
	case *qmgr.InstancesResult:
		if res != nil {
			s.noteText(fmt.Sprintf("%+v", *res))
		}
	case mqsc.Result:
		s.noteText(fmt.Sprintf("%+v", res))
	}
}
