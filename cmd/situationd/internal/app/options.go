package app

import (
	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/cmd/situationd/internal/config"
)

// Version is what the program says of itself.
type Version struct{ Version, Commit, Go string }

// Options of an App. Config and Data are required.
type Options struct {
	Config *config.Config
	Data   string // the data folder
	// Observe decides and journals everything and changes nothing.
	Observe bool
	Logger  hclog.Logger // nil: silent
	Version Version
	// Speed divides every duration of the rules and the daemon, for the demo; 0 is 1.
	Speed float64
}

func (o *Options) withDefaults() {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Speed <= 0 {
		o.Speed = 1
	}
}

// NewLogger makes the daemon's log from what its file says of it.
func NewLogger(c config.Log, options hclog.LoggerOptions) hclog.Logger {
	options.Level = hclog.LevelFromString(c.Level)
	options.JSONFormat = c.Format == "json"
	return hclog.New(&options)
}
