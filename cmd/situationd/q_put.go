package main

import (
	"context"
	"fmt"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// openOutputs opens the queues of -o and -O; for MQPUT1 it only names them.
func (r *qRun) openOutputs(ctx context.Context) error {
	for _, name := range r.outputs {
		out := qOutput{od: r.target(name)}
		out.same = r.input != "" && !r.browse && r.to == r.conn && out.od.ObjectQMgrName == "" && out.od.ObjectName == r.input
		if !r.put1 {
			options := mqi.MQOO_OUTPUT | r.quiescing(mqi.MQOO_FAIL_IF_QUIESCING) | r.bind | r.openContext()
			h, res, err := r.to.Open(ctx, out.od, options)
			if err != nil {
				return err
			}
			out.handle = h
			r.say(1, "opened %s (%s at %s)", name, res.ResolvedQName, res.ResolvedQMgrName)
		}
		r.outs = append(r.outs, out)
	}
	return nil
}

// putAll puts a message to every output queue.
func (r *qRun) putAll(ctx context.Context, msg *mqengine.Message, options int32) (qmgr.PutResult, error) {
	var res qmgr.PutResult
	for i := range r.outs {
		pmo := mqi.PMO{
			Options: options | r.quiescing(mqi.MQPMO_FAIL_IF_QUIESCING) | r.putSyncpoint(msg.MD.Persistence) | r.putContext(),
			Context: r.contextHandle(),
		}
		var err error
		if res, err = r.putOne(ctx, &r.outs[i], msg, pmo); err != nil {
			return res, err
		}
		if r.outs[i].same && res.ResolvedQMgrName == r.qmgr && res.ResolvedQName == r.from {
			return res, failedf("q: a message for %s came back to this queue manager: no other instance would be chosen; backed out", r.input)
		}
	}
	if r.show {
		if err := r.print(msg); err != nil {
			return res, fmt.Errorf("write a message: %w", err)
		}
	}
	return res, nil
}

func (r *qRun) putOne(ctx context.Context, out *qOutput, msg *mqengine.Message, pmo mqi.PMO) (qmgr.PutResult, error) {
	if ctx.Err() != nil {
		return qmgr.PutResult{}, ctx.Err()
	}
	var res qmgr.PutResult
	var err error
	if r.put1 {
		res, err = r.to.Put1(ctx, out.od, msg, pmo)
	} else {
		res, err = r.to.Put(ctx, out.handle, msg, pmo)
	}
	if err == nil {
		r.say(2, "put %X to %s at %s", res.MsgId[:], res.ResolvedQName, res.ResolvedQMgrName)
	}
	return res, err
}

// dress gives a message what the options say of it. What they do not say a
// message that is moved keeps.
func (r *qRun) dress(md *mqi.MD) {
	if r.priority >= 0 {
		md.Priority = r.priority
	}
	if r.persistence >= 0 {
		md.Persistence = r.persistence
	}
	if r.msgType != 0 {
		md.MsgType = r.msgType
	}
	if r.expiry > 0 {
		md.Expiry = r.expiry
	}
	if r.hasFormat {
		md.Format = r.format
	}
	if r.replyTo != "" {
		md.ReplyToQ, md.ReplyToQMgr = r.replyQ, r.replyQMgr
		if r.msgType == 0 {
			md.MsgType = mqi.MQMT_REQUEST
		}
	}
	md.Report |= r.report
	if r.segment {
		md.MsgFlags |= mqi.MQMF_SEGMENTATION_ALLOWED
	}
	r.put.name(md)
	if r.hasUser {
		md.UserIdentifier = r.user
	}
	if r.identity != "" {
		md.ApplIdentityData = r.identity
	}
	if r.accounting != "" {
		md.AccountingToken = [32]byte{}
		copy(md.AccountingToken[:], r.accounting)
	}
	if r.origin != "" {
		md.ApplOriginData = r.origin
	}
}

// name gives a message the identifiers of -gp.
func (g *qIdentifiers) name(md *mqi.MD) {
	if g.msg != nil {
		md.MsgId = *g.msg
	}
	if g.correl != nil {
		md.CorrelId = *g.correl
	}
	if g.group != nil {
		md.GroupId = *g.group
		md.MsgFlags |= mqi.MQMF_MSG_IN_GROUP
	}
}

// settleContext finds out how context is given. A field of it that is named has
// to be set; and no connection passes what another one got.
func (r *qRun) settleContext() {
	switch {
	case r.context != 0 && r.to == r.conn:
	case r.context == 'a':
		r.context = 'A'
	case r.context == 'i':
		r.context = 'I'
	case r.context != 0:
	case r.origin != "":
		r.context = 'A'
	case r.hasUser || r.identity != "" || r.accounting != "":
		r.context = 'I'
	}
}

// openContext is the open option of an output queue that -C needs.
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
