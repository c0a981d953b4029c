package actions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/situations"
)

// publication is a lowering that this daemon shows to its peers.
type publication struct {
	until time.Time // zero while it is wanted; then how long it is still shown
	made  time.Time // when the lowering was read back
}

// publicationKey is what is lowered, and a queue that it takes an instance of.
type publicationKey struct {
	by    Target
	queue string
}

// exposed are the instances that a lowering takes away and that must not be the
// last. The lock is held.
func (e *Engine) exposed(s *step) []*situations.Row {
	var queues []situations.Row
	if e.view.good != nil {
		queues = e.view.good.Rows
	}
	var out []*situations.Row
	for _, row := range affected(s.tg.Target, s.action(), &s.row, queues, clustersIn(s.d.Changes)) {
		if s.en.need(s.index, row) > 0 {
			out = append(out, row)
		}
	}
	return out
}

// agree settles with the peers that this daemon may lower: publish, then read
// every peer. False: not now; the intent waits for the next sample. What takes
// several instances away goes on only if all of them may go.
func (e *Engine) agree(s *step, rows []*situations.Row) bool {
	ctx, cancel := context.WithTimeout(e.work, peersTimeout)
	defer cancel()
	e.mu.Lock()
	qmid := e.qmid()
	shown := !slices.ContainsFunc(rows, func(r *situations.Row) bool {
		_, one := e.shown[publicationKey{s.tg.Target, r.Queue}]
		return !one
	})
	e.mu.Unlock()
	verdict, why, err := peersGo, "", error(nil)
	if !shown {
		// A look first, so that who has to withdraw anyway does not make the other wait.
		verdict, why, err = e.ask(ctx, s, rows, qmid)
	}
	if err == nil && verdict != peersWithdraw {
		e.mu.Lock()
		e.publish(s.tg.Target, rows, publication{})
		e.mu.Unlock()
		verdict, why, err = e.ask(ctx, s, rows, qmid)
	}
	if err == nil && verdict == peersGo {
		return true
	}
	if err != nil {
		why = "a peer cannot be reached: " + err.Error()
	}
	e.mu.Lock()
	if err != nil || verdict == peersWithdraw || verdict == peersTooFew {
		maps.DeleteFunc(e.shown, func(k publicationKey, _ publication) bool { return k.by == s.tg.Target })
	}
	code := HoldPeers
	if verdict == peersTooFew {
		code = HoldLastInstance
	}
	s.en.hold([]Hold{{Code: code, Text: why}}, time.Now())
	s.en.pause = e.view.taken
	e.refund(s)
	report := s.en.reported != string(code)
	s.en.reported = string(code)
	e.mu.Unlock()
	if report {
		e.journalHeld(s, why)
	}
	return false
}

const peersTimeout = 5 * time.Second

// ask asks about every instance that would go, until one may not.
func (e *Engine) ask(ctx context.Context, s *step, rows []*situations.Row, qmid string) (peerStep, string, error) {
	if qmid == "" {
		return peersWait, "", errors.New("the QMID of this queue manager is not known")
	}
	asked := "" // one look for all of them: there may be thousands
	if len(rows) == 1 {
		asked = rows[0].Queue
	}
	seen, err := e.opt.Peers.Look(ctx, asked)
	if err != nil {
		return peersWait, "", err
	}
	for _, row := range rows {
		step, why := weigh(qmid, row.Queue, seen.Intents)
		if step != peersGo {
			return step, why, nil
		}
		// What the others say of their own instances is newer than what the repository
		// has heard: one that was lowered a moment ago does not count any more.
		row := firstHand(row, seen.Instances)
		need := s.en.need(s.index, row)
		if ready := ReadyElsewhere(*row, leverOf(s.action(), e.opt.V6).on(s.tg.Target)); ready < need {
			return peersTooFew, fmt.Sprintf("%d other instances of %s could be chosen as their own daemons see it, and %d must be left", ready, row.Queue, need), nil
		}
	}
	return peersGo, "", nil
}

// firstHand is the row with what the peers say of their instances. An instance
// can be chosen only if both they and the repository say so.
func firstHand(row *situations.Row, peers []PeerInstance) *situations.Row {
	out := *row
	out.Instances = slices.Clone(row.Instances)
	for i := range out.Instances {
		in := &out.Instances[i]
		for _, p := range peers {
			if in.Local || p.Queue != "" && p.Queue != row.Queue || p.QMgr != in.QMgr || p.QMID != "" && in.QMID != "" && p.QMID != in.QMID {
				continue
			}
			in.Put = in.Put && p.Put
			in.ClwlRank, in.ClwlPrty = min(in.ClwlRank, p.ClwlRank), min(in.ClwlPrty, p.ClwlPrty)
		}
	}
	return &out
}

// publish shows that instances are lowered, or shall be. The lock is held.
func (e *Engine) publish(t Target, rows []*situations.Row, p publication) {
	for _, row := range rows {
		e.shown[publicationKey{t, row.Queue}] = p
	}
}

// unpublish stops showing a lowering that is not wanted now. One that was made
// is shown a little longer. The lock is held.
func (e *Engine) unpublish(t Target) {
	maps.DeleteFunc(e.shown, func(k publicationKey, p publication) bool { return k.by == t && p.until.IsZero() })
}

// Publishing lists the lowerings that this daemon wants to make or just made,
// for its status, where the peers read them.
func (e *Engine) Publishing() []PeerIntent {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.publishing()
}

func (e *Engine) publishing() []PeerIntent {
	now := time.Now()
	var out []PeerIntent
	for k, p := range e.shown {
		// Others must have had the time to hear of it, and find it in our own sample.
		if !p.until.IsZero() && now.After(p.until) && e.view.good != nil && e.view.good.At.After(p.made) {
			delete(e.shown, k)
			continue
		}
		out = append(out, PeerIntent{QMgr: e.opt.QMgr, QMID: e.qmid(), Queue: k.queue})
	}
	slices.SortFunc(out, func(a, b PeerIntent) int { return strings.Compare(a.Queue, b.Queue) })
	return slices.Compact(out)
}

func (e *Engine) qmid() string {
	if e.view.good == nil {
		return ""
	}
	return e.view.good.QMID
}
