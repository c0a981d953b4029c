// Package httpapi is what programs and people see of a daemon over HTTP: the
// metrics, health, readiness and reload in Prometheus's manner, and the JSON of
// /api/v1. The same handler serves the port and daemon.sock; what changes
// something is answered on the socket, or on the port to a user that the web
// configuration has authenticated.
//
// The package knows no queue manager and no engine: it asks a Daemon, which
// internal/app fills. Metrics of queues, channels, clusters and the queue manager
// have the names and labels of IBM's own exporter; a value that is unknown has
// no sample.
//
// Goroutines: Serve owns those of net/http and waits for them, bounded by its
// shutdown time.
package httpapi
