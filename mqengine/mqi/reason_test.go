package mqi

import (
	"errors"
	"fmt"
	"testing"
)

// The numbers of the manual, written down a second time.
func TestReasonNumbers(t *testing.T) {
	for number, name := range map[int]string{
		0: "MQRC_NONE", 281: "MQFB_BIND_OPEN_CLUSRCVR_DEL", 2001: "MQRC_ALIAS_BASE_Q_TYPE_ERROR", 2003: "MQRC_BACKED_OUT",
		2009: "MQRC_CONNECTION_BROKEN", 2016: "MQRC_GET_INHIBITED", 2024: "MQRC_SYNCPOINT_LIMIT_REACHED",
		2030: "MQRC_MSG_TOO_BIG_FOR_Q", 2031: "MQRC_MSG_TOO_BIG_FOR_Q_MGR", 2033: "MQRC_NO_MSG_AVAILABLE",
		2035: "MQRC_NOT_AUTHORIZED", 2037: "MQRC_NOT_OPEN_FOR_INPUT", 2039: "MQRC_NOT_OPEN_FOR_OUTPUT", 2041: "MQRC_OBJECT_CHANGED",
		2042: "MQRC_OBJECT_IN_USE", 2045: "MQRC_OPTION_NOT_VALID_FOR_TYPE", 2046: "MQRC_OPTIONS_ERROR", 2051: "MQRC_PUT_INHIBITED",
		2052: "MQRC_Q_DELETED", 2053: "MQRC_Q_FULL", 2055: "MQRC_Q_NOT_EMPTY", 2056: "MQRC_Q_SPACE_NOT_AVAILABLE",
		2058: "MQRC_Q_MGR_NAME_ERROR", 2059: "MQRC_Q_MGR_NOT_AVAILABLE", 2067: "MQRC_SELECTOR_ERROR", 2068: "MQRC_SELECTOR_NOT_FOR_TYPE",
		2079: "MQRC_TRUNCATED_MSG_ACCEPTED", 2080: "MQRC_TRUNCATED_MSG_FAILED", 2082: "MQRC_UNKNOWN_ALIAS_BASE_Q",
		2085: "MQRC_UNKNOWN_OBJECT_NAME", 2086: "MQRC_UNKNOWN_OBJECT_Q_MGR", 2087: "MQRC_UNKNOWN_REMOTE_Q_MGR",
		2092: "MQRC_XMIT_Q_USAGE_ERROR", 2101: "MQRC_OBJECT_DAMAGED", 2161: "MQRC_Q_MGR_QUIESCING", 2162: "MQRC_Q_MGR_STOPPING",
		2184: "MQRC_REMOTE_Q_NAME_ERROR",
		2188: "MQRC_STOPPED_BY_CLUSTER_EXIT", 2189: "MQRC_CLUSTER_RESOLUTION_ERROR", 2196: "MQRC_UNKNOWN_XMIT_Q",
		2197: "MQRC_UNKNOWN_DEF_XMIT_Q", 2199: "MQRC_DEF_XMIT_Q_USAGE_ERROR", 2241: "MQRC_INCOMPLETE_GROUP", 2242: "MQRC_INCOMPLETE_MSG",
		2266: "MQRC_CLUSTER_EXIT_ERROR", 2267: "MQRC_CLUSTER_EXIT_LOAD_ERROR", 2268: "MQRC_CLUSTER_PUT_INHIBITED",
		2269: "MQRC_CLUSTER_RESOURCE_ERROR", 2270: "MQRC_NO_DESTINATIONS_AVAILABLE", 2538: "MQRC_HOST_NOT_AVAILABLE",
		2539: "MQRC_CHANNEL_CONFIG_ERROR", 2540: "MQRC_UNKNOWN_CHANNEL_NAME", 3008: "MQRCCF_COMMAND_FAILED",
		3090: "MQRCCF_CLUSTER_Q_USAGE_ERROR", 3210: "MQRCCF_OBJECT_OPEN_FORCE", 4004: "MQRCCF_OBJECT_OPEN",
		9: "MQRC_9",
	} {
		if got := Reason(number).String(); got != name {
			t.Errorf("Reason(%d) = %s, want %s", number, got, name)
		}
	}
	for r, name := range reasonNames {
		if name == "" || r.Error() != fmt.Sprintf("%s (%d)", name, int(r)) {
			t.Errorf("reason %d: %q", int(r), r.Error())
		}
	}
}

func TestReasonOf(t *testing.T) {
	full := Errorf("MQPUT", "Q1", MQRC_Q_FULL, "depth %d", 5000)
	if want := "MQPUT Q1: MQRC_Q_FULL (2053): depth 5000"; full.Error() != want {
		t.Errorf("Error() = %q, want %q", full.Error(), want)
	}
	for _, tt := range []struct {
		err  error
		want Reason
	}{
		{nil, MQRC_NONE},
		{full, MQRC_Q_FULL},
		{fmt.Errorf("while moving: %w", full), MQRC_Q_FULL},
		{errors.New("something else"), MQRC_UNEXPECTED_ERROR},
	} {
		if got := ReasonOf(tt.err); got != tt.want {
			t.Errorf("ReasonOf(%v) = %v, want %v", tt.err, got, tt.want)
		}
	}
	if !errors.Is(full, MQRC_Q_FULL) {
		t.Error("errors.Is does not find the reason code")
	}
}

func TestChannelStatusWords(t *testing.T) {
	for s, want := range map[ChannelStatus]string{
		0: "INACTIVE", 1: "BINDING", 2: "STARTING", 3: "RUNNING", 4: "STOPPING", 5: "RETRYING", 6: "STOPPED",
		7: "REQUESTING", 8: "PAUSED", 9: "DISCONNECTED", 13: "INITIALIZING", 14: "SWITCHING", 99: "UNKNOWN",
	} {
		if got := s.String(); got != want {
			t.Errorf("ChannelStatus(%d) = %s, want %s", s, got, want)
		}
	}
}

func TestPutDateAndTime(t *testing.T) {
	md := NewMD()
	if md.PutDate() != "" || md.PutTime() != "" {
		t.Error("a descriptor that was not put has a date")
	}
	md.PutDateTime = 1767323045678 // 2026-01-02 03:04:05.678 UTC
	if md.PutDate() != "20260102" || md.PutTime() != "03040567" {
		t.Errorf("date %s time %s", md.PutDate(), md.PutTime())
	}
}
