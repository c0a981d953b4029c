package mqengine

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// resultKind says what a reply carries after its codes.
type resultKind byte

const (
	resultNone resultKind = iota
	resultOpen
	resultPut
	resultGet
	resultCommand
	resultMove
	resultInstances
	resultSample
	resultExplain
)

// reply is an answer as the caller sees it, in this process or from the socket.
type reply struct {
	tag      uint64
	compCode mqi.CompCode
	reason   mqi.Reason
	detail   string
	result   any    // as qmgr.Reply, or *sampleRows
	body     []byte // of a message that was got
}

// interner gives one string for equal bytes, so that the same queue name in
// every answer costs no memory. It keeps a bounded number. Not safe for concurrent use.
type interner map[string]string

func (in interner) string(b []byte) string {
	if s, ok := in[string(b)]; ok {
		return s
	}
	if len(in) >= 64 {
		clear(in)
	}
	s := string(b)
	in[s] = s
	return s
}

// appendReply appends the frame of an answer, all but the body of a message,
// which follows everything else.
func appendReply(b []byte, rep *reply) ([]byte, error) {
	b = appendHead(b, kindReply, rep.tag)
	b = append(b, byte(rep.compCode))
	b = wire.AppendInt(b, int64(rep.reason))
	b = wire.AppendString(b, rep.detail)
	switch res := rep.result.(type) {
	case nil:
		return append(b, byte(resultNone)), nil
	case qmgr.PutResult:
		return appendPutResult(append(b, byte(resultPut)), &res), nil
	case *qmgr.GetResult:
		return appendGetResult(append(b, byte(resultGet)), res), nil
	case qmgr.OpenResult:
		b = wire.AppendUint(append(b, byte(resultOpen)), uint64(res.Handle))
		b = wire.AppendString(b, res.ResolvedQName)
		return wire.AppendString(b, res.ResolvedQMgrName), nil
	case mqsc.Result:
		return appendCommandResult(append(b, byte(resultCommand)), &res), nil
	case *qmgr.MoveResult:
		return appendMoveResult(append(b, byte(resultMove)), res), nil
	case *qmgr.InstancesResult:
		return appendInstancesResult(append(b, byte(resultInstances)), res), nil
	case *qmgr.Explanation:
		return appendExplanation(append(b, byte(resultExplain)), res)
	case *sampleRows:
		return res.append(append(b, byte(resultSample))), nil
	}
	return nil, fmt.Errorf("result %T cannot travel", rep.result)
}

// decodeAnswer reads a frame of the server: a reply, or the events of a watch.
func decodeAnswer(frame []byte, names interner) (rep reply, list []Change, err error) {
	r := wire.NewReader(frame)
	switch k := kind(r.Byte()); {
	case r.Err() != nil:
		return reply{}, nil, r.Err()
	case k == kindReply:
		rep, err = decodeReply(r, names)
		return rep, nil, err
	case k == kindChange:
		_, list, err = decodeChanges(r)
		return reply{}, list, err
	default:
		return reply{}, nil, fmt.Errorf("%w %d", errUnknownKind, k)
	}
}

// decodeReply reads an answer whose kind byte was read already. The body aliases the frame.
func decodeReply(r *wire.Reader, names interner) (reply, error) {
	rep := reply{tag: r.Uint(), compCode: mqi.CompCode(r.Byte()), reason: mqi.Reason(r.Int32()), detail: r.String()}
	if rep.compCode > mqi.MQCC_FAILED {
		return rep, fmt.Errorf("reply with completion code %d", rep.compCode)
	}
	k := resultKind(r.Byte())
	if r.Err() != nil {
		return rep, r.Err()
	}
	switch k {
	case resultNone:
	case resultPut:
		rep.result = readPutResult(r, names)
	case resultGet:
		res, err := readGetResult(r, names)
		if err != nil {
			return rep, err
		}
		rep.result, rep.body = res, r.Rest()
	case resultOpen:
		rep.result = qmgr.OpenResult{Handle: readHandle(r), ResolvedQName: r.String(), ResolvedQMgrName: r.String()}
	case resultCommand:
		rep.result = readCommandResult(r)
	case resultMove:
		rep.result = readMoveResult(r)
	case resultInstances:
		rep.result = readInstancesResult(r)
	case resultSample:
		rep.result = readSampleRows(r)
	case resultExplain:
		res, err := readExplanation(r)
		if err != nil {
			return rep, err
		}
		rep.result = res
	default:
		return rep, fmt.Errorf("reply with a result of unknown kind %d", k)
	}
	return rep, r.Done()
}

