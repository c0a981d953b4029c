// Package simtest runs whole clusters with their daemons: the queue managers are
// those of the simulator (mqengine/enginetest: the real machines on simulated disks
// and links), and beside each stands a real daemon, package app with everything in
// it: rule files that are polled, the situations' runner, the actions' engine with
// its journal and state on a real disk, the mover and its ledger, the peers and the
// Alertmanagers over HTTP. Only sockets and programs are replaced.
//
// A run is one bubble of testing/synctest, so that time is virtual, and one seed.
// The world's goroutine moves the simulator event by event and lets the daemons
// come to rest after each that reached one of them; what they ask for comes in
// turn. A seed repeats a run as far as a daemon's own goroutines agree.
//
// What happens: readers come, go and die; putters put; queue managers crash
// between any two effects, daemons are killed between any two writes to their disk
// and at any time, hosts lose power; rule files change, also to broken ones;
// people alter, define, delete, hold, release and give back; links are cut, clocks
// of queue managers jump, peers and Alertmanagers do not answer, journals cannot be
// written. Then all that ends, and what has to hold is checked: see check_test.go.
//
// Left out: the clock of a daemon does not jump, for a bubble has one clock; and
// programs are not processes. Both have tests of their own in package actions.
//
// The world's goroutine owns all others and waits for them.
package simtest
