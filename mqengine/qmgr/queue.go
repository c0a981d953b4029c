package qmgr

import (
	"github.com/situationd/situationd/mqengine/object"
)

// queue is a queue object of this queue manager. Only QLOCAL has messages.
type queue struct {
	name   string
	number uint32         // stable for the life of the queue
	def    *object.Object // immutable: ALTER makes a new one
	attr   *queueAttr     // def, ready for use

	depth       int // messages on the queue as CURDEPTH counts them
	uncommitted int // puts and gets not committed
}

// queueAttr is a queue's definition in the form in which the hot path wants it.
type queueAttr struct {
	public      *QueueAttributes
	put, get    bool
	xmit        bool // USAGE(XMITQ)
	defBind     bindType
	defPersist  bool
	defPriority int32
}
