// Package examples holds the rule files and daemon files that documents name,
// for the program itself: the demo runs the rules that people copy.
package examples
