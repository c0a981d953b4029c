// Package proctest is for tests that treat the program as its users do: it
// builds the binary, runs queue managers as processes that can be killed and
// started again, puts proxies between them that can cut their links, and stops
// a process before it writes, syncs or starts a program, so that it can be killed
// exactly there. Only tests import it.
//
// A Program owns the binary, a QMgr its process and the goroutine that waits for
// it, a Proxy the goroutines of its links, SpawnStopped the one that answers the kernel; the test's cleanup ends all of them.
package proctest
