package mqengine

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/internal/samples"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// turnsMax is how many turns may be in flight. The committer writes all that
// wait as one batch, so at most two batches are: the one that is being written,
// and the one that gathers. With few turns, events that come during a sync would
// miss the next one: sixteen clients share a sync by 7 with sixteen turns, by 5 with three.
const turnsMax = 16

// turn is what one round of the actor wants done, and everything that its
// release needs, so that the release touches nothing of the actor's.
type turn struct {
	number uint64
	fx     qmgr.Effects
	bodies [][]byte   // per reply
	frames []outFrame // encoded
	rows   []*samples.Row
	old    []*samples.Row
	after  []func()
	fault  error // the turn could not be made: nothing of it may leave
	// written are the bytes of bodies that the turn writes.
	written int
	done    func(error) // made once, so that a submission costs no memory
}

type outFrame struct {
	link qmgr.LinkID
	data []byte
}

func (t *turn) reset() {
	t.fx.Reset()
	clear(t.bodies)
	clear(t.frames)
	clear(t.rows)
	clear(t.old)
	clear(t.after)
	t.fault, t.written = nil, 0
	t.bodies, t.frames, t.rows, t.old, t.after = t.bodies[:0], t.frames[:0], t.rows[:0], t.old[:0], t.after[:0]
}

// finish makes the turn independent of the actor: bodies of its unit, replies
// and frames become bytes, touched queues become rows.
func (t *turn) finish(m *qmgr.Machine, bodies *bodyTable) error {
	for _, c := range t.fx.Copies {
		if err := bodies.copyPart(c); err != nil {
			return err
		}
	}
	for i := range t.fx.Unit.Ops {
		op := &t.fx.Unit.Ops[i]
		if op.Kind == store.OpSetBody {
			var err error
			if op.Value, err = bodies.write(op.Body, t.number); err != nil {
				return err
			}
			t.written += len(op.Value)
		}
	}
	for i := range t.fx.Replies {
		data, err := replyBody(&t.fx.Replies[i], bodies)
		if err != nil {
			return err
		}
		t.bodies = append(t.bodies, data)
	}
	for i := range t.fx.Frames {
		if err := t.encode(&t.fx.Frames[i], bodies); err != nil {
			return err
		}
	}
	for i := range t.fx.Unit.Ops {
		if op := &t.fx.Unit.Ops[i]; op.Kind == store.OpDeleteBody {
			bodies.drop(op.Body)
		}
	}
	for _, id := range t.fx.Drop {
		bodies.drop(id)
	}
	t.touch(m)
	bodies.trim()
	return nil
}

// replyBody is the body that goes with a reply, cut to what the getter's buffer holds.
func replyBody(rep *qmgr.Reply, bodies *bodyTable) ([]byte, error) {
	res, ok := rep.Result.(*qmgr.GetResult)
	if !ok || res == nil {
		return nil, nil
	}
	data, err := res.Whole(func(ref qmgr.BodyRef) ([]byte, error) { return bodies.bytes(ref.ID) })
	if err != nil {
		return nil, fmt.Errorf("answer an MQGET: %w", err)
	}
	return data, nil
}

func (t *turn) encode(out *qmgr.FrameOut, bodies *bodyTable) error {
	var failed error
	data := channel.AppendFrame(nil, out.Frame, func(ref channel.BodyRef) []byte {
		b, err := bodies.bytes(ref.ID)
		if err != nil && failed == nil {
			failed = err
		}
		return b
	})
	if failed != nil {
		return fmt.Errorf("send a batch: %w", failed)
	}
	t.frames = append(t.frames, outFrame{out.Link, data})
	return nil
}

// touch makes a row of each queue whose status changed.
func (t *turn) touch(m *qmgr.Machine) {
	t.rows = samples.AppendTouched(t.rows, m, t.fx.Touched)
	for range t.rows {
		t.old = append(t.old, nil)
	}
}

// failedReply is what a caller gets whose turn could not be made durable.
func failedReply(tag uint64, err error) reply {
	return reply{
		tag: tag, compCode: mqi.MQCC_FAILED, reason: mqi.MQRC_UNEXPECTED_ERROR,
		detail: "the queue manager ends: " + err.Error(),
	}
}
