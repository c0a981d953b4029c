// Package adapt is the glue between queue managers and the watchdog: it makes
// observations of the engine's samples, sets and reads back queue attributes
// through MQSC, and moves messages with the engine's MOVE. situations, actions
// and redistribute state what they need; this package fills it for the embedded
// engine, in this process or over its socket.
//
// Handles that carry the daemon's owner token are left out of what formulas see,
// and stay in what metrics show.
//
// Goroutines: Link.Run owns the one that keeps the connection and forwards
// changes.
package adapt
