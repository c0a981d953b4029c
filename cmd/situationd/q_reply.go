package main

import (
	"context"
	"fmt"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// qReplyWait is how long -r+ waits for a reply without -w, in milliseconds.
const qReplyWait = 60_000

// openReplyQueue finds out what -r names; for -r+ it is opened. Of a model queue
// that makes a dynamic one.
func (r *qRun) openReplyQueue(ctx context.Context) error {
	if r.replyTo == "" {
		return nil
	}
	od := r.target(r.replyTo)
	r.replyQ, r.replyQMgr = od.ObjectName, od.ObjectQMgrName
	if !r.waitReply {
		return nil
	}
	h, res, err := r.conn.Open(ctx, od, mqi.MQOO_INPUT_AS_Q_DEF|r.quiescing(mqi.MQOO_FAIL_IF_QUIESCING))
	if err != nil {
		return err
	}
	r.replies = h
	if res.ResolvedQName != "" {
		r.replyQ = res.ResolvedQName
	}
	r.say(1, "opened %s for replies", r.replyQ)
	return nil
}

// await waits for the reply to a message that was put, and prints it. The request
// is committed first: nobody sees it before.
func (r *qRun) await(ctx context.Context, put qmgr.PutResult) error {
	if err := r.flush(ctx); err != nil {
		return err
	}
	md := mqi.NewMD()
	gmo := mqi.GMO{Options: mqi.MQGMO_WAIT | r.quiescing(mqi.MQGMO_FAIL_IF_QUIESCING) | r.getSyncpoint(), WaitInterval: r.wait, MaxLength: -1}
	if r.wait == 0 {
		gmo.WaitInterval = qReplyWait
	}
	md.CorrelId, gmo.MatchOptions = put.MsgId, mqi.MQMO_MATCH_CORREL_ID
	if r.report&mqi.MQRO_PASS_CORREL_ID != 0 {
		md.CorrelId = put.CorrelId
	}
	if r.report&mqi.MQRO_PASS_MSG_ID != 0 {
		md.MsgId, gmo.MatchOptions = put.MsgId, gmo.MatchOptions|mqi.MQMO_MATCH_MSG_ID
	}
	msg, err := r.conn.Get(ctx, r.replies, md, gmo)
	if err != nil {
		return err
	}
	if err := r.print(msg); err != nil {
		return fmt.Errorf("write a reply: %w", err)
	}
	if r.every > 0 {
		return r.conn.Commit(ctx)
	}
	return nil
}

// reply is -e: the message goes to the queue that it names for replies, in the
// same unit of work.
func (r *qRun) reply(ctx context.Context, msg *mqengine.Message) error {
	if msg.MD.ReplyToQ == "" {
		r.say(1, "message %X names no reply queue", msg.MD.MsgId[:])
		return nil
	}
	answer := &mqengine.Message{MD: msg.MD, Props: msg.Props, Body: msg.Body}
	md := &answer.MD
	if r.echoQMgr {
		md.ReplyToQ, md.ReplyToQMgr = "", r.qmgr
	}
	md.MsgType, md.BackoutCount = mqi.MQMT_REPLY, 0
	md.Report = 0
	if msg.MD.Report&mqi.MQRO_PASS_CORREL_ID == 0 {
		md.CorrelId = msg.MD.MsgId
	}
	options := r.quiescing(mqi.MQPMO_FAIL_IF_QUIESCING) | r.putSyncpoint(md.Persistence)
	if msg.MD.Report&mqi.MQRO_PASS_MSG_ID == 0 {
		options |= mqi.MQPMO_NEW_MSG_ID
	}
	od := mqi.OD{ObjectName: msg.MD.ReplyToQ, ObjectQMgrName: msg.MD.ReplyToQMgr}
	res, err := r.conn.Put1(ctx, od, answer, mqi.PMO{Options: options})
	if err == nil {
		r.say(2, "put reply %X to %s at %s", res.MsgId[:], res.ResolvedQName, res.ResolvedQMgrName)
	}
	return err
}
