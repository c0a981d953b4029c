package object

// Kind is the type of an object that a store keeps.
type Kind uint8

// The kinds. Channel types are kinds of their own since their attributes differ.
const (
	KindNone Kind = iota
	QLocal
	QAlias
	QRemote
	QModel
	Sender
	Receiver
	ClusSdr
	ClusRcvr
	SvrConn
	Namelist
	Process
	Listener
	QMgr
)

// IsQueue reports whether the kind is a queue.
func (k Kind) IsQueue() bool { return k >= QLocal && k <= QModel }

// IsChannel reports whether the kind is a channel.
func (k Kind) IsChannel() bool { return k >= Sender && k <= SvrConn }
