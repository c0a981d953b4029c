package qmgr

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqsc"
)

var amqID = regexp.MustCompile(`^AMQ\d{4}[IWESD]$`)

// FuzzCommands runs scripts of MQSC: every command is answered with messages, none
// panics, and what they left behind is there after a crash as it was before.
func FuzzCommands(f *testing.F) {
	files, err := filepath.Glob("../../cmd/situationd/testdata/public/*.mqsc")
	if err != nil || len(files) == 0 {
		f.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("DEF NL(N) NAMES(C1,C2)\nDEF QL(Q) CLUSNL(N)\nALT NL(N) NAMES(' ')\nDEL NL(N)\nALTER QL(Q) CLUSNL(' ') CLUSTER(N)\nDEL QL(Q) PURGE")
	f.Add("DEF QA(A) TARGET(A)\nDEF QR(R) RNAME(R) RQMNAME(QM1)\nALT QA(A) TARGET(R) FORCE\nDEF CHL(C) CHLTYPE(RCVR)\nDEF CHL(C) CHLTYPE(SDR) XMITQ(X) CONNAME(H) REPLACE\nSTOP CHL(C)\nSTART CHL(C)\nRESET CHL(C) SEQNUM(5)\nRESOLVE CHL(C) ACTION(BACKOUT)")
	f.Fuzz(func(t *testing.T, script string) {
		r := newRig(t)
		r.cfg.Creating = true // listeners are answered without a network
		r.crash()
		r.connect(9999, "mqsc")
		reader := mqsc.NewReader(strings.NewReader(script))
		for {
			it, err := reader.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			cmd, bad := mqsc.Parse(it.Text)
			if it.Err != nil || bad != nil || cmd.Verb == "PING" && cmd.Noun == "CHANNEL" {
				continue // a ping is answered when the other end does
			}
			tag := r.send(9999, CommandReq{Command: cmd})
			reply, ok := r.replies[tag]
			if !ok {
				t.Fatalf("%s is not answered", cmd)
			}
			res, ok := reply.Result.(mqsc.Result)
			if !ok || len(res.Responses) == 0 {
				t.Fatalf("%s: %v, %d responses", cmd, reply.Reason, len(res.Responses))
			}
			for _, resp := range res.Responses {
				if !amqID.MatchString(resp.ID) || strings.TrimSpace(resp.Text) == "" || strings.Contains(resp.Text, "%!") || strings.Contains(resp.Text, "%1") {
					t.Fatalf("%s: %s", cmd, resp)
				}
			}
		}
		before := r.everything()
		r.crash()
		if after := r.everything(); after != before {
			t.Fatalf("before the crash\n%s\nafter it\n%s", before, after)
		}
	})
}

// everything is all definitions that there are.
func (r *rig) everything() string {
	var b strings.Builder
	for _, d := range []string{"QMGR", "QUEUE(*)", "CHANNEL(*)", "NAMELIST(*)", "PROCESS(*)", "LISTENER(*)"} {
		b.WriteString(r.mqsc("DISPLAY " + d + " ALL"))
	}
	return b.String()
}
