package channel

import (
	"errors"
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
)

// ProtocolVersion is the version of the frames that this package writes. A
// hello has the form of version 1 in all of them: who sends it does not know yet
// what the other end understands.
const ProtocolVersion = 2

// Limits bound what DecodeFrame accepts, so that a stranger's frame costs no
// more memory than its own bytes.
type Limits struct {
	MaxFrame    int // bytes of a frame
	MaxMessages int // messages of a batch
	MaxHeader   int // bytes of a message's header
	MaxMsgL     int // bytes of a body
}

// DefaultLimits fit every channel that our own attributes can describe.
func DefaultLimits() Limits {
	return Limits{MaxFrame: 128 << 20, MaxMessages: 9999, MaxHeader: 1 << 20, MaxMsgL: 100 << 20}
}

const maxText = 4096 // names, reasons

// ErrFrame is the fault of bytes that are no frame.
var ErrFrame = errors.New("channel: malformed frame")

// AppendFrame appends the frame's bytes. body gives the bytes of a message body.
func AppendFrame(dst []byte, f *Frame, body func(BodyRef) []byte) []byte {
	dst = append(dst, byte(f.Kind))
	switch f.Kind {
	case FrameHello, FrameAccept:
		dst = wire.AppendUint(dst, uint64(f.Version))
		dst = wire.AppendString(dst, f.Channel)
		dst = wire.AppendString(dst, f.Type)
		dst = wire.AppendString(dst, f.QMgr)
		dst = wire.AppendString(dst, f.QMID)
		dst = wire.AppendUint(dst, f.Seq)
		dst = wire.AppendUint(dst, uint64(f.HBInt))
		dst = wire.AppendUint(dst, uint64(f.MaxMsgL))
		dst = wire.AppendBool(dst, f.Reset)
		dst = wire.AppendBool(dst, f.Ping)
		if f.Kind == FrameAccept && f.Version >= 2 {
			dst = wire.AppendUint(dst, uint64(f.BatchSz))
		}
	case FrameRefuse, FrameClose, FrameQuiesce:
		dst = wire.AppendInt(dst, int64(f.Code))
		dst = wire.AppendString(dst, f.Reason)
	case FrameConfirm:
		dst = wire.AppendUint(dst, f.Batch)
		dst = wire.AppendUint(dst, f.Seq)
	case FrameBatch:
		dst = wire.AppendUint(dst, f.Batch)
		dst = wire.AppendUint(dst, uint64(len(f.Messages)))
		for i := range f.Messages {
			m := &f.Messages[i]
			dst = wire.AppendUint(dst, m.Seq)
			dst = wire.AppendBool(dst, m.Persistent)
			dst = wire.AppendBytes(dst, m.Header)
			dst = wire.AppendBytes(dst, body(m.Body))
		}
	default: // heartbeats say nothing
	}
	return dst
}

// DecodeFrame reads one frame that takes up all of b. newBody is called for
// each body, with bytes that alias b, once the frame has proved sound. Headers are copied.
func DecodeFrame(b []byte, lim Limits, newBody func([]byte) BodyRef) (*Frame, error) {
	if len(b) > lim.MaxFrame {
		return nil, fmt.Errorf("%w: %d bytes, %d are allowed", ErrFrame, len(b), lim.MaxFrame)
	}
	r := wire.NewReader(b)
	f := &Frame{Kind: FrameKind(r.Byte())}
	var bodies [][]byte
	var err error
	switch f.Kind {
	case FrameHello, FrameAccept:
		err = decodeHello(r, f)
	case FrameRefuse, FrameClose, FrameQuiesce:
		f.Code = int(r.Int32())
		f.Reason, err = text(r, "reason")
	case FrameConfirm:
		f.Batch, f.Seq = r.Uint(), r.Uint()
	case FrameBatch:
		bodies, err = decodeBatch(r, f, lim)
	case FrameHeartbeat, FrameHeartbeatAck:
	default:
		err = fmt.Errorf("kind %d", f.Kind)
	}
	if err == nil {
		err = r.Done()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFrame, err)
	}
	for i, body := range bodies {
		f.Messages[i].Body = newBody(body)
	}
	return f, nil
}

func decodeHello(r *wire.Reader, f *Frame) (err error) {
	f.Version = int(uint32(r.Uint()))
	for _, t := range []struct {
		to   *string
		what string
	}{{&f.Channel, "channel"}, {&f.Type, "type"}, {&f.QMgr, "queue manager"}, {&f.QMID, "QMID"}} {
		if *t.to, err = text(r, t.what); err != nil {
			return err
		}
	}
	f.Seq = r.Uint()
	f.HBInt, f.MaxMsgL = int(uint32(r.Uint())), int(uint32(r.Uint()))
	f.Reset, f.Ping = r.Bool(), r.Bool()
	if f.Kind == FrameAccept && f.Version >= 2 {
		f.BatchSz = int(uint32(r.Uint()))
	}
	return nil
}

func text(r *wire.Reader, what string) (string, error) {
	b := r.Bytes()
	if len(b) > maxText {
		return "", fmt.Errorf("%s of %d bytes", what, len(b))
	}
	return string(b), nil
}

// leastMessage is the least that an encoded message takes.
const leastMessage = 4

func decodeBatch(r *wire.Reader, f *Frame, lim Limits) ([][]byte, error) {
	f.Batch = r.Uint()
	n := r.Count(leastMessage)
	if n > lim.MaxMessages {
		return nil, fmt.Errorf("%d messages, %d are allowed", n, lim.MaxMessages)
	}
	if n == 0 {
		return nil, r.Err()
	}
	f.Messages = make([]Message, n)
	bodies := make([][]byte, n)
	for i := range f.Messages {
		m := &f.Messages[i]
		m.Seq, m.Persistent = r.Uint(), r.Bool()
		header := r.Bytes()
		bodies[i] = r.Bytes()
		if r.Err() != nil {
			return nil, r.Err()
		}
		if len(header) > lim.MaxHeader || len(bodies[i]) > lim.MaxMsgL {
			return nil, fmt.Errorf("message of %d and %d bytes, %d and %d are allowed", len(header), len(bodies[i]), lim.MaxHeader, lim.MaxMsgL)
		}
		m.Header = append([]byte(nil), header...)
	}
	return bodies, nil
}
