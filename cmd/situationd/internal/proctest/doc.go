// Package proctest is for tests that treat the program as its users do: it
// builds the binary, runs queue managers as processes that can be killed and
// started again, and puts proxies between them that can cut their links. Only
// tests import it.
//
// A Program owns the binary, a QMgr its process and the goroutine that waits for
// it, a Proxy the goroutines of its links; the test's cleanup ends all of them.
package proctest
