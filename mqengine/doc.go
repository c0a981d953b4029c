// Package mqengine is the embedded clustered queue manager: the facade over
// the machine in qmgr. It owns everything that machine must not have: the
// actor's goroutine and its mailbox, the committer, the store, network links,
// the socket of local applications, the lock on the folder, the error log.
package mqengine
