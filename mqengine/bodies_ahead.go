package mqengine

import "github.com/situationd/situationd/mqengine/store"

const (
	// aheadMost and aheadSize bound what is read along with one body, numbers after
	// it and bytes, and so what a run keeps.
	aheadMost = 127
	aheadSize = 128 << 10
	// aheadRuns is how many readers at different places are told from each other.
	aheadRuns = 4
)

// aheads reads bodies that are not in memory. A deep queue is emptied in the order
// in which its messages came, and so is a transmission queue: to find every body by
// itself costs a channel more than all else that it does. A read that goes on
// shortly behind an earlier one therefore takes those after it along.
type aheads struct {
	runs [aheadRuns]aheadRun
	turn int // the run that the next reader at a new place gets
}

// aheadRun is how far one reader has come, and what was read for it. A body never
// changes and its number is given once, so what is here cannot be outdated.
type aheadRun struct {
	last   store.BodyID // the last one asked for from the store, 0 for none
	bodies map[store.BodyID][]byte
	used   int // how often one of them was asked for
	next   int // how many numbers after it were looked at
}

func (a *aheads) read(from bodyReader, id store.BodyID) ([]byte, error) {
	for i := range a.runs {
		r := &a.runs[i]
		if data, ok := r.bodies[id]; ok {
			r.used++
			return data, nil
		}
	}
	for i := range a.runs {
		// Not only the very next: numbers are given to the messages of all queues.
		if r := &a.runs[i]; r.last != 0 && id > r.last && id-r.last <= 2*aheadMost {
			return r.goOn(from, id)
		}
	}
	data, err := from.Body(id)
	if err == nil {
		a.runs[a.turn] = aheadRun{last: id}
		a.turn = (a.turn + 1) % aheadRuns
	}
	return data, err
}

// goOn looks at twice as many numbers as the last time if half of what was read then
// was of use, else at half as many: those of another queue may lie between.
func (r *aheadRun) goOn(from bodyReader, id store.BodyID) ([]byte, error) {
	next := min(2*r.next+1, aheadMost)
	if 2*r.used < len(r.bodies) {
		next = r.next / 2
	}
	list, err := from.Bodies(id, next, aheadSize)
	if err != nil {
		return nil, err
	}
	*r = aheadRun{last: id, bodies: make(map[store.BodyID][]byte, len(list)), used: 1, next: next}
	for _, b := range list {
		if len(b.Data) <= aheadSize { // the one asked for may be of any length, and is not kept then
			r.bodies[b.ID] = b.Data
		}
	}
	return list[0].Data, nil
}
