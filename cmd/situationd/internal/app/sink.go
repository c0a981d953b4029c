package app

import (
	"context"

	"github.com/situationd/situationd/situations"
)

// sink hands what the runner decides to the actions, and has the notifier look
// for alerts that opened or cleared with a sample.
type sink struct{ app *App }

var _ situations.Sink = sink{}

// Dispatch hands confirmed intents on.
func (s sink) Dispatch(ctx context.Context, intents []situations.Intent) {
	s.app.engine.Dispatch(ctx, intents)
}

// Rename hands on that a situation is called otherwise.
func (s sink) Rename(from, to situations.Key) { s.app.engine.Rename(from, to) }

// Suppress hands on what a maintenance window keeps back.
func (s sink) Suppress(intents []situations.Intent) { s.app.engine.Suppress(intents) }

// Observe hands a sample on.
func (s sink) Observe(obs *situations.Observation) {
	s.app.engine.Observe(obs)
	if s.app.notifier != nil {
		s.app.notifier.Kick()
	}
}
