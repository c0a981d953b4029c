//go:build !race

package main

// scriptPace stretches the times of scripts that measure how fast something is.
const scriptPace = 1
