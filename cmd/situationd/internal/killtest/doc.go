// Package killtest proves on the built binary that nothing persistent is lost
// or doubled: it kills queue managers with SIGKILL at random moments, cuts the
// links between them, and counts every message. A daemon
// it kills at each thing that the daemon does to the world, one by one. It holds
// tests only.
//
// The short forms run with every go test. The long ones, which `make kill` runs,
// take their number of kills from -kill.rounds.
package killtest
