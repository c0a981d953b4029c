package mqsc

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/object"
)

func TestParsedCommand(t *testing.T) {
	c, err := Parse("def ql(a) descr('it''s') notrigger clwlrank(007) like(b) replace")
	if err != nil {
		t.Fatal(err)
	}
	want := &Command{
		Verb: "DEFINE", Noun: "QLOCAL", Kind: object.QLocal, Name: "A", Like: "B", Replace: true,
		Params: []Param{{"DESCR", []string{"it's"}}, {"NOTRIGGER", nil}, {"CLWLRANK", []string{"7"}}},
		Text:   "def ql(a) descr('it''s') notrigger clwlrank(007) like(b) replace",
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	if p, ok := c.Param("CLWLRANK"); !ok || p.Values[0] != "7" {
		t.Error("Param does not find CLWLRANK")
	}
	if _, ok := c.Param("PUT"); ok {
		t.Error("Param finds what is not there")
	}
}

func TestKindOfCommands(t *testing.T) {
	for text, want := range map[string]object.Kind{
		"DEF QA(A)":                       object.QAlias,
		"ALTER CHL(A) CHLTYPE(RCVR)":      object.Receiver,
		"DELETE CHL(A)":                   object.KindNone,
		"DELETE QR(A)":                    object.QRemote,
		"DIS QL(A)":                       object.QLocal,
		"DIS Q(A)":                        object.KindNone,
		"DIS CHANNEL(A)":                  object.KindNone,
		"DIS QS(A)":                       object.KindNone,
		"DIS QMGR":                        object.QMgr,
		"ALTER QMGR MONQ(HIGH)":           object.QMgr,
		"SUSPEND QMGR CLUSTER(C)":         object.QMgr,
		"DIS NL(A)":                       object.Namelist,
		"CLEAR QL(A)":                     object.QLocal,
		"REFRESH CLUSTER(C)":              object.KindNone,
		"START LISTENER(L)":               object.Listener,
		"DEFINE PROCESS(P) APPLICID('x')": object.Process,
	} {
		c, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c.Kind != want {
			t.Errorf("%s: kind %q, want %q", text, c.Kind, want)
		}
	}
}

func TestApply(t *testing.T) {
	c, perr := Parse("DEF QL(A) MAXDEPTH(10) TRIGGER CLUSTER(C1)")
	if perr != nil {
		t.Fatal(perr)
	}
	o := object.New(c.Kind, c.Name)
	if err := c.Apply(o); err != nil {
		t.Fatal(err)
	}
	if o.Int("MAXDEPTH") != 10 || !o.Flag("TRIGGER") || o.Str("CLUSTER") != "C1" {
		t.Error("Apply did not set what was typed")
	}
	if err := c.Apply(object.New(object.QAlias, "A")); err == nil {
		t.Error("an alias took MAXDEPTH")
	}
	if d := cmp.Diff(Field{Key: "MAXDEPTH", Values: []string{"10"}}, FieldOf(o, "MAXDEPTH")); d != "" {
		t.Error(d)
	}
}

func TestWanted(t *testing.T) {
	for _, tt := range []struct {
		command string
		attrs   []*object.Attr
		want    string
	}{
		{"DIS QL(*)", object.Attrs(object.QLocal), "QUEUE TYPE"},
		{"DIS QL(A) PUT CURDEPTH", object.Attrs(object.QLocal), "QUEUE TYPE CURDEPTH PUT"},
		{"DIS Q(A*) MAXDEPTH", object.Attrs(object.QAlias), "QUEUE TYPE"},
		{"DIS QL(*) WHERE(IPPROCS EQ 0)", object.Attrs(object.QLocal), "QUEUE TYPE IPPROCS"},
		{"DIS CHL(*) CONNAME", object.Attrs(object.Sender), "CHANNEL CHLTYPE CONNAME"},
		{"DIS QMGR REPOS", object.Attrs(object.QMgr), "QMNAME REPOS"},
		{"DIS CHS(A)", object.ViewChStatus.Attrs(), "CHANNEL CHLTYPE CONNAME CURRENT RQMNAME SAVED STATUS SUBSTATE XMITQ"},
		{"DIS CHS(*) MSGS", object.ViewChStatus.Attrs(), "CHANNEL CHLTYPE CONNAME CURRENT MSGS RQMNAME SAVED STATUS SUBSTATE XMITQ"},
		{"DIS CLUSQMGR(*) QMTYPE STATUS", object.ViewClusQMgr.Attrs(), "CLUSQMGR CHANNEL CLUSTER QMTYPE STATUS"},
		{"DIS QS(*) IPPROCS", object.ViewQueueStatus.Attrs(), "QUEUE TYPE IPPROCS"},
		{"DIS LSSTATUS(*)", object.ViewLsStatus.Attrs(), "LISTENER STATUS PID"},
		{"DIS CONN(*)", object.ViewConn.Attrs(), "CONN EXTCONN TYPE"},
	} {
		c, err := Parse(tt.command)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, a := range c.Wanted(tt.attrs) {
			got = append(got, a.Keyword)
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%s: %s", tt.command, d)
		}
	}
	for _, all := range []string{"DIS QL(A)", "DIS QL(*) ALL", "DIS QL(A) PUT ALL", "DIS QMSTATUS"} {
		c, err := Parse(all)
		if err != nil {
			t.Fatal(err)
		}
		if attrs := object.Attrs(object.QLocal); len(c.Wanted(attrs)) != len(attrs) {
			t.Errorf("%s does not show everything", all)
		}
	}
}

// Whatever is wrong, the report names a message that exists and repeats the command up to the fault.
func TestErrorResponses(t *testing.T) {
	for _, text := range []string{"", "FOO", "DEF QL(A) FOO(1)", "DEF QL(A) CLWLRANK(11)", "DEF QL(A", strings.Repeat("X", MaxCommand+1), "DEF QL(A) DESCR('" + strings.Repeat("é", 5000) + "')"} {
		_, err := Parse(text)
		if err == nil {
			t.Errorf("%.40q parsed", text)
			continue
		}
		rs := err.Responses()
		if len(rs) != 2 || rs[0].ID != "AMQ8405I" || !mqi.KnownAMQ(rs[1].ID) || !strings.Contains(rs[0].Text, err.Segment) || len(rs[0].Text) > 3000 {
			t.Errorf("%.40q: responses %v", text, rs)
		}
	}
}

func TestNearest(t *testing.T) {
	valid := []string{"MAXDEPTH", "MAXMSGL", "PUT", "EQ"}
	for typed, want := range map[string]string{"MAXDEPT": "MAXDEPTH", "maxdetph": "MAXDEPTH", "MAXMSG": "MAXMSGL", "PUR": "PUT", "GET": "", "NE": "", "": "",
		strings.Repeat("MAXDEPTH", 100): ""} {
		if got := nearest(typed, valid); got != want {
			t.Errorf("nearest(%.20q) = %q, want %q", typed, got, want)
		}
	}
}

// The message ids that this package uses are in the table.
func TestIDsAreKnown(t *testing.T) {
	for _, id := range []string{idParser, idDuplicate, idRange, idLength, idMissing, idName, idValue, idVerb, idKeyword} {
		if !mqi.KnownAMQ(id) {
			t.Errorf("%s is not in the message table", id)
		}
	}
}

// The words of groups stand for attributes that there are, and every attribute of
// the queue manager is in one.
func TestGroups(t *testing.T) {
	grouped := map[string]bool{}
	for _, f := range displayForms {
		for g, keywords := range f.groups {
			for _, k := range keywords {
				grouped[f.noun+" "+k] = true
				if f.attr(k) == nil {
					t.Errorf("DISPLAY %s %s: there is no attribute %s", f.noun, g, k)
				}
			}
			if f.attr(g) != nil || f.param(g) != nil {
				t.Errorf("DISPLAY %s %s is an attribute too", f.noun, g)
			}
		}
	}
	for _, a := range object.Attrs(object.QMgr) {
		if !grouped["QMGR "+a.Keyword] {
			t.Errorf("DISPLAY QMGR: %s is in no group", a.Keyword)
		}
	}
	c, err := Parse("DIS QMGR EVENT MAXHANDS CLUSTER")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, a := range c.Wanted(object.Attrs(object.QMgr)) {
		shown = append(shown, a.Keyword)
	}
	want := "QMNAME AUTHOREV CHLEV CLWLDATA CLWLEXIT CLWLLEN CLWLMRUC CLWLUSEQ CMDEV CONFIGEV DEFCLXQ INHIBTEV LOCALEV LOGGEREV MAXHANDS " +
		"MONACLS PERFMEV QMID REMOTEEV REPOS REPOSNL SSLEV STATACLS STRSTPEV"
	if got := strings.Join(shown, " "); got != want {
		t.Errorf("shown are %s", got)
	}
}

// What there is no command for is in no form.
func TestAbsentIsNotThere(t *testing.T) {
	for _, f := range forms {
		if why := absent(f.verb, f.noun); why != "" {
			t.Errorf("%s %s is both there and absent: %s", f.verb, f.noun, why)
		}
	}
	for typ := range absentChannels {
		if object.ParseKind(typ) != object.KindNone {
			t.Errorf("channels of type %s are there", typ)
		}
	}
}
