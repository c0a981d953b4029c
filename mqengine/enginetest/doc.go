// Package enginetest runs clusters of queue managers in a simulation: the real
// cores (qmgr.Machine with everything under it, store.Memory) on virtual time, in
// one goroutine, with disks, a network, operators and applications that one seed
// decides. A run has 3 to 30 queue managers in one or two clusters that overlap.
//
// What happens to them: crashes between any two effects, with the loss of what
// was not synced; links that are cut, stall in one or both directions, break
// with the loss of what is on its way, or are slow; the cluster in two parts;
// slow disks and full ones; clocks that differ and jump forward. Operators alter
// definitions, make and delete instances, stop channels, SUSPEND, REFRESH and
// RESET, and let members leave and join. Applications come and go, put alone, in
// units of work and in groups, bound and not, by name, with priorities and with
// messages that expire. Then everything heals, and in some runs a month goes by.
//
// Checked: nothing acknowledged is lost, nothing comes twice, nothing comes that
// was backed out or has expired; order per path and priority, priority before
// age, units whole, groups together, bound messages where they belong; every
// choice that the oracle computes again is one that the workload rules allow;
// queues have no more than their definition allows; in the end the view of every
// member is what the owners have defined, and nothing is left anywhere.
//
// The same seed gives the same run, event for event: Result.Hash is over every
// event and effect, so a run that differs from its repetition has found a core
// that depends on something else than its arguments.
//
// Left out: the choices that a queue manager makes when it sends messages another
// way are not computed again, and of those that the rules allow the oracle does
// not say which is next: the tests of workload do. Clocks are not set back: the
// shell lets them run slower instead. Message contents are short.
//
// Only tests import it. No goroutines outside its own tests.
package enginetest
