// Package app is the life of the daemon, and the only place where everything is
// wired: the queue manager (hosted in this process, or reached through its
// socket), the runner of the situations, the engine of the actions, the journal,
// the state, the alerts, the port and daemon.sock. New checks and opens, Run
// works until its context ends or the hosted queue manager does, Reload swaps
// the rules, and what was opened is closed in the reverse order.
//
// A file that is wrong never replaces one that is right: the rules in force
// stay, and the error is shown by status, metric and log.
//
// Goroutines: App.Run starts one for each part and waits for all of them.
package app
