package situations

import (
	"slices"
	"strings"
	"time"
)

// Until ends an open situation before its condition does. What it ended does
// not open again until its formula was false once.
type Until struct {
	Situation string        // another situation is open for the same queue; empty for none
	After     time.Duration // it is open for so long; 0 for no limit
}

func (u *Until) empty() bool { return u.Situation == "" && u.After == 0 }

func (u *Until) yaml() string {
	var parts []string
	if u.Situation != "" {
		parts = append(parts, "situation: "+yamlText(u.Situation))
	}
	if u.After > 0 {
		parts = append(parts, "after: "+formatDuration(u.After))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// reason is what the journal says of a clear edge by until.
func (u *Until) reason(stopped bool) string {
	if stopped {
		return "until " + u.Situation + " is open"
	}
	return "until it was open for " + formatDuration(u.After)
}

// checkUntil refuses an until that names no situation, or that comes back to
// itself: then none of them could be judged before the others.
func checkUntil(list []*Situation) {
	byName := map[string]*Situation{}
	for _, s := range list {
		byName[s.Name] = s
	}
	for _, s := range list {
		name := s.Until.Situation
		if name == "" || s.untilNode == nil {
			continue
		}
		at := s.doc.at(s.untilNode)
		other := byName[name]
		if other == nil {
			names := make([]string, 0, len(list))
			for _, o := range list {
				names = append(names, o.Name)
			}
			hint := ""
			if near := nearest(name, names); near != "" {
				hint = "; did you mean " + near + "?"
			}
			s.doc.fail(at, "name", "", "no situation is called %s%s", name, hint)
			continue
		}
		if loop := untilLoop(s, byName); loop != "" {
			s.doc.fail(at, "loop", "", "until leads back to %s: %s", s.Name, loop)
			continue
		}
		if !other.Enabled || !other.Watch.overlaps(&s.Watch) || !other.Distribution.overlaps(&s.Distribution) {
			s.doc.warn(at, "until-never", "", "%s is never open for an item that %s watches, so it ends nothing", name, s.Name)
		}
	}
}

// untilLoop follows the untils from a situation and tells the way if it leads back.
func untilLoop(s *Situation, byName map[string]*Situation) string {
	way := []string{s.Name}
	for at := byName[s.Until.Situation]; at != nil && len(way) <= len(byName); at = byName[at.Until.Situation] {
		way = append(way, at.Name)
		if at == s {
			return strings.Join(way, " until ")
		}
	}
	return ""
}

// linkUntil gives each situation the one that ends it, and their order: a
// situation is judged after the one that may end it, so that one sample cannot
// be seen in the wrong order.
func linkUntil(live []*liveSituation) []*liveSituation {
	byName := make(map[string]*liveSituation, len(live))
	for _, s := range live {
		byName[s.Name] = s
		s.until, s.ends = nil, false
	}
	linked := false
	for _, s := range live {
		if other := byName[s.Until.Situation]; other != nil {
			s.until, other.ends, linked = other, true, true
		}
	}
	if !linked {
		return live
	}
	depth := func(s *liveSituation) int {
		n := 0
		for at := s.until; at != nil && n < len(live); at = at.until {
			n++
		}
		return n
	}
	order := slices.Clone(live)
	slices.SortStableFunc(order, func(a, b *liveSituation) int { return depth(a) - depth(b) })
	return order
}
