package adapt

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/redistribute"
)

// fate is what has to become of a message. The checker knows nothing of how
// messages are moved, only what was put and what design section 8 says of it.
type fate string

const (
	goes      fate = "goes"
	addressed fate = "addressed"
	bound     fate = "bound"
	grouped   fate = "grouped"
	poison    fate = "poison"
	returned  fate = "returned"
	foreign   fate = "uncommitted" // goes when the others' unit of work is over
	dies      fate = "dies"        // expires, wherever it is by then
)

// subject is one message that was put, by the number that its body begins with.
type subject struct {
	fate    fate
	family  int // number of its group or segmented message, 0 for none
	msg     mqengine.Message
	put     func(*mqengine.Message) error
	backs   int32 // how often it is backed out
	gotten  bool  // an application has it in a unit of work
	unended bool  // its put is not committed
	expires time.Time
}

// population is every message of a test.
type population struct {
	t        *testing.T
	p        *pair
	rng      *rand.Rand
	subjects []*subject
	families int

	free, fixed    mqengine.Handle
	putter, getter mqengine.Conn // applications whose units of work stay open
	putterFree     mqengine.Handle
}

func newPopulation(t *testing.T, p *pair, seed uint64) *population {
	t.Helper()
	const options = mqi.MQOO_OUTPUT | mqi.MQOO_SET_ALL_CONTEXT
	x := &population{t: t, p: p, rng: rand.New(rand.NewPCG(seed, seed))}
	x.free = open(t, p.c2, "DCQ1", options|mqi.MQOO_BIND_NOT_FIXED)
	x.fixed = open(t, p.c2, "DCQ1", options|mqi.MQOO_BIND_ON_OPEN)
	x.putter, x.getter = appl(t, p.qm2, token), appl(t, p.qm2, token)
	x.putterFree = open(t, x.putter, "DCQ1", options|mqi.MQOO_BIND_NOT_FIXED)
	return x
}

// draw makes n messages of every kind, in an order of its own.
func (x *population) draw(n int) {
	var queue []*subject
	for len(queue) < n {
		switch r := x.rng.IntN(100); {
		case r < 60:
			queue = append(queue, x.one(goes))
		case r < 64:
			queue = append(queue, x.one(addressed))
		case r < 68:
			queue = append(queue, x.one(bound))
		case r < 71:
			queue = append(queue, x.one(poison))
		case r < 73:
			s := x.one(goes) // backed out, but not too often
			s.backs = 1
			queue = append(queue, s)
		case r < 75:
			queue = append(queue, x.one(returned))
		case r < 77:
			queue = append(queue, x.one(foreign))
		case r < 80:
			s := x.one(goes) // lives long enough
			s.msg.MD.Expiry = int32(36_000 + x.rng.IntN(100_000))
			queue = append(queue, s)
		case r < 94:
			queue = append(queue, x.group()...)
		default:
			queue = append(queue, x.segments()...)
		}
	}
	x.rng.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
	x.subjects = queue
}

// one is a message with a descriptor, properties and body of its own.
func (x *population) one(f fate) *subject {
	md := mqi.NewMD()
	md.Priority, md.Persistence = int32(x.rng.IntN(10)), int32(x.rng.IntN(2))
	md.MsgType = []int32{mqi.MQMT_DATAGRAM, mqi.MQMT_REQUEST, mqi.MQMT_REPLY}[x.rng.IntN(3)]
	md.Report = []int32{0, mqi.MQRO_PAN | mqi.MQRO_NAN, mqi.MQRO_PASS_MSG_ID | mqi.MQRO_PASS_CORREL_ID, mqi.MQRO_EXCEPTION | mqi.MQRO_DISCARD_MSG}[x.rng.IntN(4)]
	md.Format = []string{"", "MQSTR", "ORDER"}[x.rng.IntN(3)]
	md.Encoding, md.CodedCharSetId = []int32{546, 273}[x.rng.IntN(2)], []int32{1208, 850}[x.rng.IntN(2)]
	md.ReplyToQ, md.ReplyToQMgr = "ANSWERS", []string{"QM1", "QM9"}[x.rng.IntN(2)]
	md.UserIdentifier, md.ApplIdentityData = fmt.Sprint("user", x.rng.IntN(50)), "identity"
	md.PutApplName, md.PutApplType, md.ApplOriginData = "orders", 6, "orig"
	md.AccountingToken[3] = byte(x.rng.IntN(256))
	md.PutDateTime = time.Now().Add(-time.Duration(x.rng.IntN(1_000_000)) * time.Second).UnixMilli()
	for _, id := range []*mqi.MsgId{&md.MsgId, &md.CorrelId} {
		for i := range id {
			id[i] = byte(x.rng.IntN(256))
		}
	}
	if x.rng.IntN(4) == 0 {
		md.CorrelId = mqi.MsgId{}
	}
	s := &subject{fate: f, msg: mqengine.Message{MD: md, Body: x.body(x.rng.IntN(300))}}
	for i := range x.rng.IntN(3) {
		s.msg.Props = append(s.msg.Props, mqi.Property{Name: fmt.Sprint("p", i), Type: 's', Value: x.body(x.rng.IntN(20))})
	}
	switch f {
	case addressed:
		s.put = func(m *mqengine.Message) error {
			_, err := x.p.c2.Put1(context.Background(), mqi.OD{ObjectName: "DCQ1", ObjectQMgrName: "QM2"}, m, x.pmo())
			return err
		}
	case bound:
		s.put = x.through(x.p.c2, x.fixed)
	case foreign:
		s.put = x.through(x.p.c2, x.free)
		if s.unended = x.rng.IntN(2) == 0; s.unended {
			s.put = x.through(x.putter, x.putterFree)
		} else {
			s.gotten, s.backs = true, 1
		}
	case poison:
		s.backs = 2 + int32(x.rng.IntN(2))
		s.put = x.through(x.p.c2, x.free)
	default:
		s.put = x.through(x.p.c2, x.free)
	}
	return s
}

