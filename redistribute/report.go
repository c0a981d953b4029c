package redistribute

import "time"

// Report is what a run did. At its end it adds up:
//
//	Start + Arrived = Moved + Expired + Taken + Remaining
//
// What Skipped counts is part of Remaining, unless somebody took it later.
type Report struct {
	End
	Start       int // depth at the first look
	Arrived     int // came while it ran, and what the cluster sent back
	Moved       int
	Expired     int
	Taken       int // by others, once the run is over; less than none if they gave back more than they took
	Remaining   int // depth at the last look
	Uncommitted int // at the last look
	Skipped     Skipped
	To          map[string]int // messages by queue manager
	Took        time.Duration
	// Doubt says that it is not known of a unit whether it moved: if it did, its
	// messages are among those taken.
	Doubt bool
	Err   error // what went wrong; with another outcome than Failed the ledger could not be stored

	paced bool // there was a rate to keep to
}

// Rate is messages a second. Of a run that has a rate to keep to the first second
// counts whole: what goes at once at its beginning says nothing.
func (r *Report) Rate() float64 {
	took := r.Took
	if r.paced {
		took = max(took, time.Second)
	}
	if took <= 0 {
		return 0
	}
	return float64(r.Moved) / took.Seconds()
}

// count enters a look.
func (r *Report) count(first, now *State) {
	r.Start, r.Remaining, r.Uncommitted = first.Depth, now.Depth, now.Uncommitted
	if now.Arrived >= first.Arrived && now.Expired >= first.Expired { // else the queue is another, or its queue manager restarted
		r.Arrived, r.Expired = int(now.Arrived-first.Arrived), int(now.Expired-first.Expired)
	}
}

// settle works out what others took.
func (r *Report) settle() {
	r.Taken = r.Start + r.Arrived - r.Moved - r.Expired - r.Remaining
}
