package actions

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/situationd/situationd/situations"
	bolt "go.etcd.io/bbolt"
)

// Restore puts into a new state what the journal says is lowered: somebody took
// the old state away, or it was damaged, and what a daemon lowered and has
// forgotten nobody gives back. A state is new until this has come to its end
// once. It gives what it found.
func (db *DB) Restore(journal, qmgr string) ([]Out, error) {
	var fresh bool
	err := db.view("read whether it is new", func(tx *bolt.Tx) error {
		fresh = tx.Bucket(bucketMeta).Get(keyFresh) != nil
		return nil
	})
	if err != nil || !fresh {
		return nil, err
	}
	list, err := loweredIn(journal, qmgr)
	if err != nil {
		return nil, err
	}
	return list, db.update("record what was lowered", func(tx *bolt.Tx) error {
		return errors.Join(savePersons(tx, &Update{Out: list}), tx.Bucket(bucketMeta).Delete(keyFresh))
	})
}

// loweredIn reads from a journal what is lowered.
func loweredIn(journal, qmgr string) ([]Out, error) {
	switch info, err := os.Stat(journal); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, nil // a pipe or a device remembers nothing
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
	slices.SortFunc(list, func(a, b Out) int { return strings.Compare(a.Target.Queue+"\x00"+a.Attr, b.Target.Queue+"\x00"+b.Attr) })
	return list, nil
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
		if slices.ContainsFunc(left[i].changes(), change.lowers) {
			r.done(&left[i])
		}
	}
}

// done follows the changes that were made.
func (r *restorer) done(e *Entry) {
	out := Out{Target: e.target(), Situation: e.Situation, Action: e.Action, ID: e.ID, At: e.Time, Restored: true}
	for _, c := range e.changes() {
		switch {
		case c.Attr != attrUseQ:
			r.outs.changed(c, out)
		case c.lowers():
			r.outs.lower(c, out)
		default:
			r.outs.drop(out.Target, c.Attr)
		}
	}
}

// lowers says that a change is one to give back. CLWLUSEQ(ANY) takes nothing
// away, but it is set for what does, and comes back with it.
func (c change) lowers() bool {
	return directionOf(c.Attr, c.Before, c.After) == lowering || c.Attr == attrUseQ && c.After == useAny
}

// changes are those that a line tells of. Lines of older versions do not say
// which cluster a queue manager was suspended in, nor what was reverted first.
func (e *Entry) changes() (list []change) {
	verb, _, _ := strings.Cut(e.Action, " ")
	first := cmp.Or(e.Attribute, attrOf(situations.Verb(verb)))
	before := attributesIn(first, *e.Before)
	for attr, value := range attributesIn(first, *e.After) {
		if attr != "" && attr != attrSuspend && before[attr] != value {
			list = append(list, change{Attr: attr, Before: before[attr], After: value})
		}
	}
	return list
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// attributesIn takes one side of a line's changes apart: a bare value, and others with their names.
func attributesIn(first, text string) map[string]string {
	out := map[string]string{first: firstWord(text)}
	for _, part := range strings.Fields(text)[min(1, len(strings.Fields(text))):] {
		// The last parenthesis: SUSPEND(C1)(YES).
		if i := strings.LastIndexByte(part, '('); i >= 0 {
			out[part[:i]] = strings.TrimSuffix(part[i+1:], ")")
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
	for _, attr := range attributesOf(tg.Target, nil, nil, &e.outs) {
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
