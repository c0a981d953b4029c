package mqengine

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/mqi"
)

// ProtocolVersion is the version of the local protocol that this build speaks.
// PROTOCOL.md describes it; a change that an older side cannot read raises it.
const ProtocolVersion = 2

// Bounds of the local protocol. Both sides check them.
const (
	// maxFrame holds the longest message that MQ allows (100 MB) with its descriptor and properties.
	maxFrame = 100<<20 + 1<<20
	// maxOutstanding is how many calls of one connection may wait for their answer.
	maxOutstanding = 256
	// maxUnread is how many bytes of answers may wait for a client that does not read them.
	maxUnread = 128 << 20
	// maxCommand is the longest MQSC command, as runmqsc has it.
	maxCommand = 32 << 10
	// maxName bounds APPLTAG, the owner's token and every other name of a hello.
	maxName = 256
)

// kind says what a frame of the local protocol is.
type kind byte

// Frames of the client. Each but hello carries a tag, and each but hello and
// cancel has exactly one reply with the same tag.
const (
	kindHello kind = iota + 1
	kindOpen
	kindClose
	kindPut
	kindGet
	kindCommit
	kindBack
	kindCancel
	kindCommand
	kindMove
	kindInstances
	kindSample
	kindWatch
	kindDisconnect
	kindEnd // endmqm: end the queue manager
	kindExplain
)

// Frames of the server.
const (
	kindWelcome kind = iota + 64
	kindRefuse
	kindReply
	kindChange
)

// hello is the first frame of a client.
type hello struct {
	Version int
	QMgr    string // whom the client wants; blank for whoever is there
	Tag     string // APPLTAG
	Owner   string // SITUATIOND_OWNER
}

// welcome answers a hello.
type welcome struct {
	Version int
	QMgr    string
	QMID    string
}

// refusal answers a hello that is not accepted; the connection then closes.
type refusal struct {
	Reason mqi.Reason
	Text   string
}

func (h *hello) encode() []byte {
	b := []byte{byte(kindHello)}
	b = wire.AppendUint(b, uint64(h.Version))
	b = wire.AppendString(b, h.QMgr)
	b = wire.AppendString(b, h.Tag)
	return wire.AppendString(b, h.Owner)
}

func decodeHello(frame []byte) (hello, error) {
	r := wire.NewReader(frame)
	if k := kind(r.Byte()); k != kindHello {
		return hello{}, fmt.Errorf("the first frame is of kind %d, not a hello", k)
	}
	h := hello{Version: int(r.Uint() & 0xffff), QMgr: r.String(), Tag: r.String(), Owner: r.String()}
	if err := r.Err(); err != nil {
		return hello{}, fmt.Errorf("hello: %w", err)
	}
	// What a later version adds is after what we know, so what is left over is no fault.
	if len(h.QMgr) > maxName || len(h.Tag) > maxName || len(h.Owner) > maxName {
		return hello{}, fmt.Errorf("hello: a name is longer than %d bytes", maxName)
	}
	return h, nil
}

func (w *welcome) encode() []byte {
	b := []byte{byte(kindWelcome)}
	b = wire.AppendUint(b, uint64(w.Version))
	b = wire.AppendString(b, w.QMgr)
	return wire.AppendString(b, w.QMID)
}

func (f *refusal) encode() []byte {
	b := []byte{byte(kindRefuse)}
	b = wire.AppendInt(b, int64(f.Reason))
	return wire.AppendString(b, f.Text)
}

// decodeWelcome reads the server's answer to a hello: a refusal comes as an *mqi.Error.
func decodeWelcome(frame []byte) (welcome, error) {
	r := wire.NewReader(frame)
	switch k := kind(r.Byte()); k {
	case kindWelcome:
		w := welcome{Version: int(r.Uint() & 0xffff), QMgr: r.String(), QMID: r.String()}
		if err := r.Err(); err != nil {
			return welcome{}, fmt.Errorf("welcome: %w", err)
		}
		return w, nil
	case kindRefuse:
		f := refusal{Reason: mqi.Reason(r.Int32()), Text: r.String()}
		if err := r.Err(); err != nil {
			return welcome{}, fmt.Errorf("refusal: %w", err)
		}
		return welcome{}, &mqi.Error{CompCode: mqi.MQCC_FAILED, Reason: f.Reason, Op: "MQCONN", Detail: f.Text}
	default:
		return welcome{}, fmt.Errorf("the answer to hello is of kind %d", k)
	}
}
