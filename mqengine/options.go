package mqengine

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/transport"
	"github.com/situationd/situationd/mqengine/workload"
)

// DefaultBodyBudget is how many bytes of stored message bodies stay in memory.
const DefaultBodyBudget = 16 << 20

// Options is how a queue manager is started.
type Options struct {
	Name string
	// Folder is the queue manager's own, see the function Folder. Blank starts one
	// without lock, socket and error log, on Store: for tests and for the simulation of clusters.
	Folder string
	// Listen is the host:port of the message channels' listener. Blank or "none": there is
	// none, and no other queue manager can reach this one. Port 0 chooses one.
	Listen string
	// Workload is the order in which an instance of a cluster queue is chosen.
	Workload workload.Order
	// Logger gets what the error log gets, and what concerns the process. Nil drops it.
	Logger hclog.Logger
	// Store replaces the durable store in the folder. The queue manager closes it.
	Store store.Store
	// Network replaces TCP.
	Network transport.Network
	// BodyBudget is how many bytes of stored message bodies stay in memory. 0 is DefaultBodyBudget.
	BodyBudget int
	// Reserve is how many bytes of disk stay free; below it puts get 2056. 0 is
	// the store's default, a negative value is none.
	Reserve int64

	// creating: the scripts of the creation are being run.
	creating bool
	// keys are the certificates that Network uses.
	keys *keyRepository
	// helloWait is how long a new link or local connection may stay silent.
	helloWait time.Duration
	// sendWait is how long a local application may not read, or not go on with a frame; 0: the transport's default.
	sendWait time.Duration
}

// defaultHelloWait is long enough for a busy host, and short enough that silent
// strangers do not use up all connections.
const defaultHelloWait = 10 * time.Second

// NoListener as Options.Listen starts no listener.
const NoListener = "none"

// CheckListen checks the form of Options.Listen. Whether the address is ours and
// free shows when the queue manager starts.
func CheckListen(listen string) error {
	if listen == "" || listen == NoListener {
		return nil
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is not HOST:PORT or none", listen)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return fmt.Errorf("%q: %q is no port: use 1 to 65535, or 0 for any free one", listen, port)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	o.keys = &keyRepository{base: o.Folder}
	if o.Network == nil {
		options := channelLinks()
		options.TLS = o.keys.listening
		o.Network = transport.TCP(options)
	}
	if o.BodyBudget == 0 {
		o.BodyBudget = DefaultBodyBudget
	}
	if o.helloWait == 0 {
		o.helloWait = defaultHelloWait
	}
	if o.Listen == NoListener {
		o.Listen = ""
	}
	return o
}
