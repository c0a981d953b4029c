package qmgr

import (
	"testing"

	"github.com/situationd/situationd/mqengine/channel"
)

// Who calls has to say properly who it is, how it sends and to which channel:
// its names become parts of keys in the store and are shown on terminals.
func TestHello_OfNoPartner_IsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.define("DEFINE CHANNEL(FROM.QM2) CHLTYPE(RCVR)", "DEFINE CHANNEL(TO.QM1) CHLTYPE(CLUSRCVR) CONNAME('h') CLUSTER(C1)")
	hello := func(change func(f *channel.Frame)) *channel.Frame {
		f := &channel.Frame{Kind: channel.FrameHello, Version: channel.ProtocolVersion, Type: "SDR", Channel: "FROM.QM2", QMgr: "QM2", QMID: "QM2_2026-11-30_04.57.10"}
		change(f)
		return f
	}
	for name, change := range map[string]func(f *channel.Frame){
		"SDR": func(*channel.Frame) {}, "CLUSSDR": func(f *channel.Frame) { f.Type, f.Channel = "CLUSSDR", "TO.QM1" },
	} {
		if def, fault := r.m.welcome(hello(change)); def == nil {
			t.Errorf("%s: refused: %v", name, fault)
		}
	}
	for name, change := range map[string]func(f *channel.Frame){
		"no hello":                       func(f *channel.Frame) { f.Kind = channel.FrameBatch },
		"a type that does not send":      func(f *channel.Frame) { f.Type = "RCVR" },
		"no version":                     func(f *channel.Frame) { f.Version = 0 },
		"no QMID":                        func(f *channel.Frame) { f.QMID = "" },
		"a QMID that is none":            func(f *channel.Frame) { f.QMID = "q|C1|X" },
		"no name":                        func(f *channel.Frame) { f.QMgr = "" },
		"a name that is none":            func(f *channel.Frame) { f.QMgr = "\x1b[31mQM2" },
		"ourselves":                      func(f *channel.Frame) { f.QMID = r.m.qmid },
		"a channel that there is not":    func(f *channel.Frame) { f.Channel = "FROM.QM3" },
		"a cluster sender to a receiver": func(f *channel.Frame) { f.Type = "CLUSSDR" },
		"a sender to a cluster receiver": func(f *channel.Frame) { f.Channel = "TO.QM1" },
	} {
		if def, fault := r.m.welcome(hello(change)); def != nil || fault.ID != "AMQ9503E" || fault.Text == "" {
			t.Errorf("%s: taken, or refused with %+v", name, fault)
		}
	}
}
