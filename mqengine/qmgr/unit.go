package qmgr

// unitOfWork is what one connection put and got under syncpoint and has not
// yet committed.
type unitOfWork struct {
	conn    *conn
	entries []*message // puts and gets in order; the state of each says which
}
