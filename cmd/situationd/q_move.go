package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// move gets messages and puts them elsewhere; with -i it copies them. With the
// same queue on both sides it is how a person empties an instance that nobody
// reads: bounded by the depth at the start, with everything kept, and it stops
// when the cluster sends a message back here.
func (r *qRun) move(ctx context.Context) error {
	target := r.target()
	same := !r.browse && target.ObjectQMgrName == "" && target.ObjectName == r.input
	bound := -1
	if same {
		var err error
		if bound, err = r.depth(ctx); err != nil {
			return err
		}
		if r.context == 0 {
			r.context = 'a'
		}
	}
	if !r.put1 {
		h, _, err := r.conn.Open(ctx, target, mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING|r.bind|r.openContext())
		if err != nil {
			return err
		}
		r.out = h
	}
	for !r.limited() && (bound < 0 || r.done < bound) {
		msg, err := r.next(ctx)
		if err != nil || msg == nil {
			return err
		}
		if err := r.forward(ctx, target, msg, same); err != nil {
			return err
		}
	}
	r.say(1, "%d messages moved", r.done)
	return nil
}

// forward puts a message that was got, as it was.
func (r *qRun) forward(ctx context.Context, target mqi.OD, msg *mqengine.Message, same bool) error {
	if r.priority >= 0 {
		msg.MD.Priority = r.priority
	}
	pmo := mqi.PMO{Options: mqi.MQPMO_FAIL_IF_QUIESCING | r.putSyncpoint(msg.MD.Persistence) | r.putContext(), Context: r.contextHandle()}
	where, err := r.put(ctx, target, msg, pmo)
	if err != nil {
		return err
	}
	if same && where.ResolvedQMgrName == r.qmgr && where.ResolvedQName == r.from {
		return failedf("q: a message for %s came back to this queue manager: no other instance would be chosen; backed out", r.input)
	}
	return r.count(ctx)
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

// openContext is the open option of the output queue that -C needs.
func (r *qRun) openContext() int32 {
	switch r.context {
	case 'a':
		return mqi.MQOO_PASS_ALL_CONTEXT
	case 'i':
		return mqi.MQOO_PASS_IDENTITY_CONTEXT
	case 'A':
		return mqi.MQOO_SET_ALL_CONTEXT
	case 'I':
		return mqi.MQOO_SET_IDENTITY_CONTEXT
	}
	return 0
}

// putContext is the put option of -C.
func (r *qRun) putContext() int32 {
	switch r.context {
	case 'a':
		return mqi.MQPMO_PASS_ALL_CONTEXT
	case 'i':
		return mqi.MQPMO_PASS_IDENTITY_CONTEXT
	case 'A':
		return mqi.MQPMO_SET_ALL_CONTEXT
	case 'I':
		return mqi.MQPMO_SET_IDENTITY_CONTEXT
	case 'n':
		return mqi.MQPMO_NO_CONTEXT
	}
	return 0
}

// contextHandle is the handle whose context is passed.
func (r *qRun) contextHandle() uint32 {
	if r.context == 'a' || r.context == 'i' {
		return r.in
	}
	return 0
}
