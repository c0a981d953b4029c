// Package mqsc is the command language: reader, lexer, parser, canonical
// printer, WHERE filters and the layout of replies as runmqsc prints them. It
// knows nothing of a running queue manager: a Command goes in at one side of
// it, a Result comes out at the other. No goroutines, no state.
package mqsc
