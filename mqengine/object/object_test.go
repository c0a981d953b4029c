package object

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		kind    Kind
		keyword string
		values  []string
		want    string // Str afterwards
		fault   Fault
	}{
		{QLocal, "PUT", []string{"disabled"}, "DISABLED", 0},
		{QLocal, "PUT", []string{"DISABLED "}, "DISABLED", 0},
		{QLocal, "MAXDEPTH", []string{"0007"}, "7", 0},
		{QLocal, "DESCR", []string{"It's  a text   "}, "It's  a text", 0},
		{QLocal, "DESCR", nil, "", 0},
		{QLocal, "CLUSTER", []string{" "}, "", 0},
		{QLocal, "NOSHARE", nil, "NOSHARE", 0},
		{QLocal, "TRIGGER", nil, "TRIGGER", 0},
		{QAlias, "TARGQ", []string{"BASE"}, "BASE", 0},
		{Sender, "KAINT", []string{"auto"}, "AUTO", 0},
		{Sender, "KAINT", []string{"60"}, "60", 0},
		{QMgr, "MAXPROPL", []string{"NOLIMIT"}, "NOLIMIT", 0},
		{Namelist, "NAMES", []string{"A", "b", " "}, "A,b", 0},
		{Namelist, "NAMES", []string{" "}, "", 0},

		{QLocal, "NONSENSE", []string{"1"}, "", FaultUnknown},
		{QAlias, "CLWLUSEQ", []string{"ANY"}, "", FaultUnknown},
		{QLocal, "CURDEPTH", []string{"1"}, "", FaultReadOnly},
		{QLocal, "CRDATE", []string{"2026-01-01"}, "", FaultReadOnly},
		{QLocal, "QUEUE", []string{"B"}, "", FaultReadOnly},
		{QLocal, "CLWLRANK", []string{"10"}, "", FaultRange},
		{QLocal, "CLWLRANK", []string{"-1"}, "", FaultRange},
		{QLocal, "CLWLRANK", []string{"+1"}, "", FaultRange},
		{QLocal, "CLWLRANK", []string{"1_0"}, "", FaultRange},
		{QLocal, "CLWLRANK", []string{""}, "", FaultRange},
		{QLocal, "MAXDEPTH", []string{"99999999999999999999999"}, "", FaultRange},
		{ClusRcvr, "CLWLWGHT", []string{"0"}, "", FaultRange},
		{ClusRcvr, "CLWLWGHT", []string{"100"}, "", FaultRange},
		{QMgr, "MAXMSGL", []string{"1000"}, "", FaultRange},
		{QLocal, "PUT", []string{"MAYBE"}, "", FaultEnum},
		{QMgr, "CLWLUSEQ", []string{"QMGR"}, "", FaultEnum},
		{QLocal, "DESCR", []string{strings.Repeat("x", 65)}, "", FaultLength},
		{QLocal, "CLUSTER", []string{strings.Repeat("x", 49)}, "", FaultLength},
		{QLocal, "CLUSTER", []string{"C 1"}, "", FaultName},
		{QLocal, "DESCR", []string{"\xff"}, "", FaultText},
		{QLocal, "DESCR", []string{"a\nb"}, "", FaultText},
		{QLocal, "PUT", []string{"ENABLED", "DISABLED"}, "", FaultCount},
		{QLocal, "TRIGGER", []string{"YES"}, "", FaultCount},
		{Namelist, "NAMES", make257(), "", FaultCount},
		{Namelist, "NAMES", []string{"A", "B?"}, "", FaultName},
	} {
		o := New(tt.kind, "X")
		before := o.Clone()
		err := o.Set(tt.keyword, tt.values...)
		if tt.want == "" && err != nil {
			var ve *ValueError
			if !errors.As(err, &ve) || ve.Fault != tt.fault || !strings.Contains(err.Error(), tt.keyword) {
				t.Errorf("%s Set(%s, %q): error %v, want fault %d", tt.kind, tt.keyword, tt.values, err, tt.fault)
			}
			if !o.Equal(before) {
				t.Errorf("%s Set(%s, %q) failed and changed the object", tt.kind, tt.keyword, tt.values)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s Set(%s, %q): %v", tt.kind, tt.keyword, tt.values, err)
			continue
		}
		if tt.fault != 0 {
			t.Errorf("%s Set(%s, %q): no error, want fault %d", tt.kind, tt.keyword, tt.values, tt.fault)
		}
		if got := o.Str(tt.keyword); got != tt.want {
			t.Errorf("%s Set(%s, %q): %q, want %q", tt.kind, tt.keyword, tt.values, got, tt.want)
		}
	}
}

