// Package qmgr is one queue manager as a machine: queues, handles, units of
// work, MQSC commands, cluster routing and message channels, without clock,
// goroutines, randomness or I/O. Step takes an event and the time and writes
// what has to be done into Effects; a shell (mqengine, or the simulator) does
// it. It never sees a message body, only a reference.
//
// The rule between machine and shell: the machine acts as if every unit were
// durable at once; the shell releases the replies and frames of a turn only
// after that turn's Unit, and all before it, are durable. So nothing leaves the
// process that depends on an unsynced record, and the machine knows no tokens.
//
// Modelled: MQOPEN to MQDISC with sharing rules, resolution through aliases,
// definitions of remote queues and the cluster, waits, browse cursors, get by
// id, priorities, expiry, context, groups in logical order, units of work,
// backout counts, dynamic queues, the dead-letter header, MQSC, message channels
// and repositories. Left out so far: triggering, report messages, segmentation,
// selection, browse locks, events; their fields and attributes are kept and
// travel. Nonpersistent messages are lost at every restart, also NPMCLASS(HIGH).
//
// Three things differ from MQ and can be seen. The dead-letter header is not in
// front of the body, which the machine never has: it shows as properties MQDLH.*.
// A get that waits does not hold up later calls of its connection. An expired
// message that a crash brings back is expired still, and discarded again.
package qmgr
