package mqsc

import (
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

var (
	queueMonitor   = map[string][]string{"MONITOR": {"LGETDATE", "LGETTIME", "LPUTDATE", "LPUTTIME", "MONQ", "MSGAGE", "QTIME"}}
	channelMonitor = map[string][]string{"MONITOR": {"MONCHL", "NETTIME", "XBATCHSZ", "XQMSGSA", "XQTIME"}}
)

// qmgrGroups are the words of DISPLAY QMGR for attributes that belong together.
// What is in no group is shown by name or with ALL.
var qmgrGroups = map[string][]string{
	"SYSTEM": strings.Fields("ACCTCONO ACCTINT ACCTMQI ACCTQ ACTIVREC ACTVCONO ACTVTRC ALTDATE ALTTIME CCSID CMDLEVEL COMMANDQ CONNAUTH " +
		"CRDATE CRTIME CUSTOM DEADQ DESCR DISTL IMGINTVL IMGLOGLN IMGRCOVO IMGRCOVQ IMGSCHED MARKINT MAXHANDS MAXMSGL MAXPROPL MAXPRTY " +
		"MAXUMSGS MONQ PLATFORM QMNAME ROUTEREC SCMDSERV SPLCAP STATINT STATMQI STATQ SYNCPT TRIGINT VERSION XRCAP"),
	"EVENT": strings.Fields("AUTHOREV CHLEV CMDEV CONFIGEV INHIBTEV LOCALEV LOGGEREV PERFMEV REMOTEEV SSLEV STRSTPEV"),
	"CHINIT": strings.Fields("CERTLABL CERTVPOL CHAD CHADEV CHADEXIT CHLAUTH CHLEV DEFXMITQ IPADDRV MONACLS MONCHL REVDNS SCHINIT " +
		"SSLCRLNL SSLCRYP SSLEV SSLFIPS SSLKEYR SSLRKEYC STATACLS STATCHL SUITEB"),
	"CLUSTER": strings.Fields("CLWLDATA CLWLEXIT CLWLLEN CLWLMRUC CLWLUSEQ DEFCLXQ MONACLS QMID REPOS REPOSNL STATACLS"),
	"PUBSUB":  strings.Fields("PARENT PSCLUS PSMODE PSNPMSG PSNPRES PSRTYCNT PSSYNCPT TREELIFE"),
}

// filter is an attribute that DISPLAY takes with a value, possibly generic, to
// narrow the selection, as well as without one to show it.
func filter(keyword string) object.Attr {
	return object.Attr{Keyword: keyword, Type: object.Name, MaxLen: object.MaxName}
}

// displayForms are the DISPLAY commands.
var displayForms = []form{
	{verb: "DISPLAY", noun: "QUEUE", name: genericName, nameType: nameObject, kinds: queueKinds, views: []object.View{object.ViewQCluster},
		params: []object.Attr{words("TYPE", "ALL", "QLOCAL", "QALIAS", "QREMOTE", "QMODEL", "QCLUSTER"), bare("CLUSINFO"), filter("CLUSTER"), filter("CLUSNL")}},
	displayQueues(object.QLocal), displayQueues(object.QAlias), displayQueues(object.QRemote), displayQueues(object.QModel),
	{verb: "DISPLAY", noun: "QCLUSTER", name: genericName, nameType: nameObject, views: []object.View{object.ViewQCluster},
		params: []object.Attr{bare("CLUSINFO"), filter("CLUSTER")}},
	{verb: "DISPLAY", noun: "QSTATUS", name: genericName, nameType: nameObject,
		views:  []object.View{object.ViewQueueStatus, object.ViewHandleStatus},
		params: []object.Attr{words("TYPE", "QUEUE", "HANDLE"), words("OPENTYPE", "ALL", "INPUT", "OUTPUT")},
		groups: queueMonitor, byType: map[string][]object.View{
			"": {object.ViewQueueStatus}, "QUEUE": {object.ViewQueueStatus}, "HANDLE": {object.ViewHandleStatus}}},
	{verb: "DISPLAY", noun: "CHANNEL", name: genericName, nameType: nameChannel, kinds: channelKinds,
		params: []object.Attr{{Keyword: "CHLTYPE", Synonyms: []string{"TYPE"}, Type: object.Enum, Values: []string{"ALL", "SDR", "RCVR", "CLUSSDR", "CLUSRCVR", "SVRCONN", "SVR", "RQSTR", "CLNTCONN"}}}},
	{verb: "DISPLAY", noun: "CHSTATUS", name: genericName, nameType: nameChannel, views: []object.View{object.ViewChStatus},
		params: []object.Attr{bare("CURRENT"), bare("SAVED"), bare("SHORT"), text("CONNAME", 264), filter("XMITQ")},
		groups: channelMonitor, check: atMostOne("CURRENT", "SAVED", "SHORT")},
	{verb: "DISPLAY", noun: "CLUSQMGR", name: genericName, nameType: nameQMgr, views: []object.View{object.ViewClusQMgr},
		params: []object.Attr{filter("CHANNEL"), filter("CLUSTER")}},
	{verb: "DISPLAY", noun: "CONN", name: genericName, nameType: nameConn, views: []object.View{object.ViewConn, object.ViewConnHandle},
		params: []object.Attr{words("TYPE", "CONN", "HANDLE", "ALL"), text("EXTCONN", 32)}, byType: map[string][]object.View{
			"": {object.ViewConn}, "CONN": {object.ViewConn}, "HANDLE": {object.ViewConnHandle}, "ALL": {object.ViewConn, object.ViewConnHandle}}},
	{verb: "DISPLAY", noun: "QMGR", kinds: []object.Kind{object.QMgr}, groups: qmgrGroups},
	{verb: "DISPLAY", noun: "QMSTATUS", views: []object.View{object.ViewQMStatus}},
	{verb: "DISPLAY", noun: "NAMELIST", name: genericName, nameType: nameObject, kinds: []object.Kind{object.Namelist}},
	{verb: "DISPLAY", noun: "PROCESS", name: genericName, nameType: nameObject, kinds: []object.Kind{object.Process}},
	{verb: "DISPLAY", noun: "LISTENER", name: genericName, nameType: nameObject, kinds: []object.Kind{object.Listener}},
	{verb: "DISPLAY", noun: "LSSTATUS", name: genericName, nameType: nameObject, views: []object.View{object.ViewLsStatus}},
}

func displayQueues(k object.Kind) form {
	f := form{verb: "DISPLAY", noun: k.Noun(), name: genericName, nameType: nameObject, kinds: []object.Kind{k}}
	if k != object.QModel {
		f.params = []object.Attr{bare("CLUSINFO"), filter("CLUSTER"), filter("CLUSNL")}
		f.views = []object.View{object.ViewQCluster}
	}
	return f
}

func atMostOne(keywords ...string) func(*parser, *Command) *Error {
	return func(p *parser, c *Command) *Error {
		first := ""
		for _, k := range keywords {
			if _, ok := c.Param(k); !ok {
				continue
			}
			if first != "" {
				return p.fail(idDuplicate, word{pos: 0, end: len(p.text)}, "%s and %s exclude each other", first, k)
			}
			first = k
		}
		return nil
	}
}

// attr finds an attribute that a DISPLAY of this form can show.
func (f *form) attr(keyword string) *object.Attr {
	for _, k := range f.kinds {
		if a := k.Attr(keyword); a != nil {
			return a
		}
	}
	for _, v := range f.views {
		if a := v.Attr(keyword); a != nil {
			return a
		}
	}
	return nil
}

// keywords lists what attr finds, in DISPLAY order of the first kind or view, without repeats.
func (f *form) keywords() []string {
	var out []string
	seen := map[string]bool{}
	add := func(attrs []*object.Attr) {
		for _, a := range attrs {
			if !seen[a.Keyword] {
				seen[a.Keyword] = true
				out = append(out, a.Keyword)
			}
		}
	}
	for _, k := range f.kinds {
		add(object.Attrs(k))
	}
	for _, v := range f.views {
		add(v.Attrs())
	}
	return out
}

// narrowed is the form with the views that TYPE(...) among the items leaves.
func (f *form) narrowed(items []item) *form {
	if f.byType == nil {
		return f
	}
	typed := ""
	for _, it := range items {
		if it.key.text == "TYPE" && len(it.args) == 1 {
			typed = it.args[0].text
		}
	}
	views, ok := f.byType[typed]
	if !ok {
		return f // the value is wrong; that error comes when it is read
	}
	g := *f
	g.views = views
	if len(views) == 1 && views[0].Attr("MONQ") == nil {
		g.groups = nil
	}
	return &g
}
