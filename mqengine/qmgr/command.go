package qmgr

import (
	"errors"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// commandCall answers one MQSC command. The command always carries its own
// result; the call itself fails only if there is no command.
func (m *Machine) commandCall(now time.Time, fx *Effects, c *conn, tag uint64, cmd *mqsc.Command) {
	if cmd == nil {
		c.fail(fx, tag, mqi.MQRC_INQUIRY_COMMAND_ERROR)
		return
	}
	if cmd.Verb == "PING" && cmd.Noun == "CHANNEL" && m.cluster.repo != nil {
		m.pingChannel(now, fx, c, tag, cmd.Name) // answers when the other end does
		return
	}
	if cmd.Verb == "START" && cmd.Noun == "LISTENER" {
		m.startListenerCall(fx, c, tag, cmd) // answers when the port is bound
		return
	}
	if cmd.Verb == "REFRESH" && cmd.Noun == "SECURITY" && param(cmd, "TYPE") == "SSL" {
		m.refreshKeys(fx, c, tag) // answers when the files were read
		return
	}
	c.ok(fx, tag, m.command(now, fx, cmd))
}

// command carries out one MQSC command.
func (m *Machine) command(now time.Time, fx *Effects, cmd *mqsc.Command) mqsc.Result {
	if cmd.Absent != "" {
		return failed("AMQ8404E", cmd.Verb+" "+cmd.Noun+" is not in this queue manager: "+cmd.Absent+".")
	}
	if res, ok := m.clusterCommand(now, fx, cmd); ok {
		return res
	}
	switch cmd.Verb {
	case "DEFINE":
		return m.define(now, fx, cmd)
	case "ALTER":
		return m.alter(now, fx, cmd)
	case "DELETE":
		return m.delete(now, fx, cmd)
	case "CLEAR":
		return m.clear(fx, cmd)
	case "DISPLAY":
		return m.display(now, fx, cmd)
	case "STOP":
		switch cmd.Noun {
		case "LISTENER":
			return m.stopListener(fx, cmd)
		case "CONN":
			return m.stopConn(now, fx, cmd)
		}
	case "REFRESH":
		// Nobody keeps authorities in a cache here: as if refreshed.
		if cmd.Noun == "SECURITY" {
			return done("AMQ8560I")
		}
	case "PING":
		if cmd.Noun == "QMGR" {
			return done("AMQ8415I")
		}
	}
	return failed("AMQ8404E")
}

// done is a command that was carried out, with remarks.
func done(id string, remarks ...mqsc.Response) mqsc.Result {
	return mqsc.Result{Responses: append([]mqsc.Response{mqsc.Reply(id)}, remarks...)}
}

// failed is a command that could not be carried out.
func failed(id string, inserts ...string) mqsc.Result {
	return mqsc.Result{Failed: true, Responses: []mqsc.Response{mqsc.Reply(id, inserts...)}}
}

// notFound is the answer for a name that there is not; MQ names no generic one.
func notFound(name string) mqsc.Result {
	if n := len(name); n > 0 && name[n-1] == '*' {
		name = ""
	}
	return failed("AMQ8147E", name)
}

// refused is the answer for values that do not do.
func refused(err error) mqsc.Result {
	var conflict *object.Conflict
	if errors.As(err, &conflict) {
		return mqsc.Result{Failed: true, Responses: []mqsc.Response{{ID: conflict.ID, Text: conflict.Text}}}
	}
	return failed("AMQ8425E", err.Error())
}

// objectWords are the replies to commands on objects, per kind of object.
type objectWords struct{ created, changed, deleted, exists, shown string }

func wordsOf(k object.Kind) objectWords {
	switch {
	case k.IsChannel():
		return objectWords{"AMQ8014I", "AMQ8016I", "AMQ8015I", "AMQ8226E", "AMQ8414I"}
	case k == object.Namelist:
		return objectWords{"AMQ8552I", "AMQ8551I", "AMQ8553I", "AMQ8150E", "AMQ8550I"}
	case k == object.Process:
		return objectWords{"AMQ8010I", "AMQ8012I", "AMQ8011I", "AMQ8150E", "AMQ8407I"}
	case k == object.Listener:
		return objectWords{"AMQ8626I", "AMQ8627I", "AMQ8628I", "AMQ8150E", "AMQ8630I"}
	case k == object.QMgr:
		return objectWords{"", "AMQ8005I", "", "", "AMQ8408I"}
	}
	return objectWords{"AMQ8006I", "AMQ8008I", "AMQ8007I", "AMQ8150E", "AMQ8409I"}
}

// kindOf is the kind that a command is about: for a channel without CHLTYPE, any channel.
func kindOf(cmd *mqsc.Command) object.Kind {
	if cmd.Kind != object.KindNone {
		return cmd.Kind
	}
	if cmd.Noun == "CHANNEL" {
		return object.Sender
	}
	return object.ParseKind(cmd.Noun)
}
