package app

import (
	"context"
	"sync"
	"time"

	"github.com/situationd/situationd/situations"
)

// sampleCounter counts the samples that the runner takes, for the metrics.
type sampleCounter struct {
	situations.Source
	changes func() <-chan struct{}

	mu           sync.Mutex
	good, failed uint64
	last         time.Time
	took         time.Duration
}

// Sample takes one sample and counts it.
func (s *sampleCounter) Sample(ctx context.Context) (*situations.Observation, error) {
	begin := time.Now()
	obs, err := s.Source.Sample(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || obs.Err != nil {
		s.failed++
		return obs, err
	}
	s.good++
	s.last, s.took = begin, time.Since(begin)
	return obs, nil
}

// Changes makes it a situations.Changer.
func (s *sampleCounter) Changes() <-chan struct{} { return s.changes() }

func (s *sampleCounter) read() (good, failed uint64, last time.Time, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.good, s.failed, s.last, s.took
}
