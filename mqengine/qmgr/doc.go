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
// definitions of remote queues and the cluster, waits, browse cursors and locks,
// get by id, selection, priorities, expiry, context, groups and segments, units
// of work, backout counts, report messages, triggering, events of depth and
// inhibited calls, dynamic queues, the dead-letter header, MQSC, message channels
// and repositories. Left out: signals, distribution lists, asynchronous consume,
// service-interval, channel and configuration events. Nonpersistent messages are
// lost at every restart, also NPMCLASS(HIGH).
//
// What the machine writes itself (dead-letter headers, trigger messages, events)
// stands in the message's header and goes in front of the body. What it makes of
// a part of a body (reports with data, segments) is an effect, BodyCopy. Reports,
// trigger messages and events are put at the end of the step that brings them
// about, so that they become durable with it.
//
// Three things differ from MQ and can be seen. A report whose reply-to queue the
// full repositories have not yet told of waits in memory for up to ten seconds.
// A get that waits does not hold up later calls of its connection. An expired
// message that a crash brings back is expired still, and discarded again.
package qmgr
