package actions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

// publication is a lowering that this daemon shows to its peers.
type publication struct {
	until time.Time // zero while it is wanted; then how long it is still shown
}

// agree settles with the peers that this daemon may lower: publish, then read
// every peer. False: not now; the intent waits for the next sample.
func (e *Engine) agree(s *step) bool {
	ctx, cancel := context.WithTimeout(e.work, peersTimeout)
	defer cancel()
	e.mu.Lock()
	qmid := e.qmid()
	_, shown := e.shown[s.tg.Queue]
	e.mu.Unlock()
	queue := s.tg.Queue
	verdict, why, err := peersGo, "", error(nil)
	if !shown {
		// A look first, so that who has to withdraw anyway does not make the other wait.
		verdict, why, err = e.ask(ctx, qmid, queue)
	}
	if err == nil && verdict != peersWithdraw {
		e.mu.Lock()
		e.shown[queue] = publication{}
		e.mu.Unlock()
		verdict, why, err = e.ask(ctx, qmid, queue)
	}
	if err == nil && verdict == peersGo {
		return true
	}
	if err != nil {
		why = "a peer cannot be reached: " + err.Error()
	}
	e.mu.Lock()
	if err != nil || verdict == peersWithdraw {
		delete(e.shown, queue)
	}
	s.en.holds = []Hold{{Code: HoldPeers, Text: why}}
	s.en.pause = e.view.taken
	e.refund(s)
	report := s.en.reported != string(HoldPeers)
	s.en.reported = string(HoldPeers)
	e.mu.Unlock()
	if report {
		e.journal(s, resultBlocked, why)
	}
	return false
}

const peersTimeout = 5 * time.Second

func (e *Engine) ask(ctx context.Context, qmid, queue string) (peerStep, string, error) {
	seen, err := e.opt.Peers.Intents(ctx, queue)
	if err != nil {
		return peersWait, "", err
	}
	if qmid == "" {
		return peersWait, "", errors.New("the QMID of this queue manager is not known")
	}
	step, why := weigh(qmid, queue, seen)
	return step, why, nil
}

// unpublish stops showing a lowering that is not wanted now. One that was made
// is shown a little longer. The lock is held.
func (e *Engine) unpublish(queue string) {
	if p, ok := e.shown[queue]; ok && p.until.IsZero() {
		delete(e.shown, queue)
	}
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
	for queue, p := range e.shown {
		if !p.until.IsZero() && now.After(p.until) {
			delete(e.shown, queue)
			continue
		}
		out = append(out, PeerIntent{QMgr: e.opt.QMgr, QMID: e.qmid(), Queue: queue})
	}
	slices.SortFunc(out, func(a, b PeerIntent) int { return strings.Compare(a.Queue, b.Queue) })
	return out
}

func (e *Engine) qmid() string {
	if e.view.good == nil {
		return ""
	}
	return e.view.good.QMID
}
