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
package qmgr
