package mqi

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestAMQTable(t *testing.T) {
	form := regexp.MustCompile(`^AMQ[5-9]\d{3}[IWEST]$`)
	numbers := map[string]string{}
	for _, id := range AMQIDs() {
		if !form.MatchString(id) {
			t.Errorf("%s is not AMQ, four digits and a severity", id)
		}
		if other := numbers[id[:7]]; other != "" {
			t.Errorf("%s and %s differ in severity only", id, other)
		}
		numbers[id[:7]] = id
		text := AMQ(id, "<one>", "<two>", "<three>")
		if text == "" || strings.Contains(text, "%") {
			t.Errorf("%s: text %q", id, text)
		}
		if got := AMQSeverity(id); got != id[7] {
			t.Errorf("AMQSeverity(%s) = %c", id, got)
		}
	}
	if !slices.IsSorted(AMQIDs()) {
		t.Error("AMQIDs is not sorted")
	}
}

// What reports of real queue managers show, and what the reply layout needs.
func TestAMQTexts(t *testing.T) {
	for _, tt := range []struct {
		id      string
		inserts []string
		want    string
	}{
		{"AMQ8005I", nil, "IBM MQ queue manager changed."},
		{"AMQ8006I", nil, "IBM MQ queue created."},
		{"AMQ8008I", nil, "IBM MQ queue changed."},
		{"AMQ8014I", nil, "IBM MQ channel created."},
		{"AMQ8018I", nil, "Start IBM MQ channel accepted."},
		{"AMQ8021I", nil, "Request to start IBM MQ listener accepted."},
		{"AMQ8118E", nil, "IBM MQ queue manager does not exist."},
		{"AMQ8146E", nil, "IBM MQ queue manager not available."},
		{"AMQ8147E", []string{"DOES.NOT.EXIST"}, "IBM MQ object DOES.NOT.EXIST not found."},
		{"AMQ8147E", nil, "IBM MQ object  not found."},
		{"AMQ8405I", []string{"DISPLAY QMGR LOGTYPE"}, "Syntax error detected at or near end of command segment below:-\nDISPLAY QMGR LOGTYPE\n"},
		{"AMQ8409I", nil, "Display Queue details."},
		{"AMQ8420I", nil, "Channel Status not found."},
		{"AMQ8441I", nil, "Display Cluster Queue Manager details."},
		{"AMQ8450I", nil, "Display queue status details."},
		{"AMQ8631I", nil, "Display listener status details."},
		{"AMQ9533W", []string{"TO.QM1"}, "Channel 'TO.QM1' is not currently active."},
		{"AMQ9999E", []string{"TO.QM1", "h(1)"}, "Channel 'TO.QM1' to host 'h(1)' ended abnormally."},
		{"AMQ0000X", []string{"a", "b"}, "a b"},
	} {
		if got := AMQ(tt.id, tt.inserts...); got != tt.want {
			t.Errorf("AMQ(%s, %q) = %q, want %q", tt.id, tt.inserts, got, tt.want)
		}
		if known := KnownAMQ(tt.id); known != (tt.id != "AMQ0000X") {
			t.Errorf("KnownAMQ(%s) = %v", tt.id, known)
		}
	}
	if AMQSeverity("AMQ8409") != 0 {
		t.Error("an id of an older release has no severity")
	}
}

func TestExpandTakesPercentSigns(t *testing.T) {
	if got := expand("100%, %1, %0, %", []string{"a%1b"}); got != "100%, a%1b, %0, %" {
		t.Errorf("expand = %q", got)
	}
}
