package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/mqengine/mqi"
)

func defaultQ(change func(*qOptions)) *qOptions {
	o, _ := parseQ([]string{"-IQ"})
	o.input = ""
	change(o)
	return o
}

func TestParseQ(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line string
		want *qOptions
	}{
		{"-IDCQ1 -mQM2 -w10000", defaultQ(func(o *qOptions) { o.input, o.qmgrs, o.wait = "DCQ1", []string{"QM2"}, 10_000_000 })},
		{"-oDCQ1 -mQM1", defaultQ(func(o *qOptions) { o.outputs, o.qmgrs = []string{"DCQ1"}, []string{"QM1"} })},
		{"-o DCQ1 -m QM1 -p 5", defaultQ(func(o *qOptions) { o.outputs, o.qmgrs, o.commit = []string{"DCQ1"}, []string{"QM1"}, 5 })},
		{"-IX -mQM -oX -p1", defaultQ(func(o *qOptions) { o.input, o.outputs, o.qmgrs, o.commit = "X", []string{"X"}, []string{"QM"}, 1 })},
		{"-IX -mQM1,QM2 -oA -oB", defaultQ(func(o *qOptions) { o.input, o.outputs, o.qmgrs = "X", []string{"A", "B"}, []string{"QM1", "QM2"} })},
		{"-IX -m QM1 -m QM2 -oA", defaultQ(func(o *qOptions) { o.input, o.outputs, o.qmgrs = "X", []string{"A"}, []string{"QM1", "QM2"} })},
		{"-iQ -w -1", defaultQ(func(o *qOptions) { o.input, o.browse, o.wait = "Q", true, mqi.MQWI_UNLIMITED })},
		{"-b -IQ -k", defaultQ(func(o *qOptions) { o.input, o.browse, o.lock = "Q", true, true })},
		{"-IQ -p-7 -w99999999", defaultQ(func(o *qOptions) { o.input, o.commit, o.ifPers, o.wait = "Q", 7, true, mqi.MQWI_UNLIMITED })},
		{"-OQM/Q -apxR -P9 -y100 -rR -1", defaultQ(func(o *qOptions) {
			o.outputs, o.bind, o.persistence, o.noCommands, o.msgType = []string{"QM/Q"}, mqi.MQOO_BIND_ON_OPEN, mqi.MQPER_PERSISTENT, true, mqi.MQMT_REQUEST
			o.priority, o.expiry, o.replyTo, o.put1 = 9, 100, "R", true
		})},
		{"-IQ -v2 -q -L3 -=100 -Vc", defaultQ(func(o *qOptions) {
			o.input, o.verbose, o.quiet, o.limit, o.maxLength, o.truncate, o.exit = "Q", 2, true, 3, 100, true, 'c'
		})},
		{"-IQ -=n100 -gxm4142 -gcAB", defaultQ(func(o *qOptions) {
			id := mqi.MsgId([]byte("AB                      "))
			o.input, o.maxLength, o.get = "Q", 100, qIdentifiers{msg: &mqi.MsgId{'A', 'B'}, correl: &id}
		})},
		{"-oQ -gpxg01 -gpC", defaultQ(func(o *qOptions) {
			id := mqi.MsgId([]byte("AMQ!NEW_SESSION_CORRELID"))
			o.outputs, o.put = []string{"Q"}, qIdentifiers{group: &mqi.MsgId{1}, correl: &id}
		})},
		{"-IQ -oR -Ca --data /d", defaultQ(func(o *qOptions) { o.input, o.outputs, o.context, o.data = "Q", []string{"R"}, 'a', "/d" })},
		{"-oQ -ncacdfd,e -rR -j NONE", defaultQ(func(o *qOptions) {
			o.outputs, o.replyTo, o.hasFormat = []string{"Q"}, "R", true
			o.report = mqi.MQRO_COA | mqi.MQRO_COD_WITH_FULL_DATA | mqi.MQRO_EXCEPTION
		})},
		{"-oQ -r +R -h #x -Uanna -Aiid -Aoorig -Aatok", defaultQ(func(o *qOptions) {
			o.outputs, o.replyTo, o.waitReply, o.filter, o.user, o.hasUser = []string{"Q"}, "R", true, "#x", "anna", true
			o.identity, o.origin, o.accounting = "id", "orig", "tok"
		})},
		{"-IQ -E -ddha3 -W5 -t -xq -aD", defaultQ(func(o *qOptions) {
			o.input, o.echo, o.echoQMgr, o.sleep, o.timings, o.goOn, o.close = "Q", true, true, 5, true, true, mqi.MQCO_DELETE
			o.detail = qDetail{md: true, hex: true, properties: true, level: 3}
		})},
	} {
		got, err := parseQ(strings.Fields(tt.line))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(qOptions{}, qIdentifiers{}, qDetail{})); diff != "" {
			t.Errorf("%s: %s", tt.line, diff)
		}
	}
}

