// Command situationd watches the queues of a queue manager, evaluates the
// situations that operations people wrote, and acts once when one becomes true.
// The same binary hosts embedded clustered queue managers and is their command
// line: links to it named runmqsc, q, strmqm, crtmqm, endmqm, dspmq and dltmqm
// are those commands.
//
// main.go hands the process over to run; root.go finds the verb; one file per
// verb does the talking. Everything that lives longer than a verb is in
// internal/app, the only place where the rooms of the house are wired.
package main
