package channel

import (
	"fmt"

	"github.com/situationd/situationd/mqengine/internal/wire"
)

// state is what a sender must not lose: which messages were sent under which
// numbers and are not confirmed. It is written before those messages are sent,
// so that after a crash the receiver's last committed number tells which of
// them to delete.
type state struct {
	partner   string // QMID at the other end, blank before the first Accept
	next      uint64 // next sequence number
	confirmed uint64 // the receiver is known to have everything up to this
	reset     bool   // tell the receiver to start from next
	stopped   bool   // STOP CHANNEL; survives a restart
	active    bool   // was in use: a restart of the queue manager starts it again
	window    []entry
}

// entry is one message in doubt: its number on the channel and its place on
// the transmission queue. The place of a nonpersistent one means nothing after a restart.
type entry struct {
	seq, pos   uint64
	persistent bool
}

const stateVersion = 1

func (s *state) encode() []byte {
	b := make([]byte, 0, 64+6*len(s.window))
	b = wire.AppendUint(b, stateVersion)
	b = wire.AppendString(b, s.partner)
	b = wire.AppendUint(b, s.next)
	b = wire.AppendUint(b, s.confirmed)
	b = wire.AppendBool(b, s.reset)
	b = wire.AppendBool(b, s.stopped)
	b = wire.AppendBool(b, s.active)
	b = wire.AppendUint(b, uint64(len(s.window)))
	for _, e := range s.window {
		b = wire.AppendUint(b, e.seq)
		b = wire.AppendUint(b, e.pos)
		b = wire.AppendBool(b, e.persistent)
	}
	return b
}

func decodeState(b []byte) (state, error) {
	r := wire.NewReader(b)
	if v := r.Uint(); r.Err() == nil && v != stateVersion {
		return state{}, fmt.Errorf("channel: record of version %d, this program reads %d", v, stateVersion)
	}
	s := state{
		partner: r.String(), next: r.Uint(), confirmed: r.Uint(),
		reset: r.Bool(), stopped: r.Bool(), active: r.Bool(),
	}
	n := r.Count(3)
	for range n {
		s.window = append(s.window, entry{seq: r.Uint(), pos: r.Uint(), persistent: r.Bool()})
	}
	if err := r.Done(); err != nil {
		return state{}, fmt.Errorf("channel: damaged record: %w", err)
	}
	return s, nil
}
