package mqengine

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The page names every frame by the number that it has.
func TestProtocolPage_KindsOfFrames(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	for k, name := range map[kind]string{
		kindOpen: "MQOPEN", kindClose: "MQCLOSE", kindPut: "MQPUT; MQPUT1", kindGet: "MQGET", kindCommit: "MQCMIT", kindBack: "MQBACK",
		kindCancel: "cancel", kindCommand: "MQSC command", kindMove: "move", kindInstances: "instances", kindSample: "sample",
		kindWatch: "watch", kindDisconnect: "MQDISC", kindEnd: "end the queue manager", kindExplain: "explain routing",
	} {
		if row := fmt.Sprintf("\n| %d | %s", k, name); !strings.Contains(string(page), row) {
			t.Errorf("no row %q", row[1:])
		}
	}
	for k, name := range map[kind]string{kindHello: "hello", kindWelcome: "welcome", kindRefuse: "refuse", kindReply: "reply", kindChange: "changes"} {
		if !strings.Contains(string(page), fmt.Sprintf("`%s` (%d)", name, k)) {
			t.Errorf("%s (%d) is missing", name, k)
		}
	}
}
