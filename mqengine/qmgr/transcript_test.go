package qmgr

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/situationd/situationd/mqengine/mqi"
)

var update = flag.Bool("update", false, "write what the transcripts answer now")

// TestTranscripts runs testdata/transcripts: the file "in" has MQSC commands and
// steps of applications, "out" what is answered. A line of "in" is a command, or
//
//	app N open QUEUE[@QMGR] option...    app N put HANDLE TEXT option...
//	app N get HANDLE option...    app N close HANDLE | commit | back | die
//	restart                       wait DURATION
func TestTranscripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := transcript(newRig(t), string(archive.Files[0].Data))
			if *update {
				archive.Files = append(archive.Files[:1], txtar.File{Name: "out", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func transcript(r *rig, input string) string {
	var b strings.Builder
	for line := range strings.Lines(input) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		b.WriteString("> " + line + "\n")
		words := strings.Fields(line)
		switch words[0] {
		case "app":
			b.WriteString(r.appStep(words[1], words[2:]) + "\n")
		case "restart":
			r.crash()
		case "wait":
			d, err := time.ParseDuration(words[1])
			if err != nil {
				r.t.Fatal(err)
			}
			r.after(d)
		default:
			b.WriteString(r.mqsc(line))
		}
	}
	return b.String()
}

var optionWords = map[string]int32{
	"input": in, "exclusive": mqi.MQOO_INPUT_EXCLUSIVE, "output": out, "browse": mqi.MQOO_BROWSE, "inquire": mqi.MQOO_INQUIRE,
	"set": mqi.MQOO_SET, "unit": mqi.MQGMO_SYNCPOINT, "first": mqi.MQGMO_BROWSE_FIRST, "next": mqi.MQGMO_BROWSE_NEXT,
}

// appStep carries out one step of an application and gives its result in a line.
func (r *rig) appStep(conn string, words []string) string {
	c := ConnID(conn[0] - '0')
	if r.m.conns[c] == nil {
		r.step(Connect{Conn: c, Appl: Appl{Tag: "app" + conn, PID: 4000 + int(c), UserID: "amy"}})
	}
	options, text := int32(0), ""
	for _, w := range words[min(2, len(words)):] {
		if o, ok := optionWords[w]; ok {
			options |= o
		} else {
			text = w
		}
	}
	handle := uint32(0)
	if len(words) > 1 && words[0] != "open" {
		handle = uint32(words[1][0] - '0')
	}
	switch words[0] {
	case "open":
		name, qmgr, _ := strings.Cut(words[1], "@")
		reply := r.call(c, OpenReq{OD: mqi.OD{ObjectName: name, ObjectQMgrName: qmgr}, Options: options})
		if reply.CompCode != mqi.MQCC_OK {
			return reply.Reason.Error()
		}
		return fmt.Sprint("handle ", reply.Result.(OpenResult).Handle)
	case "put":
		return r.call(c, r.putReq(handle, text, func(p *PutReq) { p.PMO.Options = options })).Reason.Error()
	case "get":
		return r.get(c, handle, options)
	case "close":
		return r.call(c, CloseReq{Handle: handle}).Reason.Error()
	case "commit":
		return r.call(c, CommitReq{}).Reason.Error()
	case "back":
		return r.call(c, BackReq{}).Reason.Error()
	case "die":
		r.step(Disconnect{Conn: c, Abrupt: true})
		return "died"
	}
	r.t.Fatalf("unknown step %v", words)
	return ""
}
