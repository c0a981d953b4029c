// Package object holds object definitions (queues, channels, namelists, the
// queue manager ...) and the ONE attribute table that drives parser, printer,
// DISPLAY, range checks, defaults and documents. It models definitions only:
// what a queue contains or a channel does is qmgr's.
//
// The table has the attributes of distributed MQ that mean something here, and
// those that are only kept and shown so that common definitions are taken.
// It leaves out exits, LU 6.2, publish/subscribe, media recovery, streaming
// queues and what exists on z/OS alone: those keywords are unknown, not ignored.
//
// No goroutines, no state but the table, which nobody writes.
package object
