// Package demo runs the main job from start to end on one machine: three
// embedded queue managers on loopback TCP in a temporary folder, two of them
// hosted by daemons, applications that put and read over the sockets that real
// ones use, and checks at the end. It is the code of the daemon; the demo only
// plays the people and the applications.
//
// Goroutines: Run owns one for each daemon and reader and for the timeline, and
// waits for all of them.
package demo
