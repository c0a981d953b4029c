package object

// Sets of kinds that many rows share.
var (
	allQueues    = Of(QLocal, QAlias, QRemote, QModel)
	storedQueues = Of(QLocal, QModel)
	namedQueues  = Of(QLocal, QAlias, QRemote) // those that a cluster may know
	openQueues   = Of(QLocal, QAlias, QModel)  // those an application may get from
	allKinds     = allQueues | allChannels | Of(Namelist, Process, Listener, QMgr)
)

const (
	maxCount  = 999999999
	maxMsgLen = 104857600
)

// DefaultFileSize is MAXFSIZE(DEFAULT) in megabytes.
const DefaultFileSize = 2088960

// What is not here, as phrases that end a sentence to the person who asks for it.
const (
	noTopics  = "there is no publish/subscribe"
	noRecords = "no accounting or statistics messages are written"
	noEvent   = "no such event messages are written"
	noImages  = "the store keeps no media images"
	noExits   = "there are no exits"
	noSNA     = "the transport is TCP"
	noReport  = "no activity reports are written"
)

var noYes = []string{"NO", "YES"}
var disEnabled = []string{"DISABLED", "ENABLED"}

// queueAttrs are the attributes of queue definitions and those that every object has.
var queueAttrs = []Attr{
	{Keyword: "QUEUE", Kinds: allQueues, Type: Name, MaxLen: MaxName, Key: true, Cluster: true, Doc: "The queue's name."},
	{Keyword: "TYPE", Kinds: allQueues, Type: Enum, Values: []string{"QLOCAL", "QALIAS", "QREMOTE", "QMODEL"}, Key: true,
		Doc: "The type of the queue."},

	{Keyword: "DESCR", Kinds: allKinds, Type: String, MaxLen: 64, Cluster: true, Doc: "A comment for people."},
	{Keyword: "ALTDATE", Kinds: allKinds, Type: String, MaxLen: 12, ReadOnly: true, Cluster: true, Doc: "Date of the last change, yyyy-mm-dd, in the host's zone."},
	{Keyword: "ALTTIME", Kinds: allKinds, Type: String, MaxLen: 8, ReadOnly: true, Cluster: true, Doc: "Time of the last change, hh.mm.ss, in the host's zone."},
	{Keyword: "CRDATE", Kinds: storedQueues | Of(QMgr), Type: String, MaxLen: 12, ReadOnly: true, Doc: "Date of the creation."},
	{Keyword: "CRTIME", Kinds: storedQueues | Of(QMgr), Type: String, MaxLen: 8, ReadOnly: true, Doc: "Time of the creation."},
	{Keyword: "CUSTOM", Kinds: allQueues | Of(QMgr), Type: String, MaxLen: 128, Idle: "nothing reads the settings in it", Doc: "Reserved for settings of later releases; kept and shown."},

	{Keyword: "PUT", Kinds: allQueues, Type: Enum, Values: disEnabled, Default: "ENABLED", Cluster: true,
		Doc: "Whether messages may be put. The cluster learns it, so putters elsewhere avoid a disabled instance."},
	{Keyword: "GET", Kinds: openQueues, Type: Enum, Values: disEnabled, Default: "ENABLED", Doc: "Whether applications may get messages."},
	{Keyword: "DEFPRTY", Kinds: allQueues, Type: Int, Max: 9, Default: "0", Cluster: true, Doc: "Priority of messages put with MQPRI_PRIORITY_AS_Q_DEF."},
	{Keyword: "DEFPSIST", Kinds: allQueues, Type: Enum, Values: noYes, Default: "NO", Cluster: true, Doc: "Persistence of messages put with MQPER_PERSISTENCE_AS_Q_DEF."},
	{Keyword: "DEFPRESP", Kinds: allQueues, Type: Enum, Values: []string{"SYNC", "ASYNC"}, Default: "SYNC", Cluster: true, Doc: "Kind of answer a put waits for by default."},
	{Keyword: "DEFREADA", Kinds: openQueues, Type: Enum, Values: []string{"NO", "YES", "DISABLED"}, Default: "NO", Doc: "Read ahead of nonpersistent messages for clients."},
	{Keyword: "PROPCTL", Kinds: openQueues, Type: Enum, Values: []string{"ALL", "COMPAT", "FORCE", "NONE", "V6COMPAT"}, Default: "COMPAT",
		Doc: "How message properties reach an application that asks for none of the forms."},
	{Keyword: "CAPEXPRY", Kinds: allQueues, Type: Int, Min: 1, Max: maxCount, Words: []Word{{"NOLIMIT", -1}}, Default: "NOLIMIT",
		Doc: "Longest expiry of messages put through the object, tenths of a second; the lowest on the way counts."},
	{Keyword: "SCOPE", Kinds: namedQueues, Type: Enum, Values: []string{"QMGR", "CELL"}, Default: "QMGR", Absent: "there is no name service of a cell", Doc: "Scope of the name."},

	{Keyword: "TARGET", Synonyms: []string{"TARGQ"}, Kinds: Of(QAlias), Type: Name, MaxLen: MaxName, Force: true, Doc: "The queue that the alias stands for."},
	{Keyword: "TARGTYPE", Kinds: Of(QAlias), Type: Enum, Values: []string{"QUEUE", "TOPIC"}, Default: "QUEUE", Absent: noTopics, Doc: "What the alias stands for."},
	{Keyword: "RNAME", Kinds: Of(QRemote), Type: Name, MaxLen: MaxName, Force: true, Doc: "The queue's name at RQMNAME; blank makes it a queue-manager alias."},
	{Keyword: "RQMNAME", Kinds: Of(QRemote), Type: Name, MaxLen: MaxName, Force: true, Doc: "The queue manager that owns RNAME."},
	{Keyword: "XMITQ", Kinds: Of(QRemote), Type: Name, MaxLen: MaxName, Force: true, Doc: "The transmission queue to use; blank finds one by RQMNAME."},

	{Keyword: "ACCTQ", Kinds: storedQueues, Type: Enum, Values: []string{"QMGR", "ON", "OFF"}, Default: "QMGR", Idle: noRecords, Doc: "Collection of accounting data."},
	{Keyword: "BOQNAME", Kinds: storedQueues, Type: Name, MaxLen: MaxName, Doc: "Where applications put messages that were backed out too often."},
	{Keyword: "BOTHRESH", Kinds: storedQueues, Type: Int, Max: maxCount, Default: "0", Doc: "Backouts after which a message counts as poison; 0 for never."},
	{Keyword: "CLCHNAME", Kinds: Of(QLocal), Type: String, MaxLen: MaxChannelName, Doc: "Cluster-sender channels that use this queue as their transmission queue."},
	{Keyword: "DEFSOPT", Kinds: storedQueues, Type: Enum, Values: []string{"SHARED", "EXCL"}, Default: "SHARED",
		Defaults: []Default{{Of(QModel), "EXCL"}}, Doc: "How MQOO_INPUT_AS_Q_DEF opens."},
	{Keyword: "DEFTYPE", Kinds: Of(QLocal), Type: Enum, Values: []string{"PREDEFINED", "PERMDYN", "TEMPDYN"}, Default: "PREDEFINED", ReadOnly: true, Doc: "How the queue came to be."},
	{Keyword: "DEFTYPE", Kinds: Of(QModel), Type: Enum, Values: []string{"PERMDYN", "TEMPDYN"}, Default: "TEMPDYN", Doc: "What an open of the model makes."},
	{Keyword: "DISTL", Kinds: storedQueues, Type: Enum, Values: noYes, Default: "NO", Doc: "Whether the partner takes distribution lists."},
	{Keyword: "HARDENBO", Kinds: storedQueues, Type: Flag, Default: "HARDENBO", Doc: "Whether backout counts survive a restart."},
	{Keyword: "IMGRCOVQ", Kinds: storedQueues, Type: Enum, Values: []string{"QMGR", "YES", "NO"}, Default: "QMGR", Idle: noImages, Doc: "Whether the queue can be recovered from a media image."},
	{Keyword: "INITQ", Kinds: storedQueues, Type: Name, MaxLen: MaxName, Doc: "Where trigger messages go."},
	{Keyword: "MAXDEPTH", Kinds: storedQueues, Type: Int, Max: maxCount, Default: "5000", Doc: "Most messages the queue holds."},
	{Keyword: "MAXFSIZE", Kinds: storedQueues, Type: Int, Min: 20, Max: 267386880, Words: []Word{{"DEFAULT", DefaultFileSize}}, Default: "DEFAULT",
		Doc: "Most megabytes of messages the queue holds; DEFAULT is 2088960. Puts that do not fit get 2056."},
	{Keyword: "MAXMSGL", Kinds: storedQueues, Type: Int, Max: maxMsgLen, Default: "4194304", Doc: "Longest message in bytes."},
	{Keyword: "MONQ", Kinds: storedQueues, Type: Enum, Values: []string{"QMGR", "OFF", "LOW", "MEDIUM", "HIGH"}, Default: "QMGR", Doc: "Online monitoring data (LGETTIME, MSGAGE ...)."},
	{Keyword: "MSGDLVSQ", Kinds: storedQueues, Type: Enum, Values: []string{"PRIORITY", "FIFO"}, Default: "PRIORITY", Doc: "Order of delivery."},
	{Keyword: "NPMCLASS", Kinds: storedQueues, Type: Enum, Values: []string{"NORMAL", "HIGH"}, Default: "NORMAL", Idle: "nonpersistent messages end with the queue manager", Doc: "Whether nonpersistent messages survive an orderly restart."},
	{Keyword: "PROCESS", Kinds: storedQueues, Type: Name, MaxLen: MaxName, Doc: "The process that a trigger message names."},
	{Keyword: "QDEPTHHI", Kinds: storedQueues, Type: Int, Max: 100, Default: "80", Doc: "Percentage of MAXDEPTH that counts as high."},
	{Keyword: "QDEPTHLO", Kinds: storedQueues, Type: Int, Max: 100, Default: "20", Doc: "Percentage of MAXDEPTH that counts as low."},
	{Keyword: "QDPHIEV", Kinds: storedQueues, Type: Enum, Values: disEnabled, Default: "DISABLED", Doc: "Queue-depth-high events."},
	{Keyword: "QDPLOEV", Kinds: storedQueues, Type: Enum, Values: disEnabled, Default: "DISABLED", Doc: "Queue-depth-low events."},
	{Keyword: "QDPMAXEV", Kinds: storedQueues, Type: Enum, Values: disEnabled, Default: "ENABLED", Doc: "Queue-full events."},
	{Keyword: "QSVCIEV", Kinds: storedQueues, Type: Enum, Values: []string{"NONE", "HIGH", "OK"}, Default: "NONE", Idle: noEvent, Doc: "Service-interval events."},
	{Keyword: "QSVCINT", Kinds: storedQueues, Type: Int, Max: maxCount, Default: "999999999", Doc: "Service interval in milliseconds."},
	{Keyword: "RETINTVL", Kinds: storedQueues, Type: Int, Max: maxCount, Default: "999999999", Doc: "Hours after which the queue is not needed any more; information for people."},
	{Keyword: "SHARE", Kinds: storedQueues, Type: Flag, Default: "SHARE", Defaults: []Default{{Of(QModel), "NOSHARE"}}, Doc: "Whether several applications may get at once."},
	{Keyword: "STATQ", Kinds: storedQueues, Type: Enum, Values: []string{"QMGR", "ON", "OFF"}, Default: "QMGR", Idle: noRecords, Doc: "Collection of statistics."},
	{Keyword: "STREAMQ", Kinds: storedQueues, Type: Name, MaxLen: MaxName, Absent: "messages are not streamed to a second queue", Doc: "Queue that gets a copy of every message."},
	{Keyword: "STRMQOS", Kinds: storedQueues, Type: Enum, Values: []string{"BESTEF", "MUSTDUP"}, Default: "BESTEF", Doc: "What becomes of a message whose copy cannot be put; means something with STREAMQ only."},
	{Keyword: "TRIGDATA", Kinds: storedQueues, Type: String, MaxLen: 64, Doc: "Text for the trigger message."},
	{Keyword: "TRIGDPTH", Kinds: storedQueues, Type: Int, Min: 1, Max: maxCount, Default: "1", Doc: "Depth that triggers with TRIGTYPE(DEPTH)."},
	{Keyword: "TRIGGER", Kinds: storedQueues, Type: Flag, Default: "NOTRIGGER", Doc: "Whether trigger messages are written."},
	{Keyword: "TRIGMPRI", Kinds: storedQueues, Type: Int, Max: 9, Default: "0", Doc: "Lowest priority that counts for triggering."},
	{Keyword: "TRIGTYPE", Kinds: storedQueues, Type: Enum, Values: []string{"FIRST", "EVERY", "DEPTH", "NONE"}, Default: "FIRST", Doc: "When a trigger message is written."},
	{Keyword: "USAGE", Kinds: storedQueues, Type: Enum, Values: []string{"NORMAL", "XMITQ"}, Default: "NORMAL", Force: true, Doc: "Whether the queue is a transmission queue."},

	{Keyword: "CURDEPTH", Kinds: Of(QLocal), Type: Int, Max: maxCount, Live: true, Doc: "Messages in the queue, uncommitted puts included."},
	{Keyword: "IPPROCS", Kinds: Of(QLocal), Type: Int, Max: maxCount, Live: true, Doc: "Handles open for input, shared or exclusive, on this queue manager."},
	{Keyword: "OPPROCS", Kinds: Of(QLocal), Type: Int, Max: maxCount, Live: true, Doc: "Handles open for output."},
}
