// Package repository is what a queue manager knows of its clusters, as a pure
// machine: a full repository knows everything of a cluster, a partial one what
// its applications use. It models publications with sequence numbers and
// lifetimes (27, 30 and 60 days), subscriptions on first use, automatic
// cluster-sender definitions, SUSPEND, REFRESH and RESET, and the temporary
// name of a full repository that has not answered yet. It does not route, and
// it sends nothing: commands are payloads that the owner carries as messages.
//
// No goroutines, no clock, no I/O: each call takes the time and writes what has
// to be done into Effects; NextDeadline tells when Tick is due.
package repository
