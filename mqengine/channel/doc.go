// Package channel is the message channel agent as a pure machine: a Sender
// (SDR, CLUSSDR) and a Receiver (RCVR, CLUSRCVR) that move messages between two
// queue managers exactly once, whatever crashes or is cut. It models batches,
// sequence numbers, the in-doubt window, heartbeats, disconnect interval, retry
// and status words; it does not speak IBM's wire format.
//
// No goroutines, no clock, no I/O: Step(now, event) and NextDeadline.
package channel
