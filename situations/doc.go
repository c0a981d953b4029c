// Package situations turns rule files into situations, samples into verdicts,
// verdicts into confirmed edges and edges into intents. The words are those of
// IBM Tivoli Monitoring's situation editor, the names in formulas are MQSC's.
//
// Everything but the runner (run*.go) is pure: no clock, no goroutines, no I/O.
// The package knows no queue manager: it asks a Source for observations and
// hands intents to a Sink.
package situations