func (x *population) body(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(x.rng.IntN(256))
	}
	return b
}

func (x *population) pmo() mqi.PMO {
	return mqi.PMO{Options: mqi.MQPMO_SYNCPOINT | mqi.MQPMO_SET_ALL_CONTEXT}
}

func (x *population) through(conn mqengine.Conn, h mqengine.Handle) func(*mqengine.Message) error {
	return func(m *mqengine.Message) error {
		_, err := conn.Put(context.Background(), h, m, x.pmo())
		return err
	}
}

// group is a group of some length. Of two in three nothing keeps it from going;
// the others lack a message, have one twice, or have one that must stay.
func (x *population) group() []*subject {
	n := 1 + x.rng.IntN(8)
	if x.rng.IntN(20) == 0 {
		n = redistribute.UnitSize + x.rng.IntN(40) // longer than a unit of work
	}
	x.families++
	var id mqi.MsgId
	binary.BigEndian.PutUint64(id[:], uint64(x.families))
	list := make([]*subject, n)
	for i := range list {
		s := x.one(goes)
		s.family = x.families
		s.msg.MD.GroupId, s.msg.MD.MsgSeqNumber, s.msg.MD.MsgFlags = id, int32(i+1), mqi.MQMF_MSG_IN_GROUP
		list[i] = s
	}
	list[n-1].msg.MD.MsgFlags |= mqi.MQMF_LAST_MSG_IN_GROUP
	at := x.rng.IntN(n)
	switch f := x.rng.IntN(24); {
	case f == 0: // the last message is missing; of one alone that is the flag
		list[n-1].msg.MD.MsgFlags = mqi.MQMF_MSG_IN_GROUP
	case f == 1 && n > 1:
		list = append(list[:at:at], list[at+1:]...)
	case f == 2: // one of them twice
		twin := x.one(grouped)
		twin.family, twin.msg.MD.GroupId = x.families, id
		twin.msg.MD.MsgSeqNumber, twin.msg.MD.MsgFlags = list[at].msg.MD.MsgSeqNumber, list[at].msg.MD.MsgFlags
		list = append(list, twin)
	case f >= 3 && f <= 7:
		s := x.one([]fate{addressed, bound, poison, returned, foreign}[f-3])
		s.family, s.msg.MD.GroupId = x.families, id
		s.msg.MD.MsgSeqNumber, s.msg.MD.MsgFlags = list[at].msg.MD.MsgSeqNumber, list[at].msg.MD.MsgFlags
		list[at] = s
		if s.fate == foreign { // it is whole once the others' unit of work is over
			for _, m := range list {
				m.fate = foreign
			}
			return list
		}
	default:
		return list
	}
	return stays(list)
}

