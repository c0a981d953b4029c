package mqsc

import (
	"slices"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// absentNoun is a noun of MQ that this queue manager has nothing for. Its commands
// are read, so that a script's other mistakes show, and refused when they are run.
type absentNoun struct {
	noun, verbs string
	why         string
}

const (
	noAuthority = "there are no authority records; who may connect is up to the permissions of the queue manager's socket"
	noTopics    = "there is no publish/subscribe"
	noServices  = "the queue manager starts no programs"
)

// absentNouns are the commands of MQ on multiplatforms that are in no form. A
// form that comes later takes precedence.
var absentNouns = []absentNoun{
	{"APSTATUS", "DISPLAY", "applications are not balanced between queue managers"},
	{"AUTHINFO", "ALTER DEFINE DELETE DISPLAY", noAuthority},
	{"AUTHREC", "DELETE DISPLAY SET", noAuthority},
	{"AUTHSERV", "DISPLAY", noAuthority},
	{"CHANNEL", "PURGE", "there are no telemetry channels"},
	{"CHINIT", "START", "channels always begin with the queue manager"},
	{"CHLAUTH", "DISPLAY SET", "there are no channel authentication records"},
	{"COMMINFO", "ALTER DEFINE DELETE DISPLAY", noTopics},
	{"ENTAUTH", "DISPLAY", noAuthority},
	{"LOG", "SET", "there are no log extents"},
	{"POLICY", "DELETE DISPLAY SET", "messages are not protected by policies"},
	{"PUBSUB", "DISPLAY", noTopics},
	{"QMGR", "REFRESH RESET", "there are no log extents, statistics or configuration events"},
	{"SBSTATUS", "DISPLAY", noTopics},
	{"SERVICE", "ALTER DEFINE DELETE DISPLAY START STOP", noServices},
	{"SUB", "ALTER DEFINE DELETE DISPLAY", noTopics},
	{"SVSTATUS", "DISPLAY", noServices},
	{"TCLUSTER", "DISPLAY", noTopics},
	{"TOPIC", "ALTER DEFINE DELETE DISPLAY", noTopics},
	{"TOPICSTR", "CLEAR", noTopics},
	{"TPSTATUS", "DISPLAY", noTopics},
}

// absentChannels are the channel types of MQ that there are none of.
var absentChannels = map[string]string{
	"AMQP":     "there are no AMQP channels",
	"CLNTCONN": "no client connects over the network",
	"MQTT":     "there are no telemetry channels",
	"RQSTR":    "channels are SDR, RCVR, CLUSSDR, CLUSRCVR and SVRCONN",
	"SVR":      "channels are SDR, RCVR, CLUSSDR, CLUSRCVR and SVRCONN",
}

// absent finds why a command of MQ cannot be carried out; blank if there is no such command.
func absent(verb, noun string) string {
	for _, a := range absentNouns {
		if a.noun == noun && slices.Contains(strings.Fields(a.verbs), verb) {
			return a.why
		}
	}
	return ""
}

// isAbsentVerb reports whether all commands of a verb are absent.
func isAbsentVerb(verb string) bool {
	return slices.ContainsFunc(absentNouns, func(a absentNoun) bool { return slices.Contains(strings.Fields(a.verbs), verb) })
}

// absentCommand reads a command that cannot be carried out: its grammar is checked, its words are not.
func (p *parser) absentCommand(c *Command, it item, rest []item) *Error {
	switch {
	case len(it.args) > 1:
		return p.fail(idName, it.args[1], "%s %s takes one name", c.Verb, c.Noun)
	case it.paren && (len(it.args) == 0 || strings.TrimSpace(it.args[0].text) == ""):
		return p.fail(idName, it.span(), "%s %s: the name is blank", c.Verb, c.Noun)
	case it.paren:
		c.Name = strings.TrimRight(it.args[0].text, " ")
	}
	return p.absentKeywords(c, rest)
}

func (p *parser) absentKeywords(c *Command, items []item) *Error {
	seen := map[string]string{}
	for _, it := range items {
		if strings.ContainsFunc(it.key.text, func(r rune) bool { return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9') }) {
			return p.fail(idKeyword, it.key, "%s is not a keyword", clip(it.key.text))
		}
		if err := p.once(it.key.text, it, seen); err != nil {
			return err
		}
		param := Param{Keyword: it.key.text}
		if it.paren {
			param.Values = make([]string, len(it.args))
			for i, arg := range it.args {
				param.Values[i] = strings.TrimRight(arg.text, " ")
			}
		}
		c.Params = append(c.Params, param)
	}
	return nil
}

// absentType takes a channel whose type there is not.
func (p *parser) absentType(c *Command, items []item) (bool, *Error) {
	for _, it := range items {
		if it.key.text == "CHLTYPE" && len(it.args) == 1 {
			if why := absentChannels[it.args[0].text]; why != "" {
				c.Absent, c.Kind = why, object.KindNone
				return true, p.absentKeywords(c, items)
			}
		}
	}
	return false, nil
}
