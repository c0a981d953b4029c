package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	alertBatch   = 256
	alertQueue   = 10000
	resendSoon   = time.Second
	resendLatest = 30 * time.Second
)

// sender posts to one Alertmanager: its queue holds the newest form of each
// alert, and a slow or dead Alertmanager holds up nobody else.
type sender struct {
	name, url string
	client    *http.Client
	timeout   time.Duration
	log       hclog.Logger
	ready     chan struct{}

	mu      sync.Mutex
	order   []string            // ids, oldest first
	waiting map[string]outgoing // by id
	stats   ManagerStats
}

// add queues alerts; a newer form of a waiting one takes its place.
func (s *sender) add(alerts []outgoing) {
	if len(alerts) == 0 {
		return
	}
	s.mu.Lock()
	for _, a := range alerts {
		if _, ok := s.waiting[a.id]; !ok {
			s.order = append(s.order, a.id)
		}
		s.waiting[a.id] = a
	}
	s.trim()
	s.mu.Unlock()
	s.poke()
}

// trim drops the oldest alerts of a queue that is too long.
func (s *sender) trim() {
	for len(s.order) > alertQueue {
		delete(s.waiting, s.order[0])
		s.order = s.order[1:]
		s.stats.Dropped++
	}
}

func (s *sender) poke() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// take removes up to a batch from the head of the queue.
func (s *sender) take() []outgoing {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.order), alertBatch)
	batch := make([]outgoing, n)
	for i, id := range s.order[:n] {
		batch[i] = s.waiting[id]
		delete(s.waiting, id)
	}
	s.order = s.order[n:]
	return batch
}

// giveBack puts alerts that could not be posted at the head again, unless a
// newer form came meanwhile.
func (s *sender) giveBack(batch []outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	head := make([]string, 0, len(batch)+len(s.order))
	for _, a := range batch {
		if _, ok := s.waiting[a.id]; !ok {
			s.waiting[a.id] = a
			head = append(head, a.id)
		}
	}
	s.order = append(head, s.order...)
	s.trim()
}

func (s *sender) run(ctx context.Context) {
	wait := resendSoon
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		batch := s.take()
		if len(batch) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-s.ready:
			}
			continue
		}
		left := s.send(ctx, batch)
		if len(left) == 0 {
			wait = resendSoon
			continue
		}
		s.giveBack(left)
		timer.Reset(wait)
		wait = min(2*wait, resendLatest)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
	}
}

// send posts a batch and gives back what must be posted again. After a 400 the
// good alerts of the batch are stored all the same, so it is posted once more
// one by one, which tells who was refused.
func (s *sender) send(ctx context.Context, batch []outgoing) (left []outgoing) {
	status, err := s.post(ctx, batch)
	switch {
	case err == nil:
		s.count(func(st *ManagerStats) { st.Sent += uint64(len(batch)); st.Err = "" })
		return nil
	case !refused(status):
		s.count(func(st *ManagerStats) { st.Errors++; st.Err = err.Error() })
		s.log.Warn("alerts not delivered", "alertmanager", s.name, "alerts", len(batch), "error", err)
		return batch
	}
	for i := range batch {
		if len(batch) > 1 {
			status, err = s.post(ctx, batch[i:i+1])
		}
		switch {
		case err == nil:
			s.count(func(st *ManagerStats) { st.Sent++ })
		case refused(status):
			s.count(func(st *ManagerStats) { st.Rejected++; st.Err = err.Error() })
			s.log.Error("alert refused", "alertmanager", s.name, "alertname", batch[i].Labels[nameLabel], "error", err)
		default: // gone meanwhile: the rest waits
			s.count(func(st *ManagerStats) { st.Errors++; st.Err = err.Error() })
			return batch[i:]
		}
	}
	return nil
}

func refused(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

func (s *sender) post(ctx context.Context, batch []outgoing) (status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	body, err := json.Marshal(batch)
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1024))
	s.count(func(st *ManagerStats) { st.Latency = time.Since(start) })
	if resp.StatusCode/100 == 2 {
		return resp.StatusCode, nil
	}
	if err != nil {
		return resp.StatusCode, fmt.Errorf("%s: %w", resp.Status, err)
	}
	return resp.StatusCode, fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(answer)))
}

func (s *sender) count(f func(*ManagerStats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

func (s *sender) snapshot() ManagerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.URL, st.Queued = s.name, len(s.order)
	return st
}
