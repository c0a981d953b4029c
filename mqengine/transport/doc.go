// Package transport carries frames, whole byte strings of bounded length,
// between two ends: over TCP for message channels, over a Unix socket for local
// applications, and in memory for tests. It stands for MQ's listener and the
// transport half of its channel agents, and does not speak IBM's wire format. TLS
// is around preface and frames where the caller begins with it.
//
// Every link starts with a preface, so that a browser or a port scanner at the
// wrong port is refused with one clear error. Links own two goroutines at most
// (a writer, and the caller's reader); Close ends them and waits.
package transport