func make257() []string {
	names := make([]string, 257)
	for i := range names {
		names[i] = "N"
	}
	return names
}

func TestReading(t *testing.T) {
	o := New(QLocal, "DCQ1")
	if o.Int("MAXDEPTH") != 5000 || o.Str("PUT") != "ENABLED" || o.Flag("TRIGGER") || !o.Flag("SHARE") || o.Str("TYPE") != "QLOCAL" || o.Str("QUEUE") != "DCQ1" {
		t.Error("a new queue does not have the defaults")
	}
	if New(QModel, "M").Flag("SHARE") || New(QModel, "M").Str("DEFSOPT") != "EXCL" || New(Sender, "S").Str("MCATYPE") != "PROCESS" {
		t.Error("defaults of a kind are not its own")
	}
	if New(QMgr, "Q").Int("MAXPROPL") != -1 {
		t.Error("NOLIMIT has no negative number")
	}
	if err := o.Set("CLWLRANK", "9"); err != nil || o.Int("CLWLRANK") != 9 || o.IsDefault("CLWLRANK") {
		t.Error("CLWLRANK was not set", err)
	}
	if err := o.Set("CLWLRANK", "0"); err != nil || !o.IsDefault("CLWLRANK") || !o.Equal(New(QLocal, "DCQ1")) {
		t.Error("back at its default the object is not as it was", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("reading an attribute that the kind has not got does not panic")
		}
	}()
	o.Int("BATCHSZ")
}

