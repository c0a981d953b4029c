package httpapi

import (
	"context"
	"log/slog"

	"github.com/hashicorp/go-hclog"
)

// bridge lets the web toolkit, which speaks slog, write into the daemon's log.
func bridge(logger hclog.Logger) *slog.Logger { return slog.New(&handler{logger: logger}) }

type handler struct{ logger hclog.Logger }

func levelOf(l slog.Level) hclog.Level {
	switch {
	case l >= slog.LevelError:
		return hclog.Error
	case l >= slog.LevelWarn:
		return hclog.Warn
	default: // the toolkit's informative lines are noise beside the daemon's own
		return hclog.Debug
	}
}

func (h *handler) Enabled(_ context.Context, l slog.Level) bool {
	return h.logger.GetLevel() <= levelOf(l)
}

func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var args []any
	r.Attrs(func(a slog.Attr) bool {
		args = append(args, a.Key, a.Value.Any())
		return true
	})
	h.logger.Log(levelOf(r.Level), r.Message, args...)
	return nil
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	args := make([]any, 0, 2*len(attrs))
	for _, a := range attrs {
		args = append(args, a.Key, a.Value.Any())
	}
	return &handler{logger: h.logger.With(args...)}
}

func (h *handler) WithGroup(name string) slog.Handler { return &handler{logger: h.logger.Named(name)} }
