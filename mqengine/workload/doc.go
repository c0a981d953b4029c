// Package workload is MQ's cluster workload management algorithm as pure
// functions: candidates in, choice and trace out. It models the order of
// MQ 8.0 and later and, on request, that of 6.0 to 7.5; it leaves out cluster
// workload exits and topics. No goroutines, no state: sequence factors and
// numbers belong to the caller.
package workload
