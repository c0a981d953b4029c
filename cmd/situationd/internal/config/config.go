package config

import (
	"time"
)

// Connect says how the daemon meets its queue manager.
type Connect string

// The ways to meet a queue manager. The last two meet IBM MQ itself and come
// with a later release.
const (
	Hosted  Connect = "hosted"  // the embedded engine in the daemon's process
	Local   Connect = "local"   // the embedded engine in another process, through qm.sock
	MQWeb   Connect = "mqweb"   // IBM MQ over its REST API
	RunMQSC Connect = "runmqsc" // IBM MQ on this host through its commands
)

// Config is a checked daemon file with every default filled in and every path
// absolute.
type Config struct {
	Path          string
	QueueManager  QueueManager
	RulePatterns  []string // as written, made absolute
	Rules         []string // the files that they named when the file was read, sorted within a pattern
	Data          string   // "" if the file leaves it to the environment
	HTTP          *HTTP    // nil: no port is opened
	Alertmanagers []string // URLs; every one of them gets every alert
	Peers         []string // URLs of the other daemons of the cluster
	Journal       Journal
	ExecAllow     []string // absolute files or folders
	MQSCAllow     []string // verbs in capitals
	Limits        Limits
	StartupGrace  time.Duration
	GraceSet      bool // startup_grace was written, so short samples do not shorten it
	Log           Log
}

// QueueManager is the queue manager that the daemon acts on.
type QueueManager struct {
	Name    string
	Connect Connect
	Hosted  HostedOptions
}

// HostedOptions are those of a queue manager in the daemon's own process.
type HostedOptions struct {
	Listen   string
	MQSC     []string // absolute; run once, when the queue manager is created
	Workload string   // modern or v6
}

// HTTP is the daemon's port.
type HTTP struct {
	Listen    string
	WebConfig string // absolute path of an exporter-toolkit web configuration, "" for none
}

// Journal is the file of actions.
type Journal struct {
	Path      string // relative to daemon/NAME
	OnFailure string // refuse or warn
}

// Limits bound what the daemon may do.
type Limits struct {
	Budget    int // lowerings a minute
	LedgerTTL time.Duration
	// Breaker is the share of a situation's items, in percent, that may open
	// within one interval; 0 is off.
	Breaker int
}

// Log is how the daemon talks on stderr.
type Log struct {
	Level  string
	Format string // text or json
}

// Default has every value that a file may leave out.
func Default() Config {
	return Config{
		QueueManager: QueueManager{Connect: Local, Hosted: HostedOptions{Workload: "modern"}},
		Journal:      Journal{Path: "actions.jsonl", OnFailure: "refuse"},
		MQSCAllow:    []string{},
		Limits:       Limits{Budget: 60, LedgerTTL: 10 * time.Minute},
		StartupGrace: 10 * time.Second,
		Log:          Log{Level: "info", Format: "text"},
	}
}
