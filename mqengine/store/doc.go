// Package store keeps what a queue manager must not lose: records (objects,
// channel sequence numbers, repository), message headers and message bodies.
// One unit of work, and a channel's sequence number with its messages, is one
// atomic synced batch. It stands for MQ's recovery log and queue files and
// models neither: no circular or linear logging, no media recovery.
//
// Pebble is the durable store, Memory its twin with crash semantics for the
// simulator; storetest is the conformance suite that both pass. A Committer in
// front lets many units share a sync.
//
// Goroutines: the Committer owns one, which its Close ends and waits for. Those
// of the database below end with Pebble.Close.
package store
