// Package samples keeps the state of a queue manager's queues as far as it is
// durable, and which of them changed after a revision: what DISPLAY QSTATUS and
// DISPLAY QUEUE of all of them would say, without asking the machine. The engine's
// shell and the simulator publish to it what a turn touched.
//
// It leaves out who is told of a change, which is the business of whoever
// publishes. It has no goroutines of its own.
package samples
