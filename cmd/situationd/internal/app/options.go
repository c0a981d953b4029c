package app

import (
	"context"
	"net/http"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/situations"
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
	// Outside replaces the machine around the daemon; nil for the real one.
	Outside *Outside
}

// Outside is the machine around a daemon for tests that run whole clusters with
// their daemons in one process, on a clock of their own: there nothing may wait
// for a socket. Such a daemon opens none, and is asked through its methods.
type Outside struct {
	// Dial connects to the queue manager.
	Dial func(context.Context, qmgr.Appl) (mqengine.Conn, error)
	// HTTP is the way to peers and Alertmanagers.
	HTTP http.RoundTripper
	// Programs runs what rules run.
	Programs actions.Programs
	// Disk stands between the daemon and what it keeps.
	Disk func(State, Recorder) (State, Recorder)
}

// State is what a daemon keeps.
type State interface {
	actions.Store
	actions.AlertStore
	situations.StateStore
	adapt.LedgerDB
}

// Recorder is the journal as the daemon writes it.
type Recorder interface {
	actions.Recorder
	// Ends are how the attempts ended of which the journal knows.
	Ends() map[string]actions.Result
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
