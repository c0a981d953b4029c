package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
)

// Bounds of asking other daemons.
const (
	peerTimeout   = 2 * time.Second
	peerAnswer    = 64 << 20 // bytes of a whole status
	peerConns     = 8        // to one peer
	peerPollLeast = 200 * time.Millisecond
	peerPollMost  = 10 * time.Second
	peerFresh     = 5 * time.Second // the least time for which an answer is first-hand
	peerIntervals = 2               // or so many of the fastest situation's intervals
)

// peers are the other daemons of the cluster. Their statuses are read all the
// time for what they know at first hand, and once more before each lowering.
type peers struct {
	addresses []string
	every     func() time.Duration // between two readings
	fresh     func() time.Duration // for which an answer is first-hand
	client    *http.Client
	logger    hclog.Logger

	mu    sync.Mutex
	known map[string]peerView // by address
}

// peerView is the last status of a peer.
type peerView struct {
	at     time.Time
	status httpapi.Status
	own    map[string]httpapi.Queue // its own instances by queue
	err    string
}

func newPeers(addresses []string, every, fresh func() time.Duration, transport http.RoundTripper, logger hclog.Logger) *peers {
	return &peers{
		addresses: addresses, every: every, fresh: fresh, logger: logger, known: map[string]peerView{},
		client: &http.Client{
			Timeout:       peerTimeout,
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// peerTransport is the way to the peers.
func (a *App) peerTransport() http.RoundTripper {
	if a.outside != nil {
		return a.outside.HTTP
	}
	return &http.Transport{MaxConnsPerHost: peerConns, MaxIdleConnsPerHost: peerConns, IdleConnTimeout: time.Minute}
}

// peersEvery is how often peers are read: as often as the fastest situation
// looks, within bounds.
func (a *App) peersEvery() time.Duration {
	return min(max(a.reconnect(), peerPollLeast), peerPollMost)
}

// peersFresh is for how long what a peer said is first-hand: it samples about as
// often as this daemon does.
func (a *App) peersFresh() time.Duration {
	shortest := time.Duration(0)
	for _, s := range a.rules.Load().Situations {
		if every := s.Schedule.Interval(time.Now()); s.Runs(a.qmgr) && (shortest == 0 || every < shortest) {
			shortest = every
		}
	}
	return max(peerIntervals*shortest, peerFresh)
}

// run reads the peers until ctx ends.
func (p *peers) run(ctx context.Context) {
	var wait sync.WaitGroup
	for _, address := range p.addresses {
		wait.Go(func() { p.follow(ctx, address) })
	}
	wait.Wait()
	p.client.CloseIdleConnections()
}

func (p *peers) follow(ctx context.Context, address string) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		status, err := p.ask(ctx, address, "")
		if ctx.Err() != nil {
			return
		}
		p.note(address, status, err)
		timer.Reset(p.every())
	}
}

// note keeps an answer. A peer that does not answer is known no longer than its
// last answer is fresh.
func (p *peers) note(address string, status httpapi.Status, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	view := p.known[address]
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != view.err {
		if text != "" {
			p.logger.Warn("a peer does not answer; nothing is lowered meanwhile", "peer", address, "error", text)
		} else {
			p.logger.Info("the peer answers again", "peer", address)
		}
	}
	view.err = text
	if err == nil {
		view.at, view.status, view.own = time.Now(), status, map[string]httpapi.Queue{}
		for _, q := range status.Queues {
			if q.Source == "own" {
				view.own[q.Queue] = q
			}
		}
	}
	p.known[address] = view
}

// ask reads the status of a peer, of one queue or with "" whole.
func (p *peers) ask(ctx context.Context, address, queue string) (status httpapi.Status, err error) {
	target := address + "/api/v1/status"
	if queue != "" {
		target += "?queue=" + url.QueryEscape(queue)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return status, err
	}
	answer, err := p.client.Do(req)
	if err != nil {
		return status, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return status, fmt.Errorf("%s: %s", target, answer.Status)
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, peerAnswer)).Decode(&status); err != nil {
		return status, fmt.Errorf("%s: this is no daemon's status: %w", target, err)
	}
	if status.QMgr == "" {
		return status, fmt.Errorf("%s: this is no daemon's status", target)
	}
	return status, nil
}

// Look reads every peer now, all at once; of all queues with "".
func (p *peers) Look(ctx context.Context, queue string) (actions.PeerLook, error) {
	statuses, errs := make([]httpapi.Status, len(p.addresses)), make([]error, len(p.addresses))
	var wait sync.WaitGroup
	for i, address := range p.addresses {
		wait.Go(func() {
			statuses[i], errs[i] = p.ask(ctx, address, queue)
			if errs[i] == nil && statuses[i].QMID == "" {
				errs[i] = fmt.Errorf("the daemon of %s has no sample yet", statuses[i].QMgr)
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return actions.PeerLook{}, err
	}
	var look actions.PeerLook
	for i := range statuses {
		s := &statuses[i]
		for _, w := range s.Intents {
			if queue == "" || w.Queue == queue {
				look.Intents = append(look.Intents, actions.PeerIntent{QMgr: w.QMgr, QMID: w.QMID, Queue: w.Queue})
			}
		}
		for j := range s.Queues {
			q := &s.Queues[j]
			if q.Source == "own" && (queue == "" || q.Queue == queue) && q.Put != nil && q.ClwlRank != nil && q.ClwlPrty != nil {
				look.Instances = append(look.Instances, actions.PeerInstance{
					QMgr: s.QMgr, QMID: s.QMID, Queue: q.Queue, Put: *q.Put == "ENABLED", ClwlRank: *q.ClwlRank, ClwlPrty: *q.ClwlPrty,
				})
			}
		}
	}
	return look, nil
}

// own is what a peer says of its own instance, if it said so just now.
func (p *peers) own(queue, qmgr, qmid string, now time.Time) (httpapi.Queue, bool) {
	if p == nil {
		return httpapi.Queue{}, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, view := range p.known {
		if view.status.QMgr != qmgr || qmid != "" && view.status.QMID != "" && view.status.QMID != qmid {
			continue
		}
		q, ok := view.own[queue]
		if !ok {
			continue
		}
		age := now.Sub(view.at) + time.Duration(q.AgeS*float64(time.Second))
		q.Source, q.AgeS = "peer", age.Seconds()
		return q, age <= p.fresh()+p.every()
	}
	return httpapi.Queue{}, false
}

// readers is how many applications read an instance, as its own daemon says.
func (p *peers) readers(queue, qmgr, qmid string, at time.Time) (int, bool) {
	q, ok := p.own(queue, qmgr, qmid, at)
	if !ok || q.IPProcs == nil {
		return 0, false
	}
	return *q.IPProcs, true
}
