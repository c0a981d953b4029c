package actions

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/situationd/situationd/situations"
)

// Restore puts into a state that was made just now what the journal says is
// lowered: somebody took the old state away, or it was damaged, and what a daemon
// lowered and has forgotten nobody gives back. It gives what it found.
func (db *DB) Restore(journal, qmgr string) ([]Out, error) {
	if info, err := os.Stat(journal); !db.fresh || err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	r := restorer{qmgr: qmgr, outs: newOuts(nil), open: map[string]Entry{}}
	for after := ""; ; {
		page, err := ReadJournal(journal, after, maxPage)
		if err != nil {
			return nil, err
		}
		for _, line := range page.Lines {
			var e Entry
			if json.Unmarshal(line, &e) == nil {
				r.read(&e)
			}
		}
		if after = page.Next; after == "" {
			break
		}
	}
	r.end()
	list, _ := r.outs.flush()
	if len(list) == 0 {
		return nil, nil
	}
	slices.SortFunc(list, func(a, b Out) int { return strings.Compare(a.Target.Queue+"\x00"+a.Attr, b.Target.Queue+"\x00"+b.Attr) })
	return list, db.SaveActions(Update{Out: list})
}

// restorer follows the journal from its first line.
type restorer struct {
	qmgr string
	outs outs
	open map[string]Entry // attempts that began and did not end
}

func (r *restorer) read(e *Entry) {
	if e.QMgr != r.qmgr || e.Before == nil || e.After == nil {
		return
	}
	attempt := attemptKey(e.ID, e.Attempt)
	switch e.Result {
	case resultStarted:
		r.open[attempt] = *e
	case resultDone:
		r.done(e)
		delete(r.open, attempt)
	case resultFailed, resultInDoubt, resultSuperseded:
		delete(r.open, attempt)
	default:
	}
}

// end takes a lowering that began and did not end for one that was made. If it
// was not, the first sample shows another value, and it is nobody's any more.
func (r *restorer) end() {
	left := slices.SortedFunc(maps.Values(r.open), func(a, b Entry) int { return a.Time.Compare(b.Time) })
	for i := range left {
		if verb, _, _ := strings.Cut(left[i].Action, " "); directionOf(attrOf(situations.Verb(verb)), firstWord(*left[i].Before), firstWord(*left[i].After)) == lowering {
			r.done(&left[i])
		}
	}
}

// done follows a change that was made.
func (r *restorer) done(e *Entry) {
	t := Target{QMgr: e.QMgr, Queue: e.Queue}
	verb, _, _ := strings.Cut(e.Action, " ")
	first := attrOf(situations.Verb(verb))
	if first == "" { // revert does not name what its bare value is of
		first = r.lowered(t, firstWord(*e.Before))
	}
	before, after := attributesIn(first, *e.Before), attributesIn(first, *e.After)
	down := directionOf(first, before[first], after[first]) == lowering
	for attr, value := range after {
		old := r.outs.get(t, attr)
		switch {
		case attr == "" || before[attr] == value:
		case !down:
			r.outs.drop(t, attr)
		default:
			out := &Out{
				Target: t, Attr: attr, Before: before[attr], After: value, Situation: e.Situation,
				Action: e.Action, ID: e.ID, At: e.Time, Restored: true,
			}
			if old != nil && old.After == out.Before {
				out.Before = old.Before
			}
			r.outs.put(claimKey{t, attr}, out)
		}
	}
}

// lowered is the attribute that was lowered to a value.
func (r *restorer) lowered(t Target, value string) string {
	for k, out := range r.outs.m {
		if k.target == t && out.After == value && k.attr != attrUseQ {
			return k.attr
		}
	}
	return ""
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// attributesIn takes one side of a line's changes apart: a bare value, and others with their names.
func attributesIn(first, text string) map[string]string {
	out := map[string]string{first: firstWord(text)}
	for _, part := range strings.Fields(text)[min(1, len(strings.Fields(text))):] {
		if attr, value, ok := strings.Cut(strings.TrimSuffix(part, ")"), "("); ok {
			out[attr] = value
		}
	}
	return out
}

// reclaim makes a claim again of what the journal says an action of this rule
// lowered, and a sample has shown to be so. The state that had the claim was lost.
// The lock is held.
func (e *Engine) reclaim(tg *target, en *entry, a *situations.Action) {
	if tg.judged.IsZero() || !a.Claim && (a.Verb != situations.VerbRevert || a.All) {
		return
	}
	owner := a.ClaimKey(en.in.Key).Situation
	for _, attr := range []string{attrPut, attrRank, attrPriority, attrUseQ} {
		out := e.outs.get(tg.Target, attr)
		if out == nil || !out.Restored || out.Situation != en.in.Key.Situation && out.Situation != owner && out.Situation != owner+".idle" {
			continue
		}
		if e.claims.get(tg.Target, attr) == nil {
			e.claims.hold(tg.Target, attr, owner, out.Before, out.After, out.At)
			e.claims.settle(tg.Target, attr, out.After)
		}
		out.Restored = false
		e.outs.put(claimKey{tg.Target, attr}, out)
	}
}
