// Package object holds object definitions (queues, channels, namelists, the
// queue manager ...) and the ONE attribute table that drives parser, printer,
// DISPLAY, range checks, defaults and documents. It models definitions only:
// what a queue contains or a channel does is qmgr's. No goroutines, no state
// but the table, which nobody writes.
package object