// segments is a message in segments, now and then with one missing.
func (x *population) segments() []*subject {
	x.families++
	var id mqi.MsgId
	binary.BigEndian.PutUint64(id[8:], uint64(x.families))
	list := make([]*subject, 2+x.rng.IntN(3))
	offset := 0
	for i := range list {
		s := x.one(goes)
		s.family, s.msg.Body = x.families, x.body(20)
		s.msg.MD.GroupId, s.msg.MD.Offset, s.msg.MD.MsgFlags = id, int32(offset), mqi.MQMF_SEGMENT
		offset += 8 + len(s.msg.Body) // the number in front of it
		list[i] = s
	}
	list[len(list)-1].msg.MD.MsgFlags = mqi.MQMF_LAST_SEGMENT
	if x.rng.IntN(3) == 0 {
		at := x.rng.IntN(len(list))
		return stays(append(list[:at:at], list[at+1:]...))
	}
	return list
}

// stays says of a family that it stays, each member for its own reason if it has one.
func stays(list []*subject) []*subject {
	for _, s := range list {
		if s.fate == goes {
			s.fate = grouped
		}
	}
	return list
}

// put puts everything, and gives each message its number and what else makes it
// what it is. Then the units of work of others are open.
func (x *population) put() {
	x.t.Helper()
	ctx := context.Background()
	for i, s := range x.subjects {
		s.msg.Body = append(binary.BigEndian.AppendUint64(nil, uint64(i)), s.msg.Body...)
		m := s.msg
		if err := s.put(&m); err != nil {
			x.t.Fatalf("put of message %d (%s): %v", i, s.fate, err)
		}
		if i%500 == 499 {
			x.commit()
		}
	}
	x.commit()
	for round := int32(0); round < 3; round++ {
		x.backOut(ctx, func(s *subject) bool { return !s.gotten && s.backs > round })
	}
	h := open(x.t, x.getter, "DCQ1", mqi.MQOO_INPUT_SHARED)
	for _, s := range x.subjects {
		if s.gotten {
			x.get(x.getter, h, s)
		}
	}
	if err := x.getter.Close(ctx, h, 0); err != nil {
		x.t.Fatal(err)
	}
}

func (x *population) commit() {
	if err := x.p.c2.Commit(context.Background()); err != nil {
		x.t.Fatal(err)
	}
}

// backOut gets messages in a unit of work and backs it out.
func (x *population) backOut(ctx context.Context, which func(*subject) bool) {
	h := open(x.t, x.p.c2, "DCQ1", mqi.MQOO_INPUT_SHARED)
	n := 0
	back := func() {
		if err := x.p.c2.Back(ctx); err != nil {
			x.t.Fatal(err)
		}
	}
	for _, s := range x.subjects {
		if !which(s) {
			continue
		}
		x.get(x.p.c2, h, s)
		if n++; n%1000 == 0 {
			back()
		}
	}
	back()
	if err := x.p.c2.Close(ctx, h, 0); err != nil {
		x.t.Fatal(err)
	}
}

func (x *population) get(conn mqengine.Conn, h mqengine.Handle, s *subject) {
	md := mqi.NewMD()
	md.MsgId = s.msg.MD.MsgId
	m, err := conn.Get(context.Background(), h, md, mqi.GMO{Options: mqi.MQGMO_SYNCPOINT, MatchOptions: mqi.MQMO_MATCH_MSG_ID, MaxLength: -1})
	if err != nil || number(m) != number(&s.msg) {
		x.t.Fatalf("get of message %d: %v", number(&s.msg), err)
	}
}

func number(m *mqengine.Message) int { return int(binary.BigEndian.Uint64(m.Body)) }

// mortals adds n messages that expire: some at once, some while messages move.
func (x *population) mortals(n int, longest time.Duration) {
	x.t.Helper()
	first := len(x.subjects)
	for i := range n {
		s := x.one(dies)
		life := time.Duration(1+x.rng.IntN(2)) * 100 * time.Millisecond
		if i%2 == 0 && i < n-1 {
			life = 100*time.Millisecond + time.Duration(x.rng.Int64N(int64(longest)))
		}
		s.msg.MD.Expiry = int32(life / (100 * time.Millisecond))
		s.msg.Body = append(binary.BigEndian.AppendUint64(nil, uint64(first+i)), s.msg.Body...)
		s.expires = time.Now().Add(life)
		m := s.msg
		if err := s.put(&m); err != nil {
			x.t.Fatal(err)
		}
		x.subjects = append(x.subjects, s)
		if i%500 == 499 {
			x.commit()
		}
	}
	x.commit()
}

// count is how many messages have a fate.
func (x *population) count(which func(*subject) bool) int {
	n := 0
	for _, s := range x.subjects {
		if which(s) {
			n++
		}
	}
	return n
}

func (x *population) with(f fate) int { return x.count(func(s *subject) bool { return s.fate == f }) }
