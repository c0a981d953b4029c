package adapt

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/redistribute"
	"github.com/situationd/situationd/situations"
)

// definitionEvery is how long a look trusts the definition that it read: a run
// looks after every unit of work, and definitions change by hand.
const definitionEvery = time.Second

// endOfQueue is behind every message: a look has no use for any of them.
var endOfQueue = qmgr.MoveCursor{Seq: math.MaxUint64 - 1, Valid: true}

// movingQueue is the queue of one order, as the engine's MOVE takes messages
// off it.
type movingQueue struct {
	link  *Link
	order actions.Order

	mu   sync.Mutex // one look reads the definition, those beside it wait
	read moveDefinition
}

// moveDefinition is what the definition says of moving.
type moveDefinition struct {
	at            time.Time
	useQ, defBind string
	getOff        bool
}

var _ redistribute.Queue = (*movingQueue)(nil)

// InFlight: the engine carries units out one after the other in the order in
// which they were asked for, so several may wait for their sync together.
func (q *movingQueue) InFlight() int { return redistribute.MaxInFlight }

// Look reads depth and readers without moving anything, the instances that
// could be chosen, and now and then the definition.
func (q *movingQueue) Look(ctx context.Context) (redistribute.State, error) {
	conn, _, err := q.link.Conn()
	if err != nil {
		return redistribute.State{}, err
	}
	def, err := q.readDefinition(ctx)
	if err != nil {
		return redistribute.State{}, err
	}
	dry, err := conn.Move(ctx, qmgr.MoveReq{From: q.order.Base, To: q.order.Queue, Max: 1, After: endOfQueue, DryRun: true})
	if err != nil {
		return redistribute.State{}, unavailable(q.link, conn, err)
	}
	state := redistribute.State{
		Depth: dry.Depth, Uncommitted: dry.Uncom, Readers: dry.Readers,
		UseQ: def.useQ, GetDisabled: def.getOff, DefBind: def.defBind,
		BindShown: true, // the engine's message headers carry the bind type
		Horizon:   dry.Horizon, Arrived: dry.Arrived, Expired: dry.Expired,
	}
	state.Ready, state.ReadyKnown, err = q.ready(ctx, conn)
	return state, err
}

// ready counts the instances that could be chosen with the rule's lever down.
func (q *movingQueue) ready(ctx context.Context, conn mqengine.Conn) (int, bool, error) {
	result, err := conn.Instances(ctx, qmgr.InstancesReq{Queues: []string{q.order.Queue}})
	if err != nil {
		return 0, false, unavailable(q.link, conn, err)
	}
	row := situations.Row{Queue: q.order.Queue, InstancesKnown: len(result.Known) > 0 && result.Known[0]}
	for i := range result.Instances {
		row.Instances = append(row.Instances, instance(&result.Instances[i]))
	}
	return actions.ReadyElsewhere(row, q.order.Lever), row.InstancesKnown, nil
}

// readDefinition reads what the definition says of moving: whether messages can
// be got, how handles are bound, and whether the choice looks at other instances.
func (q *movingQueue) readDefinition(ctx context.Context) (moveDefinition, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.read.at) < definitionEvery {
		return q.read, nil
	}
	manager := Manager{link: q.link}
	base, err := manager.ReadBack(ctx, q.order.Base, "QLOCAL", []string{"GET", "CLWLUSEQ"})
	if err != nil {
		return moveDefinition{}, err
	}
	advertised, err := manager.ReadBack(ctx, q.order.Queue, q.order.Type, []string{"DEFBIND"})
	if err != nil {
		return moveDefinition{}, err
	}
	def := moveDefinition{useQ: base[1].Value, defBind: advertised[0].Value, getOff: base[0].Value == "DISABLED"}
	if def.useQ == "QMGR" {
		own, err := manager.ReadBack(ctx, "", "QMGR", []string{"CLWLUSEQ"})
		if err != nil {
			return moveDefinition{}, err
		}
		def.useQ = own[0].Value
	}
	def.at = time.Now()
	q.read = def
	return def, nil
}

// MoveUnit moves one unit of work.
func (q *movingQueue) MoveUnit(ctx context.Context, u redistribute.Unit) (redistribute.Result, error) {
	conn, _, err := q.link.Conn()
	if err != nil {
		return redistribute.Result{}, err
	}
	req := qmgr.MoveReq{
		From: q.order.Base, To: q.order.Queue, Max: u.Max, Group: u.Group, Until: u.Until,
		After:       qmgr.MoveCursor{Priority: u.After.Priority, Seq: u.After.Seq, Valid: u.After.Valid},
		EvenIfBound: u.EvenIfBound, DryRun: u.DryRun,
	}
	for _, key := range u.Skip {
		req.Skip = append(req.Skip, qmgr.MoveKey{MsgId: key.MsgID, CorrelId: key.CorrelID, PutDateTime: key.PutDateTime})
	}
	moved, err := conn.Move(ctx, req)
	if err != nil {
		return redistribute.Result{}, fmt.Errorf("move from %s: %w", q.order.Base, unavailable(q.link, conn, err))
	}
	result := redistribute.Result{
		Held: moved.Held, Dead: moved.Dead,
		Stopped: moved.Stopped, Horizon: moved.Horizon, More: moved.More,
		Next: redistribute.Cursor{Priority: moved.Next.Priority, Seq: moved.Next.Seq, Valid: moved.Next.Valid},
		Skipped: redistribute.Skipped{
			Addressed: moved.Addressed, Bound: moved.Bound, Grouped: moved.Grouped,
			Poison: moved.Poison, Returned: moved.Returned,
		},
	}
	for _, m := range moved.Moved {
		result.Moved = append(result.Moved, redistribute.Sent{
			Key:  redistribute.Key{MsgID: m.Key.MsgId, CorrelID: m.Key.CorrelId, PutDateTime: m.Key.PutDateTime},
			QMgr: m.QMgr,
		})
	}
	return result, nil
}
