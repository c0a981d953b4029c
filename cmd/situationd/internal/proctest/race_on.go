//go:build race

package proctest

// raceEnabled: a test under the race detector runs a binary under it too.
const raceEnabled = true
