package qmgr

import (
	"strings"
	"testing"

	"github.com/situationd/situationd/mqengine/mqsc"
)

// An answer that is too long is refused as a whole, with what to do; no part of it is given.
func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	cmd, perr := mqsc.Parse("DISPLAY QLOCAL(*) ALL")
	if perr != nil {
		t.Fatal(perr)
	}
	r := newReport(cmd, "AMQ8409I")
	record := mqsc.Response{ID: "AMQ8409I", Text: "Display Queue details.", Fields: []mqsc.Field{{Key: "DESCR", Values: []string{strings.Repeat("x", 1<<20)}}}}
	for range maxReport>>20 - 1 {
		r.append(record)
	}
	if res := r.result(); res.Failed || len(res.Responses) != maxReport>>20-1 {
		t.Fatalf("%d records, failed %v", len(res.Responses), res.Failed)
	}
	for range 3 {
		r.append(record)
	}
	res := r.result()
	if !res.Failed || len(res.Responses) != 1 || !strings.Contains(res.Responses[0].Text, "longer than 64 MiB") {
		t.Errorf("failed %v, %d records", res.Failed, len(res.Responses))
	}
}
