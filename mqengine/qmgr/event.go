package qmgr

import (
	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/store"
)

// ConnID numbers a local application's connection for the life of the process.
type ConnID uint64

// LinkID numbers a network link of a message channel for the life of the process.
type LinkID = channel.LinkID

// BodyRef is a message body as the machine sees it: the shell has the bytes.
type BodyRef = channel.BodyRef

// Event is something that happened to the queue manager.
type Event interface{ event() }

type (
	// Connect is an MQCONN: a connection may only send requests after it.
	Connect struct {
		Conn ConnID
		Appl Appl
	}
	// Disconnect is an MQDISC (commits) or, if Abrupt, the death of the application (backs out).
	Disconnect struct {
		Conn   ConnID
		Abrupt bool
	}
	// Call is one request of an application. Tag comes back in the Reply.
	Call struct {
		Conn    ConnID
		Tag     uint64
		Request Request
	}
	// LinkAccepted is an inbound network connection; the machine answers its first frame.
	LinkAccepted struct {
		Link     LinkID
		Remote   string
		Local    string
		Security *channel.Security // nil: no TLS
	}
	// LinkUp answers a Dial that worked.
	LinkUp struct {
		Link     LinkID
		Local    string
		Security *channel.Security
	}
	// LinkFrame is a decoded frame; bodies in it are already numbered by the shell.
	LinkFrame struct {
		Link  LinkID
		Frame *channel.Frame
	}
	// LinkDown answers a failed Dial, or tells that a link ended. No more events of that link follow.
	LinkDown struct {
		Link   LinkID
		Reason string
		ID     string // the AMQ message that MQ has for it; blank for none of its own
	}
	// ListenerUp answers a Listen that worked: Addr is what was bound.
	ListenerUp struct{ Name, Addr string }
	// ListenerDown answers a Listen that failed, or tells that a listener ended by itself.
	ListenerDown struct{ Name, Reason string }
	// KeysRead answers a KeyChange: the key repository was read, or why not.
	KeysRead struct {
		Refresh uint64
		Reason  string // blank: it was
	}
	// EndChannels is the first step of an orderly end: channels finish what is under
	// way, and no new ones begin. Effects.ChannelsEnded tells when it is done.
	EndChannels struct{}
	// Space tells whether the disk reserve is reached (puts then get 2056), and how
	// many bytes may be written before it is; 0 if that is not known.
	Space struct {
		Low  bool
		Room int64
	}
	// Quiesce begins a controlled end (endmqm -c): Effects.Ended follows when nobody has work under way.
	Quiesce struct{}
	// Tick lets deadlines pass; the shell sends it when NextDeadline has come.
	Tick struct{}
)

func (Connect) event()      {}
func (Disconnect) event()   {}
func (Call) event()         {}
func (LinkAccepted) event() {}
func (LinkUp) event()       {}
func (LinkFrame) event()    {}
func (LinkDown) event()     {}
func (ListenerUp) event()   {}
func (ListenerDown) event() {}
func (KeysRead) event()     {}
func (EndChannels) event()  {}
func (Space) event()        {}
func (Quiesce) event()      {}
func (Tick) event()         {}

// Appl is who is connected, as DISPLAY CONN and QSTATUS TYPE(HANDLE) show it.
type Appl struct {
	Tag    string // APPLTAG: what the application sent, else its program's name
	PID    int
	UserID string
	Owner  string // SITUATIOND_OWNER of the program; blank for everybody else's
	Conn   string // CONNAME; blank for local bindings
}

// Effects is what one or several Steps want done. A shell reuses one value: Reset keeps the memory.
type Effects struct {
	Unit    store.Unit
	Replies []Reply
	Frames  []FrameOut
	Dials   []Dial
	Keys    []KeyChange // before Dials
	Closes  []LinkID
	// Listens asks for listeners, Unlistens ends some: before the answers of the turn are given.
	Listens   []Listen
	Unlistens []string
	Copies    []BodyCopy     // new bodies, made before everything else of the turn
	Drop      []store.BodyID // bodies that nothing refers to any more
	Touched   []uint32       // numbers of queues whose Status changed (may repeat)
	// ClusterChanged: what InstancesOf answers changed for some queue.
	ClusterChanged bool
	Log            []LogEntry
	// Stopped are connections that the shell breaks after their answers: STOP CONN.
	Stopped []ConnID
	// Ended: a controlled end has come to its end; the shell begins to end after releasing this turn.
	Ended bool
	// ChannelsEnded: after EndChannels, no channel has a link any more.
	ChannelsEnded bool
}

// Reset empties the effects.
func (fx *Effects) Reset() {
	fx.Unit.Reset()
	clear(fx.Replies)
	clear(fx.Frames)
	fx.Replies, fx.Frames = fx.Replies[:0], fx.Frames[:0]
	fx.Copies = fx.Copies[:0]
	fx.Dials, fx.Closes, fx.Keys = fx.Dials[:0], fx.Closes[:0], fx.Keys[:0]
	fx.Listens, fx.Unlistens = fx.Listens[:0], fx.Unlistens[:0]
	fx.Drop, fx.Touched = fx.Drop[:0], fx.Touched[:0]
	fx.Log, fx.Stopped = fx.Log[:0], fx.Stopped[:0]
	fx.ClusterChanged, fx.Ended = false, false
	fx.Log = fx.Log[:0]
	fx.ClusterChanged, fx.Ended, fx.ChannelsEnded = false, false, false
}

// FrameOut is a frame for a link. Body references in it are resolved by the shell before the unit is applied.
type FrameOut struct {
	Link  LinkID
	Frame *channel.Frame
}

// Dial asks for a network connection; LinkUp or LinkDown answers with the same Link.
type Dial struct {
	Link LinkID
	Addr string // host:port, from CONNAME host(port)
	// CipherSpec is SSLCIPH of the channel; blank for no TLS.
	CipherSpec string
}

// KeyChange asks for the key repository to be read from a folder; KeysRead answers.
type KeyChange struct {
	Folder  string // SSLKEYR; blank for none
	Refresh uint64 // comes back in KeysRead
}

// Listen asks for a listener; ListenerUp or ListenerDown answers with the same Name.
type Listen struct {
	Name string
	Addr string // host:port; a blank host is every address, port 0 any free one
}

// LogEntry is a line for the error log: an AMQ message with its text.
type LogEntry struct {
	ID   string // AMQ9002I
	Text string
}
