package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// move gets messages and puts them elsewhere; with -i it copies them. With the
// same queue on both sides it is how a person empties an instance that nobody
// reads: bounded by the depth at the start, with everything kept, and it stops
// when the cluster sends a message back here.
func (r *qRun) move(ctx context.Context) error {
	if r.context == 0 && r.movesToItself() {
		r.context = 'a'
	}
	r.settleContext()
	if err := r.openOutputs(ctx); err != nil {
		return err
	}
	bound := -1
	if slices.ContainsFunc(r.outs, func(o qOutput) bool { return o.same }) {
		var err error
		if bound, err = r.depth(ctx); err != nil {
			return err
		}
	}
	if err := r.openReplyQueue(ctx); err != nil {
		return err
	}
	var options int32
	if r.zeroMsgID && r.put.msg == nil {
		options = mqi.MQPMO_NEW_MSG_ID
	}
	for !r.limited() && (bound < 0 || r.done < bound) {
		msg, err := r.next(ctx)
		if err != nil || msg == nil {
			return err
		}
		if r.echo {
			if err := r.reply(ctx, msg); err != nil {
				return err
			}
		}
		r.dress(&msg.MD)
		if _, err := r.putAll(ctx, msg, options); err != nil {
			return err
		}
		if err := r.count(ctx); err != nil {
			return err
		}
	}
	r.say(1, "%d messages moved", r.done)
	return nil
}

// movesToItself reports whether the input queue's own name is put to.
func (r *qRun) movesToItself() bool {
	return !r.browse && r.to == r.conn && slices.Contains(r.outputs, r.input)
}

// depth is CURDEPTH of the input queue now.
func (r *qRun) depth(ctx context.Context) (int, error) {
	cmd, bad := mqsc.Parse("DISPLAY QLOCAL('" + r.from + "') CURDEPTH")
	if bad != nil {
		return 0, fmt.Errorf("depth of %s: %w", r.from, bad)
	}
	res, err := r.conn.Command(ctx, cmd)
	if err != nil {
		return 0, err
	}
	for _, resp := range res.Responses {
		for _, f := range resp.Fields {
			if f.Key == "CURDEPTH" && len(f.Values) == 1 {
				return strconv.Atoi(f.Values[0])
			}
		}
	}
	return 0, fmt.Errorf("depth of %s: the queue manager does not tell it", r.from)
}
