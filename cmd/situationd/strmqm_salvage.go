package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/situationd/situationd/mqengine"
)

// startWhole starts the queue manager. A damaged store is reported, and with
// --salvage replaced by what is whole in it.
func (r *strmqmRun) startWhole(ctx context.Context) (*mqengine.QueueManager, error) {
	var whole bool
	if r.salvage {
		losses, err := mqengine.Examine(r.data, r.name)
		if err != nil {
			return nil, err
		}
		if whole = losses.Whole; !whole {
			if err := r.rescue(); err != nil {
				return nil, err
			}
		}
	}
	qm, err := r.start(ctx)
	switch {
	case err == nil && whole: // only now: damage that holds nothing shows when the database opens
		if _, err := fmt.Fprintf(r.env.Stderr, "strmqm: nothing of queue manager %s is damaged, --salvage has no effect\n", r.name); err != nil {
			return nil, errors.Join(err, qm.Stop(context.WithoutCancel(ctx)))
		}
		return qm, nil
	case !mqengine.Damaged(err):
		return qm, err
	case !r.salvage:
		return nil, r.tellDamage(err)
	}
	// What is damaged holds nothing that counts, but the database stumbles over it.
	if err := r.rescue(); err != nil {
		return nil, err
	}
	return r.start(ctx)
}

// rescue takes what is whole out of a damaged store.
func (r *strmqmRun) rescue() error {
	losses, err := mqengine.Salvage(r.data, r.name)
	if err != nil {
		return err
	}
	if err := r.report(losses); err != nil {
		return err
	}
	if losses.Kept != "" {
		_, err = fmt.Fprintf(r.env.Stderr, "strmqm: the damaged store is kept in %s\n", losses.Kept)
	}
	return err
}

// tellDamage reports what is lost with a damaged store, which stays as it is.
func (r *strmqmRun) tellDamage(damage error) error {
	losses, err := mqengine.Examine(r.data, r.name)
	if err != nil {
		return failedf("strmqm: %w (%w)", damage, err)
	}
	if err := r.report(losses); err != nil {
		return err
	}
	return failedf("strmqm: %w; --salvage starts it without what is lost", damage)
}

func (r *strmqmRun) report(losses *mqengine.Losses) error {
	for _, line := range losses.Lines {
		if _, err := fmt.Fprintf(r.env.Stderr, "strmqm: %s: %s\n", r.name, line); err != nil {
			return err
		}
	}
	return nil
}
