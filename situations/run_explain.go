package situations

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Explained tells why one item is as it is.
type Explained struct {
	ItemStatus
	Sampled time.Time // when the sample was asked for that its parts are of; zero if there was none
	Formula *Formula
	Parts   []Part
	// Result and RecoveryResult are what the conditions came to.
	Result, RecoveryResult Verdict
	Recovery               *Formula // nil if it is the formula's opposite
	// RecoveryParts are those of the recovery.
	RecoveryParts []Part
	// Progress is what is still missing for the phase to change, empty for nothing.
	Progress string
	// Maintained: a window is open in which the situation does not act.
	Maintained bool
	Until      Until
	Expected   bool // the queue must exist
}

// Explain tells of the items of a situation, or of both of an availability's;
// of one queue, or of all with "".
func (r *Runner) Explain(name, queue string) []Explained {
	r.mu.Lock()
	defer r.mu.Unlock()
	b, now := r.book, time.Now()
	var out []Explained
	for _, sl := range b.slots {
		if queue != "" && sl.queue != queue {
			continue
		}
		for _, it := range sl.items {
			if it != nil && (it.sit.Name == name || it.sit.Availability == name) {
				out = append(out, b.explain(it, now))
			}
		}
	}
	return out
}

func (b *book) explain(it *item, now time.Time) Explained {
	s, row := it.sit, b.lastRow(it.queue)
	out := Explained{
		ItemStatus: b.status(it, row), Formula: s.Formula, Recovery: s.Recovery, Until: s.Until, Expected: s.expects(it.queue),
		Progress: s.progress(it),
	}
	out.Maintained, _ = s.maintained(now)
	if row == nil {
		return out
	}
	out.Sampled = b.samples.at
	out.Parts, out.Result = s.Formula.Explain(row), s.Formula.Eval(row)
	if s.Recovery != nil {
		out.RecoveryResult = s.Recovery.Eval(row)
		out.RecoveryParts = s.Recovery.Explain(row)
	}
	return out
}

// progress says what is missing until a phase is confirmed.
func (s *Situation) progress(it *item) string {
	st := it.state
	if st == nil {
		return ""
	}
	p, toward := s.For, "opens"
	switch st.Phase {
	case Pending:
	case Recovering:
		p, toward = s.ClearFor, "clears"
	case Inactive, Open:
		return ""
	}
	var missing []string
	if p.Samples > 1 {
		missing = append(missing, fmt.Sprintf("%d of %d samples", st.Count, p.Samples))
	}
	if p.Duration > 0 {
		missing = append(missing, fmt.Sprintf("%s of %s", st.Held.Round(time.Millisecond), formatDuration(p.Duration)))
	}
	return toward + " after " + strings.Join(missing, " and ")
}

// Known finds a situation, or an availability's, by name among all that the
// rules have, and else the names that are near.
func (rs *RuleSet) Known(name string) (found []*Situation, near string) {
	var names []string
	for _, s := range rs.Situations {
		if s.Name == name || s.Availability == name {
			found = append(found, s)
		}
		names = append(names, s.Name)
	}
	if len(found) == 0 {
		slices.Sort(names)
		near = nearest(name, names)
	}
	return found, near
}
