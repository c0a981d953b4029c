// Package situations turns rule files into situations, samples into verdicts,
// verdicts into confirmed edges and edges into intents. The words are those of
// IBM Tivoli Monitoring's situation editor, the names in formulas are MQSC's.
//
// Of Tivoli it models the formula over one row, the sampling interval,
// persistence, distribution, the display item (queue manager and queue, or channel, or
// the queue manager alone: group.go),
// Until and the action tab. It adds what Tivoli lacks: unknown as a verdict of its own,
// persistence on the way back, latches that survive restarts and reloads, giving
// back what was changed, hysteresis. Functions over several samples or rows,
// embedded situations and overrides are left to later releases.
//
// Everything but the runner (run*.go) is pure: no clock, no goroutines, no I/O.
// The package knows no queue manager: it asks a Source for observations and
// hands intents to a Sink. A Runner has no goroutine of its own: it lives in its
// caller's Run.
//
// Where things are:
//
//	load*.go decode.go yamlscan.go position.go   files to rules, with places
//	keys.go                                      the table of keys
//	check*.go problem.go                         what rules say against one another; findings
//	availability.go print.go                     the short form, and rules written out
//	formula*.go attributes.go env.go             conditions over one row
//	until.go maintenance.go guardlimits.go expect.go rename.go   what else decides
//	watch.go schedule.go substitute.go           which queues, when, names in texts
//	machine.go state.go verdict.go               one item's machine and its stored form
//	live.go tick.go                              all items of a queue manager: selection, reload, a tick
//	run*.go status.go                            the runner and what it tells
//	ruletest*.go                                 users' tests of their rules
//
// Two rules hold everywhere. Unknown moves nothing. What a tick decides holds
// only once it is recorded, and is handed out only after that.
package situations
