package mqsc

import (
	"slices"

	"github.com/situationd/situationd/mqengine/object"
)

// nameRule says what may stand in the brackets of the noun.
type nameRule uint8

const (
	noName      nameRule = iota
	exactName            // an object's name
	genericName          // a name that may end in *
	allName              // nothing, or (*)
)

// form is one command: a verb with a noun and what they take.
type form struct {
	verb, noun string
	name       nameRule
	nameType   *object.Attr // how the name is checked: its type and length
	// kinds and views say which attributes there are: one kind for DEFINE and
	// ALTER (CHANNEL: by CHLTYPE), any number for DISPLAY.
	kinds []object.Kind
	views []object.View
	// params are the keywords that are not attributes of an object.
	params []object.Attr
	// options are the bare words: REPLACE, PURGE, FORCE, ALL.
	options []option
	// groups are words of DISPLAY that stand for several attributes.
	groups map[string][]string
	// byType narrows the views by the value of TYPE; "" is for a DISPLAY without it.
	byType map[string][]object.View
	check  func(p *parser, c *Command) *Error
}

// option is a bare word that sets a switch of the command.
type option struct {
	word, opposite string
	set            func(c *Command)
}

var (
	optAll     = option{word: "ALL", set: func(c *Command) { c.All = true }}
	optReplace = option{"REPLACE", "NOREPLACE", func(c *Command) { c.Replace = true }}
	optPurge   = option{"PURGE", "NOPURGE", func(c *Command) { c.Purge = true }}
	optForce   = option{"FORCE", "NOFORCE", func(c *Command) { c.Force = true }}
)

// verbSynonyms and nounSynonyms are MQ's short words; nothing else is
// shortened: MQSC does not match prefixes.
var verbSynonyms = map[string]string{
	"ALT": "ALTER", "DEF": "DEFINE", "DEL": "DELETE", "DIS": "DISPLAY", "REF": "REFRESH", "STA": "START",
}

var nounSynonyms = map[string]string{
	"QL": "QLOCAL", "QA": "QALIAS", "QR": "QREMOTE", "QM": "QMODEL", "QC": "QCLUSTER", "Q": "QUEUE", "QS": "QSTATUS",
	"CHL": "CHANNEL", "CHS": "CHSTATUS", "NL": "NAMELIST", "PRO": "PROCESS", "PROC": "PROCESS", "LSTR": "LISTENER", "SEC": "SECURITY",
	"APS": "APSTATUS", "TPC": "TOPIC", "TPS": "TPSTATUS",
}

func canonicalVerb(w string) string {
	if v, ok := verbSynonyms[w]; ok {
		return v
	}
	return w
}

func canonicalNoun(w string) string {
	if n, ok := nounSynonyms[w]; ok {
		return n
	}
	return w
}

// Ways to check the name in the brackets.
var (
	nameObject  = &object.Attr{Keyword: "NAME", Type: object.Name, MaxLen: object.MaxName}
	nameChannel = &object.Attr{Keyword: "CHANNEL", Type: object.Name, MaxLen: object.MaxChannelName}
	nameQMgr    = &object.Attr{Keyword: "CLUSQMGR", Type: object.String, MaxLen: object.MaxName} // SYSTEM.TEMPQMGR.host(port)
	nameConn    = &object.Attr{Keyword: "CONN", Type: object.String, MaxLen: 16}
)

func words(keyword string, values ...string) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.Enum, Values: values}
}

func number(keyword string, min, max int) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.Int, Min: min, Max: max}
}

func named(keyword string) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.Name, MaxLen: object.MaxName}
}

func text(keyword string, longest int) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.String, MaxLen: longest}
}

func bare(keyword string) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.Flag}
}

var (
	queueKinds   = []object.Kind{object.QLocal, object.QAlias, object.QRemote, object.QModel}
	channelKinds = []object.Kind{object.Sender, object.Receiver, object.ClusSdr, object.ClusRcvr, object.SvrConn}
	definables   = [][]object.Kind{
		{object.QLocal}, {object.QAlias}, {object.QRemote}, {object.QModel}, channelKinds,
		{object.Namelist}, {object.Process}, {object.Listener},
	}
	ignState = words("IGNSTATE", "NO", "YES")
)

// forms is every command there is, in the order in which help lists them.
var forms = slices.Concat(definitionForms(), displayForms, actionForms)

