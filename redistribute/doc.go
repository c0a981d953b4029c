// Package redistribute moves the messages that wait on a queue nobody reads to
// an instance of the same cluster queue that is served.
//
// Plan is pure: it says when a run starts, goes on and stops. Job runs it: units
// of work of 50 messages, several in flight if the Queue can, a look at the queue
// after each. Ledger remembers what moved, so that a message that came back is
// not sent round in a circle. What a unit of work is, and which messages must
// not move, is the business of the Queue behind it: the embedded engine's MOVE,
// or gets and puts.
//
// What is kept: ids, priority, persistence, remaining expiry, properties,
// context. What is not: the order of messages among instances. A group, or the
// segments of a message, go whole or stay.
//
// pace.go holds a run to its rate, report.go says how a report adds up.
//
// Goroutines: Job.Run starts one per unit in flight and waits for all of them.
package redistribute
