//go:build race

package main

// scriptPace stretches the times of scripts that measure how fast something is:
// under the race detector every command of a script takes a few times as long.
const scriptPace = 4
