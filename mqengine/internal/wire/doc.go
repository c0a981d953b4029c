// Package wire is the one binary notation of the engine: message headers in
// the store, frames between queue managers and the protocol on qm.sock are all
// written and read with it. Integers are varints, signed ones zig-zag; strings
// and lists have their length before them.
//
// A Reader never panics and never allocates more than its input holds: the
// first fault sticks, later reads give zero values, Err tells once at the end.
// No goroutines, no state.
package wire
