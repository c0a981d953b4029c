package repository

import (
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/object"
)

// Names that come from others are MQ's: they are shown on terminals, are parts
// of keys in the store, and route messages.
func TestDecode_BadNames_Refused(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	command := func() *Command {
		return &Command{Op: OpPublish, Cluster: "C1", FromQMID: "QM2_2026-11-30_04.57.10", FromQMgr: "QM2", Names: []string{"DCQ1"}, Records: []*Record{
			{Kind: QueueRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "DCQ1", Seq: 4, Expires: now.Add(time.Hour), Object: queue("DCQ1", "C1")},
			{Kind: QMgrRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "TO.QM2", Seq: 5, Expires: now.Add(time.Hour), Object: rcvr("TO.QM2", "C1", "h(1)")},
			{Kind: QueueRecord, Cluster: "C1", QMID: "QM2_ID", QMgr: "QM2", Name: "GONE", Seq: 6, Deleted: true, Expires: now.Add(time.Hour)},
		}}
	}
	if _, err := Decode(command().encode(now)[0], now); err != nil {
		t.Fatal(err)
	}
	fields := map[string]func(c *Command, name string){
		"cluster": func(c *Command, name string) {
			c.Cluster = name
			for _, r := range c.Records {
				r.Cluster = name
			}
		},
		"from QMID":      func(c *Command, name string) { c.FromQMID = name },
		"from":           func(c *Command, name string) { c.FromQMgr = name },
		"subscription":   func(c *Command, name string) { c.Names[0] = name },
		"queue":          func(c *Command, name string) { c.Records[0].Name = name },
		"deleted queue":  func(c *Command, name string) { c.Records[2].Name = name },
		"queue manager":  func(c *Command, name string) { c.Records[0].QMgr = name },
		"QMID":           func(c *Command, name string) { c.Records[0].QMID = name },
		"channel":        func(c *Command, name string) { c.Records[1].Name = name },
		"QMID of a qmgr": func(c *Command, name string) { c.Records[1].QMID = name },
	}
	for field, set := range fields {
		for _, name := range []string{"", "A|B", "A B", "\x1b[31m", "A\x00", "A\xff", "Ä", "A\n", strings.Repeat("A", 49), strings.Repeat("A", 5000), "q|C1|X|Y"} {
			c := command()
			set(c, name)
			if _, err := Decode(c.encode(now)[0], now); err == nil {
				t.Errorf("%s %q was taken", field, name)
			} else if strings.ContainsAny(err.Error(), "\x1b\n\x00") || len(err.Error()) > 6000 {
				t.Errorf("%s: the error is %q", field, err)
			}
		}
	}
	c := command()
	c.Records[1].Name = strings.Repeat("C", object.MaxChannelName+1)
	if _, err := Decode(c.encode(now)[0], now); err == nil {
		t.Error("a channel's name may be longer than a channel's")
	}
	c = command()
	c.Records[1].Object = rcvr("TO.QM2", "C1", "")
	if _, err := Decode(c.encode(now)[0], now); err == nil {
		t.Error("a queue manager that cannot be reached was taken")
	}
}
