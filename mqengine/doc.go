// Package mqengine is the embedded clustered queue manager: the facade over
// the machine in qmgr. It owns everything that machine must not have: the
// actor's goroutine and its mailbox, the committer, the store, network links,
// the socket of local applications, the lock on the folder, the error log.
//
// The way of a call: a Conn (client.go) hands it to its port, which is the
// mailbox (localport.go) or qm.sock (socketport.go, session.go, PROTOCOL.md). The
// actor (actor.go) takes what waits, lets the machine step, and makes a turn
// (turn.go) of the effects: bodies from the body table (bodies.go) or, read ahead
// where they are read in order, from the store (bodies_ahead.go), frames as
// bytes, queues as rows. The committer of the store makes the turn durable; then
// release.go lets it out: rows for samples and watches (internal/samples, watch.go),
// answers, frames and dials (links.go). Nothing gets out before, so nothing
// anywhere depends on a record that a power failure could take back.
//
// It stands for MQ's execution controller, agents, listener and control
// commands (crtmqm, strmqm, endmqm, dspmq, dltmqm). It leaves out client
// channels and the command server's queue.
//
// A QueueManager starts its goroutines in Start and waits for them before Done is
// closed: the supervisor, the actor, the committer, a watcher of the disk, one
// per listener, per link and per local connection. Locks are held for moments,
// never two at a time, but for the hub of watches, which comes before a watcher.
package mqengine
