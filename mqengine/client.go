package mqengine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// port is how the calls of one connection reach their queue manager: straight
// into its mailbox, or over a socket.
type port interface {
	// roundTrip sends a request and waits for its answer. ctx ends the wait; a
	// call that the machine can cancel is cancelled first.
	roundTrip(ctx context.Context, req qmgr.Request, body []byte) (reply, error)
	sample(ctx context.Context, since uint64) (*Sample, error)
	watch(ctx context.Context) (<-chan Change, error)
	names() (qmgr, qmid string)
	// disconnect commits, tells the queue manager and waits; after it every call fails.
	disconnect(ctx context.Context) error
}

// client is a Conn over any port: it turns answers into results and errors.
type client struct {
	port

	mu      sync.Mutex
	objects map[Handle]string // for error texts
}

var _ Conn = (*client)(nil)

func newClient(p port) *client { return &client{port: p, objects: make(map[Handle]string)} }

func (c *client) Open(ctx context.Context, od mqi.OD, options int32) (Handle, qmgr.OpenResult, error) {
	rep, err := c.do(ctx, "MQOPEN", od.ObjectName, qmgr.OpenReq{OD: od, Options: options, Selection: od.SelectionString})
	if err != nil {
		return 0, qmgr.OpenResult{}, err
	}
	res, ok := rep.result.(qmgr.OpenResult)
	if !ok {
		return 0, qmgr.OpenResult{}, noResult("MQOPEN", od.ObjectName)
	}
	c.mu.Lock()
	c.objects[res.Handle] = od.ObjectName
	c.mu.Unlock()
	return res.Handle, res, nil
}

func (c *client) Close(ctx context.Context, h Handle, options int32) error {
	_, err := c.do(ctx, "MQCLOSE", c.object(h), qmgr.CloseReq{Handle: h, Options: options})
	if err == nil {
		c.mu.Lock()
		delete(c.objects, h)
		c.mu.Unlock()
	}
	return err
}

func (c *client) Put(ctx context.Context, h Handle, msg *Message, pmo mqi.PMO) (qmgr.PutResult, error) {
	if h == 0 {
		return qmgr.PutResult{}, mqi.Errorf("MQPUT", "", mqi.MQRC_HOBJ_ERROR, "handle 0 is never open")
	}
	return c.put(ctx, "MQPUT", &qmgr.PutReq{Handle: h, MD: msg.MD, PMO: pmo, Props: msg.Props}, msg.Body)
}

func (c *client) Put1(ctx context.Context, od mqi.OD, msg *Message, pmo mqi.PMO) (qmgr.PutResult, error) {
	return c.put(ctx, "MQPUT1", &qmgr.PutReq{OD: od, MD: msg.MD, PMO: pmo, Props: msg.Props}, msg.Body)
}

func (c *client) put(ctx context.Context, op string, req *qmgr.PutReq, body []byte) (qmgr.PutResult, error) {
	rep, err := c.roundTrip(ctx, req, body)
	res, ok := rep.result.(qmgr.PutResult)
	if err == nil && ok && rep.compCode == mqi.MQCC_OK {
		return res, nil
	}
	object := req.OD.ObjectName
	if req.Handle != 0 {
		object = c.object(req.Handle)
	}
	if err := callError(op, object, &rep, err); err != nil {
		return res, err // a warning has a result
	}
	return qmgr.PutResult{}, noResult(op, object)
}

func (c *client) Get(ctx context.Context, h Handle, md mqi.MD, gmo mqi.GMO) (*Message, error) {
	rep, err := c.roundTrip(ctx, &qmgr.GetReq{Handle: h, MD: md, GMO: gmo}, nil)
	if err != nil || rep.compCode != mqi.MQCC_OK {
		err = callError("MQGET", c.object(h), &rep, err)
	}
	res, ok := rep.result.(*qmgr.GetResult)
	if !ok {
		if err == nil {
			err = noResult("MQGET", c.object(h))
		}
		return nil, err
	}
	return &Message{MD: res.MD, Props: res.Props, Body: rep.body, Length: res.Length}, err
}

func (c *client) Commit(ctx context.Context) error {
	_, err := c.do(ctx, "MQCMIT", "", qmgr.CommitReq{})
	return err
}

func (c *client) Back(ctx context.Context) error {
	_, err := c.do(ctx, "MQBACK", "", qmgr.BackReq{})
	return err
}

func (c *client) Command(ctx context.Context, cmd *mqsc.Command) (mqsc.Result, error) {
	rep, err := c.do(ctx, "MQSC", cmd.Name, qmgr.CommandReq{Command: cmd})
	if err != nil {
		return mqsc.Result{}, err
	}
	res, ok := rep.result.(mqsc.Result)
	if !ok {
		return mqsc.Result{}, noResult("MQSC", cmd.Name)
	}
	return res, nil
}

func (c *client) Move(ctx context.Context, req qmgr.MoveReq) (*qmgr.MoveResult, error) {
	rep, err := c.do(ctx, "MOVE", req.From, req)
	if err != nil {
		return nil, err
	}
	res, ok := rep.result.(*qmgr.MoveResult)
	if !ok {
		return nil, noResult("MOVE", req.From)
	}
	return res, nil
}

func (c *client) Instances(ctx context.Context, req qmgr.InstancesReq) (*qmgr.InstancesResult, error) {
	rep, err := c.do(ctx, "INSTANCES", "", req)
	if err != nil {
		return nil, err
	}
	res, ok := rep.result.(*qmgr.InstancesResult)
	if !ok {
		return nil, noResult("INSTANCES", "")
	}
	return res, nil
}

func (c *client) Sample(ctx context.Context, since uint64) (*Sample, error) {
	return c.sample(ctx, since)
}

func (c *client) Watch(ctx context.Context) (<-chan Change, error) { return c.watch(ctx) }

func (c *client) QMgr() (name, qmid string) { return c.names() }

func (c *client) Disconnect(ctx context.Context) error {
	if err := c.disconnect(ctx); err != nil {
		return fmt.Errorf("MQDISC: %w", err)
	}
	return nil
}

// do is a round trip whose failed answer is an error.
func (c *client) do(ctx context.Context, op, object string, req qmgr.Request) (reply, error) {
	rep, err := c.roundTrip(ctx, req, nil)
	return rep, callError(op, object, &rep, err)
}

func (c *client) object(h Handle) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.objects[h]
}

// callError is the error of a call: that of the way there, or the answer's.
func callError(op, object string, rep *reply, err error) error {
	if err == nil {
		if rep.compCode == mqi.MQCC_OK {
			return nil
		}
		return &mqi.Error{CompCode: rep.compCode, Reason: rep.reason, Op: op, Object: object, Detail: rep.detail}
	}
	var lost *mqi.Error
	if errors.As(err, &lost) {
		e := *lost
		e.Op, e.Object = op, object
		return &e
	}
	return fmt.Errorf("%s %s: %w", op, object, err)
}

func noResult(op, object string) error {
	return mqi.Errorf(op, object, mqi.MQRC_UNEXPECTED_ERROR, "the queue manager's answer lacks its result")
}
