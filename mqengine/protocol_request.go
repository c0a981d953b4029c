package mqengine

import (
	"errors"
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// clientCall is one decoded frame of a client.
type clientCall struct {
	kind kind
	tag  uint64
	// req is what the machine is asked, for kinds that it answers. A put is in
	// put until its body has a number.
	req qmgr.Request
	put *qmgr.PutReq
	// body is the message of a put. It aliases the frame.
	body []byte
	// since and attributes belong to a sample.
	since      uint64
	attributes bool // send every row's attributes, also unchanged ones
	// end is how the queue manager is to end.
	end EndMode
}

// errUnknownKind is a frame that this version does not know.
var errUnknownKind = errors.New("unknown kind of frame")

func appendHead(b []byte, k kind, tag uint64) []byte {
	return wire.AppendUint(append(b, byte(k)), tag)
}

// appendRequest appends the frame of a request that the machine answers, all
// but the body of a put: that follows everything else and needs no length.
func appendRequest(b []byte, tag uint64, req qmgr.Request) ([]byte, error) {
	switch q := req.(type) {
	case *qmgr.PutReq:
		return appendPut(appendHead(b, kindPut, tag), q), nil
	case *qmgr.GetReq:
		return appendGet(appendHead(b, kindGet, tag), q), nil
	case qmgr.CommitReq:
		return appendHead(b, kindCommit, tag), nil
	case qmgr.BackReq:
		return appendHead(b, kindBack, tag), nil
	case qmgr.OpenReq:
		b = appendOD(appendHead(b, kindOpen, tag), &q.OD)
		b = wire.AppendInt(b, int64(q.Options))
		return wire.AppendString(b, q.Selection), nil
	case qmgr.CloseReq:
		b = wire.AppendUint(appendHead(b, kindClose, tag), uint64(q.Handle))
		return wire.AppendInt(b, int64(q.Options)), nil
	case qmgr.CancelReq:
		return appendHead(b, kindCancel, q.Tag), nil
	case qmgr.CommandReq:
		return appendCommand(appendHead(b, kindCommand, tag), q.Command)
	case qmgr.MoveReq:
		return appendMove(appendHead(b, kindMove, tag), &q), nil
	case qmgr.InstancesReq:
		return appendInstances(appendHead(b, kindInstances, tag), &q), nil
	case qmgr.ExplainReq:
		return appendExplain(appendHead(b, kindExplain, tag), &q), nil
	}
	return nil, fmt.Errorf("request %T cannot travel", req)
}

// decodeRequest reads a client's frame. Bodies alias the frame; everything else is copied.
func decodeRequest(frame []byte) (clientCall, error) {
	r := wire.NewReader(frame)
	c := clientCall{kind: kind(r.Byte()), tag: r.Uint()}
	var err error
	switch c.kind {
	case kindPut:
		return c, c.decodePut(r)
	case kindGet:
		c.req, err = readGet(r)
	case kindCommit:
		c.req = qmgr.CommitReq{}
	case kindBack:
		c.req = qmgr.BackReq{}
	case kindOpen:
		c.req = qmgr.OpenReq{OD: readOD(r), Options: r.Int32(), Selection: r.String()}
	case kindClose:
		c.req = qmgr.CloseReq{Handle: readHandle(r), Options: r.Int32()}
	case kindCancel:
		c.req = qmgr.CancelReq{Tag: c.tag}
	case kindCommand:
		c.req, err = readCommand(r)
	case kindMove:
		c.req = readMove(r)
	case kindInstances:
		c.req = readInstances(r)
	case kindExplain:
		c.req = readExplain(r)
	case kindSample:
		c.since, c.attributes = r.Uint(), r.Bool()
	case kindEnd:
		c.end = readEndMode(r)
	case kindWatch, kindDisconnect:
	default:
		return c, fmt.Errorf("%w %d", errUnknownKind, c.kind)
	}
	if err == nil {
		err = r.Done()
	}
	return c, err
}

func appendPut(b []byte, q *qmgr.PutReq) []byte {
	b = wire.AppendUint(b, uint64(q.Handle))
	if q.Handle == 0 {
		b = appendOD(b, &q.OD)
	}
	b = wire.AppendInt(b, int64(q.PMO.Options))
	b = wire.AppendUint(b, uint64(q.PMO.Context))
	b = appendMD(b, &q.MD)
	return appendProps(b, q.Props)
}

func (c *clientCall) decodePut(r *wire.Reader) error {
	q := &qmgr.PutReq{Handle: readHandle(r)}
	if q.Handle == 0 {
		q.OD = readOD(r)
	}
	q.PMO = mqi.PMO{Options: r.Int32(), Context: readHandle(r)}
	if err := readMD(r, &q.MD); err != nil {
		return err
	}
	q.Props = readProps(r)
	if err := r.Err(); err != nil {
		return err
	}
	c.body, c.put = r.Rest(), q
	return nil
}

func readHandle(r *wire.Reader) uint32 {
	v := r.Uint()
	if v != uint64(uint32(v)) {
		return ^uint32(0) // no such handle: the machine says 2019
	}
	return uint32(v)
}

func appendGet(b []byte, q *qmgr.GetReq) []byte {
	b = wire.AppendUint(b, uint64(q.Handle))
	b = wire.AppendInt(b, int64(q.GMO.Options))
	b = wire.AppendInt(b, int64(q.GMO.WaitInterval))
	b = wire.AppendInt(b, int64(q.GMO.MatchOptions))
	b = wire.AppendInt(b, int64(q.GMO.MaxLength))
	b = wire.AppendString(b, q.GMO.Selection)
	return appendMD(b, &q.MD)
}

func readGet(r *wire.Reader) (qmgr.Request, error) {
	q := qmgr.GetReq{Handle: readHandle(r)}
	q.GMO = mqi.GMO{
		Options: r.Int32(), WaitInterval: r.Int32(), MatchOptions: r.Int32(),
		MaxLength: r.Int32(), Selection: r.String(),
	}
	err := readMD(r, &q.MD)
	return q, err
}

// appendCommand sends a command as its canonical text, so that whatever comes
// over a socket passes the one parser with its checks.
func appendCommand(b []byte, cmd *mqsc.Command) ([]byte, error) {
	text := cmd.String()
	if len(text) > maxCommand {
		return nil, fmt.Errorf("command of %d bytes, the limit is %d", len(text), maxCommand)
	}
	return wire.AppendString(b, text), nil
}

func readCommand(r *wire.Reader) (qmgr.Request, error) {
	text := r.String()
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(text) > maxCommand {
		return nil, fmt.Errorf("command of %d bytes, the limit is %d", len(text), maxCommand)
	}
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		return nil, fmt.Errorf("command: %w", bad)
	}
	return qmgr.CommandReq{Command: cmd}, nil
}

