package enginetest

import (
	"strings"

	"github.com/situationd/situationd/mqengine/store"
)

// sabotage breaks a part of the shell on purpose, to see whether the checkers find it.
type sabotage struct {
	answersEarly bool // replies and frames leave before their unit is on disk
	lateLast     bool // what a receiving channel has committed is written one unit too late
	losesHeader  bool // a crash loses the newest message although it was synced
	tossesCoins  bool // something depends on more than the seed
}

// crash is store.Memory.Crash, or something worse.
func (b sabotage) crash(disk *store.Memory, keep int) *store.Memory {
	after := disk.Crash(keep)
	if !b.losesHeader {
		return after
	}
	var seen survey
	if _, err := after.Reopen().Load(&seen); err != nil || seen.seq == 0 {
		return after
	}
	u := store.Unit{Sync: true}
	u.DeleteMessage(seen.queue, seen.seq)
	if err := after.Apply(&u); err != nil {
		return disk.Crash(0)
	}
	return after
}

// unit is what the disk gets instead of ops; held is what it gets with the next unit.
func (b sabotage) unit(ops, held []store.Op) (now, later []store.Op) {
	if !b.lateLast {
		return ops, nil
	}
	now = append(now, held...)
	for _, op := range ops {
		if op.Kind == store.OpSetRecord && strings.HasPrefix(op.Key, "channel/r/") {
			op.Value = append([]byte(nil), op.Value...)
			later = append(later, op)
		} else {
			now = append(now, op)
		}
	}
	return now, later
}

// survey finds the newest message.
type survey struct {
	queue uint32
	seq   uint64
}

func (*survey) Record(string, []byte) error { return nil }

func (v *survey) Message(queue uint32, seq uint64, _ []byte) (store.BodyID, error) {
	if seq > v.seq {
		v.queue, v.seq = queue, seq
	}
	return 0, nil
}
