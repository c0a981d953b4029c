package qmgr

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
)

// otherValue is a value of an attribute that is not its default.
func otherValue(a *object.Attr, k object.Kind) string {
	switch {
	case a.Type == object.Enum:
		for _, v := range a.Values {
			if v != a.DefaultFor(k) {
				return v
			}
		}
	case a.Type == object.Int && a.DefaultFor(k) == "7":
		return "8"
	case a.Type == object.Int:
		return "7"
	}
	return "'X'"
}

// Every value that asks for what is not here is refused, or said to do nothing:
// of the whole table none is taken in silence.
func TestValuesWithoutBehaviour(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(X)", "DEFINE QLOCAL(T) USAGE(XMITQ)")
	refused, idle := 0, 0
	for k := object.QLocal; k <= object.QMgr; k++ {
		alter := "ALTER " + k.Noun()
		if k != object.QMgr {
			name := "L." + k.String()
			alter += "(" + name + ")"
			define := "DEFINE " + k.Noun() + "(" + name + ")"
			if k.IsChannel() {
				alter += " CHLTYPE(" + k.String() + ")"
				define += " CHLTYPE(" + k.String() + ")"
			}
			switch k {
			case object.Sender:
				define += " XMITQ(T) CONNAME('nowhere')"
			case object.ClusSdr, object.ClusRcvr:
				define += " CONNAME('nowhere')"
			default:
			}
			r.define(define)
		}
		for _, a := range object.Attrs(k) {
			if a.Absent == "" && a.Idle == "" {
				continue
			}
			def := a.DefaultFor(k)
			if def == "" {
				def = "' '"
			}
			if got := r.mqsc(alter + " " + a.Keyword + "(" + def + ")"); !strings.Contains(got, "changed.") || strings.Contains(got, "AMQ8448W") {
				t.Errorf("%s: the default of %s: %s", k, a.Keyword, got)
			}
			got := r.mqsc(alter + " " + a.Keyword + "(" + otherValue(a, k) + ")")
			shown := r.mqsc(strings.NewReplacer("ALTER", "DISPLAY").Replace(alter) + " " + a.Keyword)
			kept := strings.Contains(shown, a.Keyword+"("+strings.Trim(otherValue(a, k), "'")+")")
			switch {
			case a.Absent != "":
				refused++
				if !strings.HasPrefix(got, "AMQ8425E") || !strings.Contains(got, a.Keyword) || !strings.Contains(got, a.Absent) || kept {
					t.Errorf("%s: %s is not refused: %s, and shows\n%s", k, a.Keyword, got, shown)
				}
			default:
				idle++
				if !strings.Contains(got, "changed.") || !strings.Contains(got, "AMQ8448W") || !strings.Contains(got, a.Idle) || !kept {
					t.Errorf("%s: %s is not remarked on: %s, and shows\n%s", k, a.Keyword, got, shown)
				}
			}
		}
	}
	if refused < 60 || idle < 60 {
		t.Errorf("only %d refused and %d idle values were tried", refused, idle)
	}
}

// Commands of MQ for what is not here are no syntax errors; running one fails and says why.
func TestAbsentCommands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, text := range []string{
		"SET CHLAUTH('*') TYPE(BLOCKUSER) USERLIST('*MQADMIN')",
		"SET AUTHREC PROFILE('@class') OBJTYPE(QMGR) GROUP('mqm') AUTHADD(CRT)",
		"DEFINE TOPIC('DEV.BASE.TOPIC') TOPICSTR('dev/') REPLACE",
		"DEF SUB(S) TOPICSTR('a/b') DEST(Q)",
		"DEFINE AUTHINFO(A) AUTHTYPE(IDPWOS) CHCKCLNT(REQDADM)",
		"DEFINE SERVICE(S) CONTROL(QMGR) STARTCMD('/bin/true')",
		"DEFINE CHANNEL(C) CHLTYPE(CLNTCONN) CONNAME('h(1414)') QMNAME(QM1)",
		"DIS APS(*) TYPE(APPL)",
	} {
		if got := r.mqsc(text); !strings.HasPrefix(got, "AMQ8404E: Command failed.") || !strings.Contains(got, "not in this queue manager") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if _, err := mqsc.Parse("SET AUTHREC PROFILE('x"); err == nil {
		t.Error("the grammar of an absent command is not checked")
	}
}

func TestCapExpry(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) CAPEXPRY(100)", "DEFINE QALIAS(A) TARGET(Q) CAPEXPRY(50)", "DEFINE QLOCAL(FREE)")
	c := r.connect(1, "app")
	expiry := func(name string, asked int32) int32 {
		h := r.open(c, name, out)
		r.put(c, h, "m", func(p *PutReq) {
			if asked != 0 {
				p.MD.Expiry = asked
			}
		})
		base := name
		if name == "A" {
			base = "Q"
		}
		g := r.open(c, base, in)
		reply := r.must(c, getReq(g, 0))
		r.must(c, CloseReq{Handle: g})
		return reply.Result.(*GetResult).MD.Expiry
	}
	check(t, "unlimited becomes the cap", expiry("Q", 0), 100)
	check(t, "longer becomes the cap", expiry("Q", 5000), 100)
	check(t, "shorter stays", expiry("Q", 20), 20)
	check(t, "the lowest on the way", expiry("A", 0), 50)
	check(t, "none", expiry("FREE", 0), mqi.MQEI_UNLIMITED)
	h := r.open(c, "Q", inOut)
	r.put(c, h, "gone")
	r.after(11 * time.Second)
	check(t, "it expires", r.get(c, h, 0), "2033")
	r.define("ALTER QLOCAL(Q) CAPEXPRY(NOLIMIT)")
	check(t, "no limit again", expiry("Q", 0), mqi.MQEI_UNLIMITED)
}

func TestMaxFSize(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE QLOCAL(Q) MAXFSIZE(20)")
	c := r.connect(1, "app")
	h := r.open(c, "Q", inOut)
	four := strings.Repeat("x", 4<<20)
	for range 5 {
		r.put(c, h, four)
	}
	full := r.call(c, r.putReq(h, "x"))
	check(t, "over the size", full.Reason, mqi.MQRC_Q_SPACE_NOT_AVAILABLE)
	if got := r.mqsc("DISPLAY QSTATUS(Q) CURFSIZE CURMAXFS"); !strings.Contains(got, "CURFSIZE(20) CURMAXFS(20)") {
		t.Error(got)
	}
	r.must(c, getReq(h, 0))
	check(t, "room again", r.call(c, r.putReq(h, "x")).Reason, mqi.MQRC_NONE)
	r.define("ALTER QLOCAL(Q) MAXFSIZE(DEFAULT)")
	check(t, "a higher limit", r.call(c, r.putReq(h, four)).Reason, mqi.MQRC_NONE)
}