func appendPutResult(b []byte, res *qmgr.PutResult) []byte {
	b = append(b, res.MsgId[:]...)
	b = append(b, res.CorrelId[:]...)
	b = wire.AppendInt(b, res.PutDateTime)
	b = wire.AppendInt(b, int64(res.Priority))
	b = wire.AppendInt(b, int64(res.Persistence))
	b = wire.AppendString(b, res.ResolvedQName)
	b = wire.AppendString(b, res.ResolvedQMgrName)
	grouped := !res.GroupId.IsZero()
	b = wire.AppendBool(b, grouped)
	if grouped {
		b = append(b, res.GroupId[:]...)
	}
	for _, v := range [...]int32{res.MsgSeqNumber, res.Offset, res.MsgFlags} {
		b = wire.AppendInt(b, int64(v))
	}
	return b
}

func readPutResult(r *wire.Reader, names interner) qmgr.PutResult {
	var res qmgr.PutResult
	r.Fixed(res.MsgId[:])
	r.Fixed(res.CorrelId[:])
	res.PutDateTime = r.Int()
	res.Priority = r.Int32()
	res.Persistence = r.Int32()
	res.ResolvedQName = names.string(r.Bytes())
	res.ResolvedQMgrName = names.string(r.Bytes())
	if r.Bool() {
		r.Fixed(res.GroupId[:])
	}
	res.MsgSeqNumber, res.Offset, res.MsgFlags = r.Int32(), r.Int32(), r.Int32()
	return res
}

// appendGetResult leaves Body out: its bytes follow as the rest of the frame.
func appendGetResult(b []byte, res *qmgr.GetResult) []byte {
	b = appendMD(b, &res.MD)
	b = appendProps(b, res.Props)
	b = wire.AppendUint(b, uint64(max(res.Length, 0)))
	return wire.AppendString(b, res.ResolvedQName)
}

func readGetResult(r *wire.Reader, names interner) (*qmgr.GetResult, error) {
	res := new(qmgr.GetResult)
	if err := readMD(r, &res.MD); err != nil {
		return nil, err
	}
	res.Props = readProps(r)
	res.Length = int(r.Uint() & (1<<31 - 1))
	res.ResolvedQName = names.string(r.Bytes())
	return res, r.Err()
}

func appendCommandResult(b []byte, res *mqsc.Result) []byte {
	b = wire.AppendBool(b, res.Failed)
	b = wire.AppendUint(b, uint64(len(res.Responses)))
	for i := range res.Responses {
		resp := &res.Responses[i]
		b = wire.AppendString(b, resp.ID)
		b = wire.AppendString(b, resp.Text)
		b = wire.AppendUint(b, uint64(len(resp.Fields)))
		for _, f := range resp.Fields {
			b = wire.AppendString(b, f.Key)
			b = wire.AppendBool(b, f.Bare)
			b = appendStrings(b, f.Values)
		}
	}
	return b
}

func readCommandResult(r *wire.Reader) mqsc.Result {
	res := mqsc.Result{Failed: r.Bool()}
	res.Responses = make([]mqsc.Response, r.Count(3))
	for i := range res.Responses {
		resp := &res.Responses[i]
		resp.ID, resp.Text = r.String(), r.String()
		if n := r.Count(3); n > 0 {
			resp.Fields = make([]mqsc.Field, n)
			for j := range resp.Fields {
				resp.Fields[j] = mqsc.Field{Key: r.String(), Bare: r.Bool(), Values: readStrings(r)}
			}
		}
	}
	return res
}

