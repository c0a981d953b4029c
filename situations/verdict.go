package situations

// Verdict is what one sample says about one item of one situation.
type Verdict uint8

// The verdicts. Unknown is the zero value, so whatever was not decided is unknown.
const (
	Unknown Verdict = iota
	True
	False
	Hold // neither the formula nor its recovery: the hysteresis band
	Gone // the queue does not exist any more
)

// String gives the verdict's word in status output.
func (v Verdict) String() string {
	switch v {
	case True:
		return "true"
	case False:
		return "false"
	case Hold:
		return "hold"
	case Gone:
		return "gone"
	case Unknown:
	}
	return "unknown"
}

// Phase is how far an item's condition is confirmed.
type Phase uint8

// The phases. To the outside an item is open in Open and Recovering.
const (
	Inactive Phase = iota
	Pending
	Open
	Recovering
)

// String gives the phase's word in status output.
func (p Phase) String() string {
	switch p {
	case Pending:
		return "pending"
	case Open:
		return "open"
	case Recovering:
		return "recovering"
	case Inactive:
	}
	return "inactive"
}
