package actions

import "time"

// budget counts acts in any sixty seconds, also over restarts: a daemon that
// crashes again and again must not act without a bound.
type budget struct {
	most  int
	taken []time.Time // the last ones, oldest first
	dirty bool        // to be stored
}

func (b *budget) free(now time.Time) bool {
	for len(b.taken) > 0 && now.Sub(b.taken[0]) >= time.Minute {
		b.taken = b.taken[1:]
	}
	return len(b.taken) < b.most
}

func (b *budget) take(now time.Time) {
	b.taken = append(b.taken, now)
	b.dirty = true
}

// flush gives what is to be stored, nil if nothing changed.
func (b *budget) flush() []time.Time {
	if !b.dirty {
		return nil
	}
	b.dirty = false
	return append([]time.Time{}, b.taken...)
}

// giveBack returns what an act took that turned out not to be one.
func (b *budget) giveBack(at time.Time) {
	for i := len(b.taken) - 1; i >= 0; i-- {
		if b.taken[i].Equal(at) {
			b.taken = append(b.taken[:i:i], b.taken[i+1:]...)
			b.dirty = true
			return
		}
	}
}