func appendMoveResult(b []byte, res *qmgr.MoveResult) []byte {
	b = wire.AppendUint(b, uint64(len(res.Moved)))
	for i := range res.Moved {
		b = appendMoveKey(b, &res.Moved[i].Key)
		b = wire.AppendString(b, res.Moved[i].QMgr)
	}
	for _, n := range []int{res.Addressed, res.Bound, res.Grouped, res.Poison, res.Returned, res.Depth, res.Uncom, res.Readers} {
		b = wire.AppendInt(b, int64(n))
	}
	b = wire.AppendString(b, res.Stopped)
	b = wire.AppendInt(b, int64(res.Reason))
	b = wire.AppendInt(b, int64(res.Next.Priority))
	b = wire.AppendUint(b, res.Next.Seq)
	b = wire.AppendBool(b, res.Next.Valid)
	b = wire.AppendUint(b, res.Horizon)
	b = wire.AppendUint(b, res.Arrived)
	b = wire.AppendUint(b, res.Expired)
	b = wire.AppendInt(b, int64(res.Held))
	b = wire.AppendInt(b, int64(res.Dead))
	return wire.AppendBool(b, res.More)
}

func readMoveResult(r *wire.Reader) *qmgr.MoveResult {
	res := new(qmgr.MoveResult)
	if n := r.Count(2*len(mqi.MsgId{}) + 2); n > 0 {
		res.Moved = make([]qmgr.Moved, n)
		for i := range res.Moved {
			readMoveKey(r, &res.Moved[i].Key)
			res.Moved[i].QMgr = r.String()
		}
	}
	for _, n := range []*int{&res.Addressed, &res.Bound, &res.Grouped, &res.Poison, &res.Returned, &res.Depth, &res.Uncom, &res.Readers} {
		*n = int(r.Int32())
	}
	res.Stopped = r.String()
	res.Reason = mqi.Reason(r.Int32())
	res.Next = qmgr.MoveCursor{Priority: r.Int32(), Seq: r.Uint(), Valid: r.Bool()}
	res.Horizon, res.Arrived, res.Expired = r.Uint(), r.Uint(), r.Uint()
	res.Held, res.Dead = int(r.Int32()), int(r.Int32())
	res.More = r.Bool()
	return res
}

func appendInstancesResult(b []byte, res *qmgr.InstancesResult) []byte {
	b = wire.AppendUint(b, res.Revision)
	b = wire.AppendBool(b, res.Unchanged)
	b = wire.AppendBool(b, res.Repository)
	b = wire.AppendUint(b, uint64(len(res.Known)))
	for _, known := range res.Known {
		b = wire.AppendBool(b, known)
	}
	b = wire.AppendUint(b, uint64(len(res.Instances)))
	for i := range res.Instances {
		in := &res.Instances[i]
		for _, s := range []string{in.Queue, in.Cluster, in.QMgr, in.QMID, in.Type, in.DefBind, in.Channel} {
			b = wire.AppendString(b, s)
		}
		for _, n := range []int{in.Rank, in.Prty, in.ChlRank, in.ChlPrty, int(in.Status)} {
			b = wire.AppendInt(b, int64(n))
		}
		for _, v := range []bool{in.Local, in.Put, in.Suspended, in.Usable} {
			b = wire.AppendBool(b, v)
		}
	}
	return b
}

func readInstancesResult(r *wire.Reader) *qmgr.InstancesResult {
	res := &qmgr.InstancesResult{Revision: r.Uint(), Unchanged: r.Bool(), Repository: r.Bool()}
	if n := r.Count(1); n > 0 {
		res.Known = make([]bool, n)
		for i := range res.Known {
			res.Known[i] = r.Bool()
		}
	}
	if n := r.Count(16); n > 0 {
		res.Instances = make([]qmgr.Instance, n)
		for i := range res.Instances {
			readInstance(r, &res.Instances[i])
		}
	}
	return res
}

func readInstance(r *wire.Reader, in *qmgr.Instance) {
	for _, s := range []*string{&in.Queue, &in.Cluster, &in.QMgr, &in.QMID, &in.Type, &in.DefBind, &in.Channel} {
		*s = r.String()
	}
	for _, n := range []*int{&in.Rank, &in.Prty, &in.ChlRank, &in.ChlPrty} {
		*n = int(r.Int32())
	}
	in.Status = mqi.ChannelStatus(r.Int32())
	for _, v := range []*bool{&in.Local, &in.Put, &in.Suspended, &in.Usable} {
		*v = r.Bool()
	}
}