func definitionForms() []form {
	var out []form
	for _, kinds := range definables {
		noun, nameType := kinds[0].Noun(), nameObject
		if kinds[0].IsChannel() {
			nameType = nameChannel
		}
		alter := form{verb: "ALTER", noun: noun, name: exactName, nameType: nameType, kinds: kinds}
		remove := form{verb: "DELETE", noun: noun, name: exactName, nameType: nameType, params: []object.Attr{ignState}}
		if kinds[0].IsQueue() {
			alter.options = []option{optForce}
		}
		if kinds[0] == object.QLocal {
			remove.options = []option{optPurge}
		}
		out = append(out,
			form{verb: "DEFINE", noun: noun, name: exactName, nameType: nameType, kinds: kinds, options: []option{optReplace}},
			alter, remove)
	}
	return append(out, form{verb: "ALTER", noun: "QMGR", kinds: []object.Kind{object.QMgr}, options: []option{optForce}})
}

// actionForms are the commands that neither define nor display.
var actionForms = []form{
	{verb: "CLEAR", noun: "QLOCAL", name: exactName, nameType: nameObject},
	{verb: "START", noun: "CHANNEL", name: exactName, nameType: nameChannel, params: []object.Attr{ignState}},
	{verb: "START", noun: "LISTENER", name: exactName, nameType: nameObject, params: []object.Attr{ignState}},
	{verb: "STOP", noun: "CHANNEL", name: exactName, nameType: nameChannel, params: []object.Attr{
		words("MODE", "QUIESCE", "FORCE", "TERMINATE"), words("STATUS", "STOPPED", "INACTIVE"),
		text("CONNAME", 264), named("QMNAME"), ignState}},
	{verb: "STOP", noun: "CONN", name: exactName, nameType: nameConn, params: []object.Attr{text("EXTCONN", 32)}},
	{verb: "STOP", noun: "LISTENER", name: exactName, nameType: nameObject, params: []object.Attr{ignState}},
	{verb: "PING", noun: "CHANNEL", name: exactName, nameType: nameChannel, params: []object.Attr{number("DATALEN", 16, 32768)}},
	{verb: "PING", noun: "QMGR"},
	{verb: "RESET", noun: "CHANNEL", name: exactName, nameType: nameChannel, params: []object.Attr{number("SEQNUM", 1, 999999999)}},
	{verb: "RESET", noun: "CLUSTER", name: exactName, nameType: nameObject, params: []object.Attr{
		words("ACTION", "FORCEREMOVE"), named("QMNAME"), text("QMID", object.MaxName), words("QUEUES", "NO", "YES")},
		check: allOf(needs("ACTION"), oneOf("QMNAME", "QMID"))},
	{verb: "RESOLVE", noun: "CHANNEL", name: exactName, nameType: nameChannel, params: []object.Attr{words("ACTION", "COMMIT", "BACKOUT")},
		check: needs("ACTION")},
	{verb: "REFRESH", noun: "CLUSTER", name: genericName, nameType: nameObject, params: []object.Attr{words("REPOS", "NO", "YES")},
		check: wholeOrExact},
	{verb: "REFRESH", noun: "SECURITY", name: allName, params: []object.Attr{words("TYPE", "AUTHSERV", "CONNAUTH", "SSL")}},
	{verb: "SUSPEND", noun: "QMGR", params: []object.Attr{named("CLUSTER"), named("CLUSNL"), words("MODE", "QUIESCE", "FORCE")},
		check: oneOf("CLUSTER", "CLUSNL")},
	{verb: "RESUME", noun: "QMGR", params: []object.Attr{named("CLUSTER"), named("CLUSNL")},
		check: oneOf("CLUSTER", "CLUSNL")},
}

func allOf(checks ...func(*parser, *Command) *Error) func(*parser, *Command) *Error {
	return func(p *parser, c *Command) *Error {
		for _, check := range checks {
			if err := check(p, c); err != nil {
				return err
			}
		}
		return nil
	}
}

func needs(keyword string) func(*parser, *Command) *Error {
	return func(p *parser, c *Command) *Error {
		if _, ok := c.Param(keyword); !ok {
			return p.missing([]string{keyword}, "%s %s needs %s", c.Verb, c.Noun, keyword)
		}
		return nil
	}
}

func oneOf(a, b string) func(*parser, *Command) *Error {
	return func(p *parser, c *Command) *Error {
		_, hasA := c.Param(a)
		_, hasB := c.Param(b)
		if hasA == hasB {
			return p.missing([]string{a, b}, "%s %s needs exactly one of %s and %s", c.Verb, c.Noun, a, b)
		}
		return nil
	}
}

// wholeOrExact: REFRESH CLUSTER takes a name or *, nothing between.
func wholeOrExact(p *parser, c *Command) *Error {
	if n := len(c.Name); n > 1 && c.Name[n-1] == '*' {
		at := word{text: c.Name, pos: 0, end: len(p.text)}
		return p.fail(idName, at, "REFRESH CLUSTER(%s): the name of one cluster or * is needed", c.Name)
	}
	return nil
}