func TestCloneIsIndependent(t *testing.T) {
	o := New(QLocal, "A")
	for _, kv := range [][2]string{{"DESCR", "one"}, {"CLUSTER", "C1"}, {"MAXDEPTH", "10"}} {
		if err := o.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	c := o.Clone()
	c.Name = "B"
	for _, kv := range [][2]string{{"DESCR", "two"}, {"CLUSTER", " "}, {"PUT", "DISABLED"}} {
		if err := c.Set(kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	if o.Str("DESCR") != "one" || o.Str("CLUSTER") != "C1" || o.Str("PUT") != "ENABLED" || o.Name != "A" || o.Equal(c) {
		t.Error("changing a clone changed its origin")
	}
}

func TestField(t *testing.T) {
	type field struct {
		Key    string
		Values []string
		Bare   bool
	}
	nl := New(Namelist, "NL")
	if err := nl.Set("NAMES", "C1", "C2"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		o       *Object
		keyword string
		want    field
	}{
		{New(QLocal, "A"), "QUEUE", field{"QUEUE", []string{"A"}, false}},
		{New(QAlias, "A"), "TYPE", field{"TYPE", []string{"QALIAS"}, false}},
		{New(ClusSdr, "C"), "CHLTYPE", field{"CHLTYPE", []string{"CLUSSDR"}, false}},
		{New(QLocal, "A"), "TRIGGER", field{"NOTRIGGER", nil, true}},
		{New(QLocal, "A"), "NOSHARE", field{"SHARE", nil, true}},
		{New(QLocal, "A"), "CURDEPTH", field{"CURDEPTH", []string{""}, false}},
		{New(QLocal, "A"), "CLUSTER", field{"CLUSTER", []string{""}, false}},
		{New(QAlias, "A"), "TARGQ", field{"TARGET", []string{""}, false}},
		{New(QMgr, "QM1"), "QMNAME", field{"QMNAME", []string{"QM1"}, false}},
		{nl, "NAMES", field{"NAMES", []string{"C1", "C2"}, false}},
		{nl, "NAMCOUNT", field{"NAMCOUNT", []string{"2"}, false}},
		{New(Namelist, "N"), "NAMES", field{"NAMES", []string{""}, false}},
	} {
		key, values, bare := tt.o.Field(tt.keyword)
		if d := cmp.Diff(tt.want, field{key, values, bare}); d != "" {
			t.Errorf("%s.Field(%s) (-want +got):\n%s", tt.o.Kind(), tt.keyword, d)
		}
	}
}

func TestTimes(t *testing.T) {
	zone := time.FixedZone("test", 2*60*60)
	o := New(QLocal, "A")
	o.SetTimes(time.Date(2026, 1, 2, 3, 4, 5, 0, zone), time.Date(2025, 12, 31, 23, 59, 59, 0, zone))
	got := []string{o.Str("ALTDATE"), o.Str("ALTTIME"), o.Str("CRDATE"), o.Str("CRTIME")}
	if d := cmp.Diff([]string{"2026-01-02", "03.04.05", "2025-12-31", "23.59.59"}, got); d != "" {
		t.Error(d)
	}
	o.SetTimes(time.Date(2026, 2, 3, 4, 5, 6, 0, zone), time.Time{})
	if o.Str("ALTDATE") != "2026-02-03" || o.Str("CRDATE") != "2025-12-31" {
		t.Error("a change without a creation time touched the creation, or did nothing")
	}
	alias := New(QAlias, "A") // has no creation time
	alias.SetTimes(time.Unix(0, 0).UTC(), time.Unix(0, 0).UTC())
	if alias.Str("ALTDATE") != "1970-01-01" {
		t.Error("an alias has no change time")
	}
}

func TestQMID(t *testing.T) {
	at := time.Date(2012, 12, 31, 17, 31, 53, 0, time.UTC)
	if got := QMID("qmgr1", at); got != "qmgr1_2012-12-31_17.31.53" {
		t.Errorf("QMID = %s", got)
	}
	long := strings.Repeat("Q", 47)
	one, two := QMID(long+"1", at), QMID(long+"2", at)
	for _, got := range []string{one, two, QMID(strings.Repeat("Q", 29), at)} {
		if len(got) != MaxName || !strings.HasPrefix(got, strings.Repeat("Q", 20)) || !strings.HasSuffix(got, "_2012-12-31_17.31.53") {
			t.Errorf("long name: %q", got)
		}
	}
	if one == two {
		t.Errorf("two queue managers of the same second have the identifier %q", one)
	}
	if got := QMID(long[:28], at); got != long[:28]+"_2012-12-31_17.31.53" {
		t.Errorf("the longest name that fits: %q", got)
	}
}

func TestNames(t *testing.T) {
	for _, tt := range []struct {
		name    string
		queue   bool
		channel bool
	}{
		{"A", true, true}, {"DCQ1", true, true}, {"a.B/c_d%9", true, true}, {".", true, true},
		{strings.Repeat("X", 20), true, true}, {strings.Repeat("X", 21), true, false},
		{strings.Repeat("X", 48), true, false}, {strings.Repeat("X", 49), false, false},
		{"", false, false}, {"A B", false, false}, {"A*", false, false}, {"A-B", false, false}, {"Ä", false, false}, {"A\x00", false, false}, {"A\xff", false, false},
	} {
		if err := CheckQueueName(tt.name); (err == nil) != tt.queue {
			t.Errorf("CheckQueueName(%q) = %v", tt.name, err)
		}
		if err := CheckChannelName(tt.name); (err == nil) != tt.channel {
			t.Errorf("CheckChannelName(%q) = %v", tt.name, err)
		}
		if err := CheckName(Receiver, tt.name); (err == nil) != tt.channel {
			t.Errorf("CheckName(RCVR, %q) = %v", tt.name, err)
		}
	}
}

func TestCheckQMID(t *testing.T) {
	now := time.Date(2026, 11, 30, 4, 57, 10, 0, time.UTC)
	for _, name := range []string{"A", "a/b%c.d_e", strings.Repeat("X", 48)} {
		if err := CheckQMID(QMID(name, now)); err != nil {
			t.Errorf("the QMID of %s: %v", name, err)
		}
	}
	for _, id := range []string{"", "A|B", "A B", "A\x1b", "A\xff", strings.Repeat("X", 49)} {
		if CheckQMID(id) == nil {
			t.Errorf("%q is a QMID", id)
		}
	}
}

func TestValidate(t *testing.T) {
	type set map[string]string
	for _, tt := range []struct {
		kind Kind
		name string
		set  set
		id   string
		code int
	}{
		{QLocal, "A", set{"CLUSTER": "C1"}, "", 0},
		{QLocal, "A", set{"CLUSTER": "C1", "CLUSNL": "NL"}, "AMQ8433E", 0},
		{QAlias, "A", set{"CLUSTER": "C1", "CLUSNL": "NL"}, "AMQ8433E", 0},
		{QLocal, "A", set{"CLUSTER": "C1", "USAGE": "XMITQ"}, "AMQ8442E", 3090},
		{QLocal, "A", set{"CLUSNL": "NL", "USAGE": "XMITQ"}, "AMQ8442E", 3090},
		{QLocal, "A", set{"USAGE": "XMITQ"}, "", 0},
		{QLocal, "SYSTEM.CLUSTER.COMMAND.QUEUE", set{"CLUSTER": "C1"}, "AMQ8442E", 3090},
		{QLocal, "A", set{"QDEPTHHI": "10"}, "AMQ8425E", 0},
		{QMgr, "A", set{"REPOS": "C1"}, "", 0},
		{QMgr, "A", set{"REPOS": "C1", "REPOSNL": "NL"}, "AMQ8432E", 0},
		{Sender, "A", set{"CONNAME": "h(1)"}, "AMQ8421E", 0},
		{Sender, "A", set{"CONNAME": "h(1)", "XMITQ": "X"}, "", 0},
		{ClusSdr, "A", set{"CLUSTER": "C1"}, "AMQ8421E", 0},
		{ClusRcvr, "A", set{"CLUSTER": "C1"}, "AMQ8421E", 0},
		{ClusRcvr, "A", set{"CLUSTER": "C1", "CLUSNL": "N", "CONNAME": "h(1)"}, "AMQ8433E", 0},
		{ClusRcvr, "A", set{"CLUSTER": "C1", "CONNAME": "h(1)"}, "", 0},
		{ClusRcvr, "A", nil, "", 0}, // out of its cluster it may stay without an address
		{Receiver, "A", nil, "", 0},
		{Namelist, "A", nil, "", 0},
	} {
		o := New(tt.kind, tt.name)
		for k, v := range tt.set {
			if err := o.Set(k, v); err != nil {
				t.Fatal(err)
			}
		}
		err := o.Validate()
		var c *Conflict
		switch {
		case tt.id == "" && err != nil:
			t.Errorf("%s %v: %v", tt.kind, tt.set, err)
		case tt.id != "" && (!errors.As(err, &c) || c.ID != tt.id || c.Code != tt.code || !strings.Contains(err.Error(), tt.id)):
			t.Errorf("%s %v: %v, want %s %d", tt.kind, tt.set, err, tt.id, tt.code)
		}
	}
}

func TestSystemObjects(t *testing.T) {
	byName := map[string]*Object{}
	for _, o := range SystemObjects() {
		if byName[o.Name] != nil {
			t.Errorf("%s is there twice", o.Name)
		}
		byName[o.Name] = o
		if err := CheckName(o.Kind(), o.Name); err != nil {
			t.Error(err)
		}
		if err := o.Validate(); err != nil {
			t.Errorf("%s: %v", o.Name, err)
		}
	}
	for _, name := range []string{"SYSTEM.CLUSTER.COMMAND.QUEUE", "SYSTEM.CLUSTER.REPOSITORY.QUEUE", "SYSTEM.CLUSTER.TRANSMIT.QUEUE",
		"SYSTEM.CLUSTER.TRANSMIT.MODEL.QUEUE", "SYSTEM.CLUSTER.HISTORY.QUEUE", "SYSTEM.DEF.CLUSRCVR", "SYSTEM.DEF.CLUSSDR",
		"SYSTEM.DEAD.LETTER.QUEUE", "SYSTEM.ADMIN.COMMAND.QUEUE", "SYSTEM.ADMIN.QMGR.EVENT", "SYSTEM.DEFAULT.NAMELIST"} {
		if byName[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for k := QLocal; k < QMgr; k++ {
		o := byName[DefaultName(k)]
		if o == nil || o.Kind() != k {
			t.Errorf("%s has no default object", k)
			continue
		}
		o.Name = "X"
		if !o.Equal(New(k, "X")) {
			t.Errorf("%s does not have the table's defaults", DefaultName(k))
		}
	}
	if DefaultName(QMgr) != "" || DefaultName(KindNone) != "" {
		t.Error("what has no default object names one")
	}
	if q := byName["SYSTEM.CLUSTER.TRANSMIT.QUEUE"]; q.Str("USAGE") != "XMITQ" {
		t.Error("the cluster transmission queue is none")
	}
	SystemObjects()[0].mustSet("DESCR", "changed")
	if SystemObjects()[0].Str("DESCR") == "changed" {
		t.Error("two calls share an object")
	}
}
