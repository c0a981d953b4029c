package mqengine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// replyModel is the model of the queue that responses of command servers come to.
const replyModel = "SYSTEM.MQSC.REPLY.QUEUE"

// ErrNoResponse tells that the command server has not answered in time. The
// command may still be carried out.
var ErrNoResponse = errors.New("the command server did not answer in time")

// Remote runs MQSC commands on another queue manager: its command server gets
// them as messages, through the cluster or over channels, and answers the same way.
type Remote struct {
	conn    Conn
	qmgr    string
	wait    time.Duration
	command Handle
	replies Handle
	replyTo string
}

// RemoteResult is what a command server answers: lines as runmqsc prints them.
type RemoteResult struct {
	Failed bool
	Text   string
}

// OpenRemote prepares commands for the named queue manager; wait is how long each
// part of a response may take. The queues are closed with the connection.
func OpenRemote(ctx context.Context, conn Conn, qmgr string, wait time.Duration) (*Remote, error) {
	r := &Remote{conn: conn, qmgr: qmgr, wait: wait}
	var err error
	od := mqi.OD{ObjectName: commandQueue, ObjectQMgrName: qmgr}
	if r.command, _, err = conn.Open(ctx, od, mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING); err != nil {
		return nil, fmt.Errorf("command queue of %s: %w", qmgr, err)
	}
	model := mqi.OD{ObjectName: replyModel, DynamicQName: "RUNMQSC.*"}
	h, opened, err := conn.Open(ctx, model, mqi.MQOO_INPUT_EXCLUSIVE|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		return nil, fmt.Errorf("reply queue of model %s: %w", replyModel, err)
	}
	r.replies, r.replyTo = h, opened.ResolvedQName
	return r, nil
}

// Command sends one command and collects its response.
func (r *Remote) Command(ctx context.Context, cmd *mqsc.Command) (RemoteResult, error) {
	text := cmd.String()
	if len(text) > maxCommand {
		return RemoteResult{}, fmt.Errorf("command of %d bytes, the limit is %d", len(text), maxCommand)
	}
	md := mqi.NewMD()
	md.MsgType, md.Format, md.ReplyToQ = mqi.MQMT_REQUEST, formatAdmin, r.replyTo
	md.Persistence, md.Report = mqi.MQPER_NOT_PERSISTENT, mqi.MQRO_DISCARD_MSG
	e := escape{kind: cfCommand, command: cmdEscape, sequence: 1, last: true, text: text}
	put, err := r.conn.Put(ctx, r.command, &Message{MD: md, Body: e.encode()}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING})
	if err != nil {
		return RemoteResult{}, fmt.Errorf("command queue of %s: %w", r.qmgr, err)
	}
	return r.collect(ctx, put.MsgId)
}

// maxParts bounds what one response may take in memory here.
const maxParts = 1 << 14

// collect gets the parts of the response to one request. Nonpersistent messages
// may overtake each other on a channel, so the last part need not come last.
func (r *Remote) collect(ctx context.Context, request mqi.MsgId) (RemoteResult, error) {
	var res RemoteResult
	parts, last := map[int32]string{}, int32(0)
	gmo := mqi.GMO{
		Options:      mqi.MQGMO_WAIT | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING,
		WaitInterval: int32(r.wait / time.Millisecond), MatchOptions: mqi.MQMO_MATCH_CORREL_ID, MaxLength: -1,
	}
	for {
		msg, err := r.conn.Get(ctx, r.replies, mqi.MD{CorrelId: request}, gmo)
		switch {
		case errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE):
			return res, fmt.Errorf("%s: %w (%v)", r.qmgr, ErrNoResponse, r.wait)
		case err != nil:
			return res, fmt.Errorf("reply queue: %w", err)
		}
		part, err := decodeEscape(msg.Body, msg.MD.Encoding)
		if err != nil || part.kind != cfResponse {
			return res, fmt.Errorf("%s answers something else than a response to an Escape: %w", r.qmgr, errors.Join(err, errNotAResponse))
		}
		parts[part.sequence] = part.text
		if part.last {
			last, res.Failed = part.sequence, part.compCode == mqi.MQCC_FAILED
		}
		if len(parts) > maxParts {
			return res, fmt.Errorf("the response of %s has more than %d parts", r.qmgr, maxParts)
		}
		if last > 0 && len(parts) == int(last) {
			var text strings.Builder
			for i := range last {
				text.WriteString(parts[i+1])
			}
			res.Text = text.String()
			return res, nil
		}
	}
}

var errNotAResponse = errors.New("not a response")
