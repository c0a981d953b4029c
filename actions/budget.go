package actions

import "time"

// budget counts acts in any sixty seconds.
type budget struct {
	most  int
	taken []time.Time // the last ones, oldest first, at most most of them
}

func (b *budget) free(now time.Time) bool {
	for len(b.taken) > 0 && now.Sub(b.taken[0]) >= time.Minute {
		b.taken = b.taken[1:]
	}
	return len(b.taken) < b.most
}

func (b *budget) take(now time.Time) { b.taken = append(b.taken, now) }

// giveBack returns what an act took that turned out not to be one.
func (b *budget) giveBack(at time.Time) {
	for i := len(b.taken) - 1; i >= 0; i-- {
		if b.taken[i].Equal(at) {
			b.taken = append(b.taken[:i:i], b.taken[i+1:]...)
			return
		}
	}
}
