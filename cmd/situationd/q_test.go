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
		{"-IDCQ1 -mQM2 -w10000", defaultQ(func(o *qOptions) { o.input, o.qmgr, o.wait = "DCQ1", "QM2", 10_000_000 })},
		{"-oDCQ1 -mQM1", defaultQ(func(o *qOptions) { o.output, o.qmgr = "DCQ1", "QM1" })},
		{"-o DCQ1 -m QM1 -p 5", defaultQ(func(o *qOptions) { o.output, o.qmgr, o.commit = "DCQ1", "QM1", 5 })},
		{"-IX -mQM -oX -p1", defaultQ(func(o *qOptions) { o.input, o.output, o.qmgr, o.commit = "X", "X", "QM", 1 })},
		{"-iQ -w -1", defaultQ(func(o *qOptions) { o.input, o.browse, o.wait = "Q", true, mqi.MQWI_UNLIMITED })},
		{"-IQ -p-7 -w99999999", defaultQ(func(o *qOptions) { o.input, o.commit, o.ifPers, o.wait = "Q", 7, true, mqi.MQWI_UNLIMITED })},
		{"-OQM/Q -apxR -P9 -y100 -rR -1", defaultQ(func(o *qOptions) {
			o.output, o.bind, o.persistence, o.noCommands, o.msgType = "QM/Q", mqi.MQOO_BIND_ON_OPEN, mqi.MQPER_PERSISTENT, true, mqi.MQMT_REQUEST
			o.priority, o.expiry, o.replyTo, o.put1 = 9, 100, "R", true
		})},
		{"-IQ -v2 -q -L3 -=100 -Vc", defaultQ(func(o *qOptions) {
			o.input, o.verbose, o.quiet, o.limit, o.maxLength, o.truncate, o.exit = "Q", 2, true, 3, 100, true, 'c'
		})},
		{"-IQ -=n100 -gxm4142", defaultQ(func(o *qOptions) {
			o.input, o.maxLength, o.match = "Q", 100, qIdentifier{kind: 'm', id: mqi.MsgId{'A', 'B'}}
		})},
		{"-IQ -oR -Ca --data /d", defaultQ(func(o *qOptions) { o.input, o.output, o.context, o.data = "Q", "R", 'a', "/d" })},
	} {
		got, err := parseQ(strings.Fields(tt.line))
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(qOptions{}, qIdentifier{})); diff != "" {
			t.Errorf("%s: %s", tt.line, diff)
		}
	}
}

func TestParseQ_Wrong_OneLine(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"-IQ \u2013p1": "long dash (U+2013); type a plain minus sign",
		"":             "name a queue",
		"Q":            `"Q" is not an option`,
		"-I":           "-I needs a value",
		"-IQ -p1x":     "-p takes a number",
		"-IQ -P10":     "-P takes a number from -1 to 9",
		"-IQ -az":      "-az is not an attribute",
		"-IQ -k":       "-k is not an option of this version",
		"-oA -oB":      "several output queues",
		"-IQ -Mtext":   "-M and -f put messages of their own",
		"-IQ -gxmZZ":   "not hexadecimal",
		"-IQ -g1":      "m, c or g",
		"-IQ --wait":   "--wait is not an option",
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
	} {
		got, err := parseQCommand(line)
		if err != nil || got != want {
			t.Errorf("%s gives %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"#", "#x", "#0", "#-1", "#1/x", "#1/2/3/4/5", "#c5", "#1 2"} {
		if got, err := parseQCommand(line); err == nil {
			t.Errorf("%s gives %+v", line, got)
		}
	}
	c := qCommand{text: "#5"}
	for size, want := range map[int]string{0: "#5", 1: "#", 4: "#5  "} {
		if got := c.body(size); got != want {
			t.Errorf("size %d gives %q", size, got)
		}
	}
}
