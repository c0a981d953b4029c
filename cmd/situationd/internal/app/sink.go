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

// Observe hands a sample on.
func (s sink) Observe(obs *situations.Observation) {
	s.app.engine.Observe(obs)
	if s.app.notifier != nil {
		s.app.notifier.Kick()
	}
}
