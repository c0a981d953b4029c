package qmgr

// conn is one local application's connection.
type conn struct {
	id   ConnID
	appl Appl
	unit unitOfWork
}