func appendMove(b []byte, q *qmgr.MoveReq) []byte {
	b = wire.AppendString(b, q.From)
	b = wire.AppendString(b, q.To)
	b = wire.AppendInt(b, int64(q.Max))
	b = wire.AppendInt(b, int64(q.After.Priority))
	b = wire.AppendUint(b, q.After.Seq)
	b = wire.AppendBool(b, q.After.Valid)
	b = wire.AppendUint(b, q.Until)
	b = wire.AppendBool(b, q.EvenIfBound)
	b = wire.AppendBool(b, q.DryRun)
	b = wire.AppendInt(b, int64(q.Group))
	b = wire.AppendUint(b, uint64(len(q.Skip)))
	for i := range q.Skip {
		b = appendMoveKey(b, &q.Skip[i])
	}
	return b
}

func readMove(r *wire.Reader) qmgr.MoveReq {
	q := qmgr.MoveReq{
		From: r.String(), To: r.String(), Max: int(r.Int32()),
		After: qmgr.MoveCursor{Priority: r.Int32(), Seq: r.Uint(), Valid: r.Bool()},
		Until: r.Uint(), EvenIfBound: r.Bool(), DryRun: r.Bool(), Group: int(r.Int32()),
	}
	if n := r.Count(2*len(mqi.MsgId{}) + 1); n > 0 {
		q.Skip = make([]qmgr.MoveKey, n)
		for i := range q.Skip {
			readMoveKey(r, &q.Skip[i])
		}
	}
	return q
}

func appendMoveKey(b []byte, k *qmgr.MoveKey) []byte {
	b = append(b, k.MsgId[:]...)
	b = append(b, k.CorrelId[:]...)
	return wire.AppendInt(b, k.PutDateTime)
}

func readMoveKey(r *wire.Reader, k *qmgr.MoveKey) {
	r.Fixed(k.MsgId[:])
	r.Fixed(k.CorrelId[:])
	k.PutDateTime = r.Int()
}

func appendInstances(b []byte, q *qmgr.InstancesReq) []byte {
	b = appendStrings(b, q.Queues)
	b = wire.AppendUint(b, q.Since)
	return wire.AppendBool(b, q.Subscribe)
}

func readInstances(r *wire.Reader) qmgr.InstancesReq {
	return qmgr.InstancesReq{Queues: readStrings(r), Since: r.Uint(), Subscribe: r.Bool()}
}

func appendStrings(b []byte, list []string) []byte {
	b = wire.AppendUint(b, uint64(len(list)))
	for _, s := range list {
		b = wire.AppendString(b, s)
	}
	return b
}

func readStrings(r *wire.Reader) []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.String()
	}
	return list
}
