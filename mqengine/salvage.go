package mqengine

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
)

// Damaged reports whether an error means that the store of a queue manager is
// damaged: Examine tells what is lost, and Salvage goes on without it.
func Damaged(err error) bool {
	return errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrNoBody)
}

// Losses is what is wrong with a store, and what is lost with it.
type Losses struct {
	Whole bool     // nothing is wrong
	Lines []string // for a person, one finding each
	Kept  string   // folder of the damaged store after a salvage

	salvage *qmgr.Salvage
}

// salvageLines bounds a report.
const salvageLines = 100

// Examine reads the whole store of a queue manager that does not run, bodies
// too, and changes nothing.
func Examine(data, name string) (*Losses, error) {
	lock, folder, err := lockNamed(data, name)
	if err != nil {
		return nil, err
	}
	s := qmgr.NewSalvage()
	found, err := store.Rescue(storePath(folder), store.Options{}, s)
	if err = errors.Join(err, lock.release(false)); err != nil {
		return nil, fmt.Errorf("examine queue manager %s: %w", name, err)
	}
	return lossesOf(found, s, nil), nil
}

// Salvage replaces the store of a queue manager that does not run by one that
// has everything that can still be read. The damaged one is kept beside it.
func Salvage(data, name string) (_ *Losses, err error) {
	lock, folder, err := lockNamed(data, name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, lock.release(false)); err != nil {
			err = fmt.Errorf("salvage queue manager %s: %w", name, err)
		}
	}()
	old, fresh := storePath(folder), storePath(folder)+".new"
	if _, err := os.Stat(old); errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(fresh); err == nil { // a salvage was interrupted when it was all but done
			return &Losses{Lines: []string{"an earlier salvage was completed"}}, errors.Join(os.Rename(fresh, old), syncDir(folder))
		}
	}
	if err := os.RemoveAll(fresh); err != nil {
		return nil, err
	}
	s, now := qmgr.NewSalvage(), time.Now()
	var remade []string
	var refound error
	found, err := store.Salvage(old, fresh, store.Options{}, s, func(u *store.Unit) {
		remade, refound = s.Refound(now, name, object.QMID(name, now), u)
	})
	if err = errors.Join(err, refound); err != nil {
		return nil, errors.Join(err, os.RemoveAll(fresh))
	}
	kept := old + ".damaged-" + now.UTC().Format("20060102T150405.000Z")
	if err := errors.Join(os.Rename(old, kept), os.Rename(fresh, old), syncDir(folder)); err != nil {
		return nil, err
	}
	l := lossesOf(found, s, remade)
	l.Kept = kept
	return l, nil
}

func lockNamed(data, name string) (*folderLock, string, error) {
	info, err := Look(data, name)
	if err != nil {
		return nil, "", err
	}
	lock, err := lockFolder(info.Folder, name)
	return lock, info.Folder, err
}

// lossesOf puts findings into words.
func lossesOf(found *store.Findings, s *qmgr.Salvage, remade []string) *Losses {
	l := &Losses{Whole: found.Whole(), salvage: s}
	say := func(format string, args ...any) {
		if len(l.Lines) < salvageLines {
			l.Lines = append(l.Lines, fmt.Sprintf(format, args...))
		}
	}
	for _, fault := range found.Faults {
		say("damaged: %s", oneLine(fault))
	}
	if found.Nothing {
		say("lost: everything: all definitions and messages")
	}
	for _, q := range slices.Sorted(maps.Keys(found.Bodies)) {
		say("lost: %d messages of %s, whose bodies cannot be read", found.Bodies[q], s.Queue(q))
	}
	for _, q := range slices.Sorted(maps.Keys(found.Headers)) {
		say("lost: %d messages of %s, whose headers cannot be read", found.Headers[q], s.Queue(q))
	}
	for _, gap := range found.Gaps {
		say("lost: %s", l.gap(gap))
	}
	strays := s.Strays()
	for _, q := range slices.Sorted(maps.Keys(strays)) {
		say("out of reach: %d messages of %s; they stay in the store and cannot be got", strays[q], s.Queue(q))
	}
	for _, name := range remade {
		say("as new: %s, whose definition is lost", name)
	}
	say("whole: %d definitions and states, %d messages", found.Records, found.Messages)
	return l
}

// gap says what may lie in a range that cannot be read. A blank end is that of
// the whole space.
func (l *Losses) gap(g store.Gap) string {
	if g.Space == store.SpaceRecord {
		if len(g.Last) == 0 {
			return fmt.Sprintf("definitions and states from %q on", keyText(g.First))
		}
		return fmt.Sprintf("definitions and states from %q up to %q", keyText(g.First), keyText(g.Last))
	}
	from, first := g.Position(g.First)
	to, last := g.Position(g.Last)
	switch {
	case len(g.First)+len(g.Last) == 0:
		return "the messages of all queues"
	case len(g.First) == 0:
		return fmt.Sprintf("the messages of all queues up to position %d of %s", last, l.salvage.Queue(to))
	case len(g.Last) == 0:
		return fmt.Sprintf("the messages of %s from position %d on, and of all queues of higher number", l.salvage.Queue(from), first)
	case from == to:
		return fmt.Sprintf("the messages of %s from position %d up to %d", l.salvage.Queue(from), first, last)
	}
	return fmt.Sprintf("the messages of %s from position %d on, up to position %d of %s", l.salvage.Queue(from), first, last, l.salvage.Queue(to))
}

// keyText is the key of a record without what only measures a gap: the bytes of
// a name end before the first that is zero.
func keyText(key []byte) []byte {
	text, _, _ := bytes.Cut(key, []byte{0})
	return text
}
