// Package config reads situationd.yaml, the daemon's own file: which queue
// manager it stands beside and how it meets it, the rule files, the places of
// its state, and the few limits. Reading is strict: an unknown key, a value
// that cannot be, or a file that is not there is a problem with its position
// and the fix.
//
// The package reads files and nothing else; it starts no goroutines.
package config
