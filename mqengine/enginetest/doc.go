// Package enginetest runs a cluster of queue managers in a simulation: the real
// cores (qmgr.Machine with everything under it, store.Memory) on virtual time, in
// one goroutine, with a disk, a network and applications that one seed decides.
// Queue managers crash between any two effects and lose what was not synced;
// links are cut, stall and come back; definitions change; messages are moved.
// Then everything heals, and checkers say what did not hold.
//
// The same seed gives the same run, event for event: Result.Hash is over every
// event and effect, so a run that differs from its repetition has found a core
// that depends on something else than its arguments.
//
// Modelled: turns of several steps, a few of them in flight as the shell has
// them; durability in order, late; frames in bytes, in order per link; clocks
// that differ and jump forward, disks that reach their reserve. Left out so far:
// more than three queue managers. Only tests import it. No goroutines.
package enginetest
