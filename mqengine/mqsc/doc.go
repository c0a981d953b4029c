// Package mqsc is the command language: reader of command files, lexer, parser,
// canonical printer, WHERE filters, and the layout of replies as runmqsc prints
// them, in both directions. It knows nothing of a running queue manager: a
// Command goes in at one side of it, a Result comes out at the other.
//
// Grammar, synonyms and layout are those of distributed MQ. It is more lenient
// where nothing is lost by it: CLUSTER() is blank like CLUSTER(' '), characters
// such as - and : need no apostrophes, and another command may follow a
// semicolon on the same line. It is stricter in its errors: every one names the
// token and what would be right. The commands for topics, authority records,
// CHLAUTH and services are read and say in Absent why they cannot be carried
// out; those of z/OS are left out.
//
// No goroutines, no state.
package mqsc