func TestParseQ_Wrong_OneLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-IQ \u2013p1":      "long dash (U+2013); type a plain minus sign",
		"":                  "name a queue",
		"Q":                 `"Q" is not an option`,
		"-I":                "-I needs a value",
		"-IQ -p1x":          "-p takes a number",
		"-IQ -P10":          "-P takes a number from -1 to 9",
		"-IQ -az":           "-az is not an attribute",
		"-IQ -G":            "-G is not an option of this version",
		"-oQ -M":            "-M needs a value",
		"-IQ -oR -mA,B,C":   "two queue managers are enough",
		"-IQ -h":            "-h needs a value",
		"-IQ -H":            "-H needs a value",
		"-oQ -Ha=1":         "-H selects messages of an input queue",
		"-oQ -gmA":          "-g gets by identifier",
		"-iQ -e":            "-e and -E echo messages that are got",
		"-oQ -E":            "-e and -E echo messages that are got",
		"-eQ -IQ":           "-e takes no value",
		"-oQ -k":            "-k locks messages that are browsed",
		"-oQ -mA,B":         "a second queue manager is that of the output",
		"-IQ -oR -mA,B -mC": "two queue managers are enough",
		"-IQ -oR -mA,":      "the name of a queue manager is missing",
		"-oQ -Mx -fy":       "-M and -f exclude each other",
		"-oQ -Xa -Fb":       "-F and -X exclude each other",
		"-IQ -oR -Ff":       "leave out -o",
		"-IQ -r+R":          "-r+ waits for the replies",
		"-oQ -r+":           "-r+ needs a queue",
		"-oQ -Ca":           "-Ca passes the context of messages that are got",
		"-IQ -hx -ac":       "-h looks at messages one by one",
		"-oQ -nqq":          "no report option",
		"-oQ -jTOOLONGNAME": "-j takes at most 8 characters",
		"-oQ -AoTOOLONG":    "-Ao takes at most 4 characters",
		"-oQ -Axy":          "-A begins with i, a or o",
		"-oQ -U+anna":       "-U+ opens as another user",
		"-IQ -dz":           "-dz is not a detail",
		"-IQ -xz":           "-xz is not an option of a connection",
		"-IQ -Vx":           "-V is z or c",
		"-IQ -v9":           "-v takes a number from 1 to 5",
		"-IQ -W-1":          "-W takes a number",
		"-IQ -L0":           "-L takes a number",
		"-oQ -y0":           "-y takes a number",
		"-IQ -Ts:x":         "there is no publish/subscribe",
		"-Sd":               "there is no publish/subscribe",
		"-IQ -c1208":        "messages are not converted",
		"-IQ -gC":           "the session of CICS is -gpC",
		"-IQ -$ab":          "-$ takes one character",
		"-IQ -Mtext":        "-M puts messages of its own, -I gets them",
		"-IQ -gxmZZ":        "not hexadecimal",
		"-IQ -g1":           "m, c or g",
		"-IQ --wait":        "--wait is not an option",
	} {
		_, err := parseQ(strings.Fields(line))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q gives %v, want %q", line, err, want)
		}
	}
}

func TestParseQCommand(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]qCommand{
		"#100":             {text: "#100", times: 100},
		"#3/10":            {text: "#3/10", times: 3, size: 10},
		"#3/-10/2/50":      {text: "#3/-10/2/50", times: 3, size: -10, delay: 2 * time.Second, commit: 50},
		"#!7 some text":    {text: "some text", times: 7},
		"#!7/20 some text": {text: "some text", times: 7, size: 20},
		"#c5/100":          {text: "#c5/100", random: true, times: 5, size: 100},
		"#!c2/9 x":         {text: "x", random: true, times: 2, size: 9},
	} {
		got, err := parseQCommand(line)
		if err != nil || got != want {
			t.Errorf("%s gives %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"#", "#x", "#0", "#-1", "#1/x", "#1/2/3/4/5", "#c", "#1 2"} {
		if got, err := parseQCommand(line); err == nil {
			t.Errorf("%s gives %+v", line, got)
		}
	}
	c := qCommand{text: "#5"}
	for size, want := range map[int]string{0: "#5", 1: "#", 4: "#5  "} {
		if got := string(c.body(size)); got != want {
			t.Errorf("size %d gives %q", size, got)
		}
	}
}
