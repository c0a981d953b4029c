package mqengine

import (
	"context"
	"errors"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// commandQueue is where commands in PCF are put, by local applications and,
// through channels, by those of other queue managers.
const commandQueue = "SYSTEM.ADMIN.COMMAND.QUEUE"

// commandServerTag is the APPLTAG of the command server, MQ's name of its program.
const commandServerTag = "amqpcsea"

const (
	// commandRetry is how long the command server leaves a queue alone that it cannot get from.
	commandRetry = 5 * time.Second
	// replyText is how much text of a response goes into one message, and replyLife how long that waits to be got.
	replyText = 64 << 10
	replyLife = 10 * time.Minute
)

// commandServer carries out the MQSC in Escape messages of the command queue,
// one after the other, and answers to their reply-to queue. It is an application
// of this process like any other; its goroutine ends with its connection.
type commandServer struct {
	qm   *QueueManager
	conn Conn
	may  func(user string) bool
	said mqi.Reason // the last trouble with the queue, told once
	wg   sync.WaitGroup
}

func newCommandServer(q *QueueManager) *commandServer { return &commandServer{qm: q} }

// start begins to serve, unless SCMDSERV(MANUAL) left the command server out.
func (s *commandServer) start() {
	if s == nil {
		return
	}
	s.may = administrators(s.qm.socket)
	s.wg.Go(func() { s.run(context.Background()) }) // every call ends with the connection
}

// wait waits for the goroutine; the queue manager must have ended its connections.
func (s *commandServer) wait() {
	if s != nil {
		s.wg.Wait()
	}
}

// run is the goroutine: it serves until the queue manager ends, and begins anew
// when its queue could not be got from or somebody stopped its connection.
func (s *commandServer) run(ctx context.Context) {
	appl := qmgr.Appl{Tag: commandServerTag, PID: os.Getpid(), UserID: userName(os.Geteuid())}
	for {
		conn, err := s.qm.Connect(ctx, appl)
		if err == nil {
			s.conn = conn
			err = s.serve(ctx)
			_ = conn.Disconnect(ctx) // it may be gone
		}
		switch reason := mqi.ReasonOf(err); {
		case reason == mqi.MQRC_Q_MGR_QUIESCING, reason == mqi.MQRC_Q_MGR_STOPPING:
			return
		case reason != s.said && !s.qm.ended():
			s.qm.say("AMQ8506E", "Command server MQGET request failed with reason code %v; it is tried again.", err)
			s.said = reason
		}
		select {
		case <-s.qm.ending:
			return
		case <-time.After(commandRetry):
		}
	}
}

// serve opens the queue and gets commands until that fails.
func (s *commandServer) serve(ctx context.Context) error {
	h, _, err := s.conn.Open(ctx, mqi.OD{ObjectName: commandQueue}, mqi.MQOO_INPUT_SHARED|mqi.MQOO_FAIL_IF_QUIESCING)
	if err != nil {
		return err
	}
	gmo := mqi.GMO{
		Options:   mqi.MQGMO_WAIT | mqi.MQGMO_NO_SYNCPOINT | mqi.MQGMO_FAIL_IF_QUIESCING,
		MaxLength: -1, WaitInterval: mqi.MQWI_UNLIMITED,
	}
	for {
		// Not in a unit of work: after a crash a command was carried out once or not at all.
		msg, err := s.conn.Get(ctx, h, mqi.MD{}, gmo)
		if err != nil {
			return errors.Join(err, s.conn.Close(ctx, h, 0))
		}
		s.said = mqi.MQRC_NONE
		if err := s.answer(ctx, msg); err != nil {
			s.qm.say("AMQ8507E", "Command server MQPUT1 request for the reply to user '%s' at %s(%s) failed: %v",
				msg.MD.UserIdentifier, msg.MD.ReplyToQMgr, msg.MD.ReplyToQ, err)
		}
	}
}

// answer carries out one command message and sends the response in parts.
func (s *commandServer) answer(ctx context.Context, msg *Message) error {
	if msg.MD.MsgType != mqi.MQMT_REQUEST || msg.MD.ReplyToQ == "" {
		s.qm.say("AMQ8507E", "Command server: a message of user '%s' is no request with a reply-to queue; it is discarded.", msg.MD.UserIdentifier)
		return nil
	}
	e := escape{kind: cfResponse, command: cmdEscape, sequence: 1}
	parts := s.carryOut(ctx, &e, msg)
	for i, text := range parts {
		part := e
		part.sequence, part.last, part.text = int32(i+1), i == len(parts)-1, text
		if !part.last {
			part.compCode, part.reason = mqi.MQCC_OK, mqi.MQRC_NONE
		}
		if err := s.reply(ctx, msg, part.encode()); err != nil {
			return err
		}
	}
	return nil
}

// carryOut runs the command, sets the codes of the response and gives its text in parts.
func (s *commandServer) carryOut(ctx context.Context, e *escape, msg *Message) []string {
	fail := func(reason mqi.Reason, responses ...mqsc.Response) []string {
		e.compCode, e.reason = mqi.MQCC_FAILED, reason
		return texts(responses)
	}
	if msg.MD.Format != formatAdmin {
		return fail(mqi.MQRC_FORMAT_ERROR, mqsc.Reply("AMQ8404E", "The format of the message is not MQADMIN."))
	}
	in, err := decodeEscape(msg.Body, msg.MD.Encoding)
	if in.command != 0 {
		e.command = in.command
	}
	switch {
	case err != nil:
		return fail(mqi.ReasonOf(err), mqsc.Reply("AMQ8404E", err.Error()))
	case in.kind == cfResponse:
		return fail(rccfHeaderType, mqsc.Reply("AMQ8404E", "A response is no command."))
	case len(in.text) > maxCommand:
		return fail(rccfStringLength, mqsc.Reply("AMQ8413E", "A command has at most 32 KiB."))
	case !s.may(msg.MD.UserIdentifier):
		s.qm.say("AMQ8077W", "Entity '%s' of queue manager %s has insufficient authority to administer this queue manager.", msg.MD.UserIdentifier, msg.MD.ReplyToQMgr)
		return fail(mqi.MQRC_NOT_AUTHORIZED, mqsc.Reply("AMQ8135E"))
	}
	cmd, bad := mqsc.Parse(in.text)
	if bad != nil {
		return fail(rccfFailed, bad.Responses()...)
	}
	res, err := s.conn.Command(ctx, cmd)
	if err != nil {
		return fail(mqi.ReasonOf(err), mqsc.Reply("AMQ8404E", err.Error()))
	}
	if cmd.Verb != "DISPLAY" {
		s.qm.say("AMQ8590I", "Command server: '%s' for user '%s' of queue manager %s.", cmd, msg.MD.UserIdentifier, msg.MD.ReplyToQMgr)
	}
	if res.Failed {
		return fail(rccfFailed, res.Responses...)
	}
	return texts(res.Responses)
}

// texts renders responses as runmqsc prints them, in parts that fit a message.
func texts(responses []mqsc.Response) []string {
	var out []string
	var b []byte
	for _, r := range responses {
		if b = r.AppendText(b); len(b) >= replyText {
			out, b = append(out, string(b)), b[:0]
		}
	}
	if len(b) > 0 || len(out) == 0 {
		out = append(out, string(b))
	}
	return out
}

// reply puts one part. It lives as long as somebody may wait for it, and a part
// that nobody waits for any more is no dead letter.
func (s *commandServer) reply(ctx context.Context, to *Message, body []byte) error {
	md := mqi.NewMD()
	md.MsgType, md.Format, md.CorrelId = mqi.MQMT_REPLY, formatAdmin, to.MD.MsgId
	md.Priority, md.Persistence, md.Report = to.MD.Priority, mqi.MQPER_NOT_PERSISTENT, mqi.MQRO_DISCARD_MSG
	md.Expiry = int32(replyLife / (100 * time.Millisecond))
	od := mqi.OD{ObjectName: to.MD.ReplyToQ, ObjectQMgrName: to.MD.ReplyToQMgr}
	_, err := s.conn.Put1(ctx, od, &Message{MD: md, Body: body}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT | mqi.MQPMO_FAIL_IF_QUIESCING})
	return err
}

// administrators says which users may administer this queue manager by messages:
// those who could open its socket. As in MQ it is the user of the message that
// counts, and the name is believed.
func administrators(socket string) func(name string) bool {
	own := userName(os.Geteuid())
	group := ""
	if info, err := os.Stat(socket); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			group = strconv.FormatUint(uint64(st.Gid), 10)
		}
	}
	return func(name string) bool {
		switch name {
		case "":
			return false
		case own, "root":
			return true
		}
		u, err := user.Lookup(name)
		if err != nil || group == "" {
			return false
		}
		groups, err := u.GroupIds()
		return err == nil && slices.Contains(groups, group)
	}
}
