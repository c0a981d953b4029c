package mqi

// Open options (MQOO_*) of MQOPEN.
const (
	MQOO_BIND_AS_Q_DEF         int32 = 0
	MQOO_INPUT_AS_Q_DEF        int32 = 1
	MQOO_INPUT_SHARED          int32 = 2
	MQOO_INPUT_EXCLUSIVE       int32 = 4
	MQOO_BROWSE                int32 = 8
	MQOO_OUTPUT                int32 = 16
	MQOO_INQUIRE               int32 = 32
	MQOO_SET                   int32 = 64
	MQOO_SAVE_ALL_CONTEXT      int32 = 128
	MQOO_PASS_IDENTITY_CONTEXT int32 = 256
	MQOO_PASS_ALL_CONTEXT      int32 = 512
	MQOO_SET_IDENTITY_CONTEXT  int32 = 1024
	MQOO_SET_ALL_CONTEXT       int32 = 2048
	MQOO_FAIL_IF_QUIESCING     int32 = 8192
	MQOO_BIND_ON_OPEN          int32 = 16384
	MQOO_BIND_NOT_FIXED        int32 = 32768
	MQOO_BIND_ON_GROUP         int32 = 4194304
)

// MQOO_INPUT is every bit that makes a handle count in IPPROCS.
const MQOO_INPUT = MQOO_INPUT_AS_Q_DEF | MQOO_INPUT_SHARED | MQOO_INPUT_EXCLUSIVE

// Close options (MQCO_*) of dynamic queues.
const (
	MQCO_DELETE       int32 = 1
	MQCO_DELETE_PURGE int32 = 2
)

// Put options (MQPMO_*).
const (
	MQPMO_SYNCPOINT             int32 = 2
	MQPMO_NO_SYNCPOINT          int32 = 4
	MQPMO_DEFAULT_CONTEXT       int32 = 32
	MQPMO_NEW_MSG_ID            int32 = 64
	MQPMO_NEW_CORREL_ID         int32 = 128
	MQPMO_PASS_IDENTITY_CONTEXT int32 = 256
	MQPMO_PASS_ALL_CONTEXT      int32 = 512
	MQPMO_SET_IDENTITY_CONTEXT  int32 = 1024
	MQPMO_SET_ALL_CONTEXT       int32 = 2048
	MQPMO_FAIL_IF_QUIESCING     int32 = 8192
	MQPMO_NO_CONTEXT            int32 = 16384
	MQPMO_LOGICAL_ORDER         int32 = 32768
)

// Get options (MQGMO_*).
const (
	MQGMO_WAIT                    int32 = 1
	MQGMO_SYNCPOINT               int32 = 2
	MQGMO_NO_SYNCPOINT            int32 = 4
	MQGMO_BROWSE_FIRST            int32 = 16
	MQGMO_BROWSE_NEXT             int32 = 32
	MQGMO_ACCEPT_TRUNCATED_MSG    int32 = 64
	MQGMO_MSG_UNDER_CURSOR        int32 = 256
	MQGMO_LOCK                    int32 = 512
	MQGMO_UNLOCK                  int32 = 1024
	MQGMO_BROWSE_MSG_UNDER_CURSOR int32 = 2048
	MQGMO_SYNCPOINT_IF_PERSISTENT int32 = 4096
	MQGMO_FAIL_IF_QUIESCING       int32 = 8192
	MQGMO_LOGICAL_ORDER           int32 = 32768
	MQGMO_COMPLETE_MSG            int32 = 65536
	MQGMO_ALL_MSGS_AVAILABLE      int32 = 131072
	MQGMO_ALL_SEGMENTS_AVAILABLE  int32 = 262144
)

// Match options (MQMO_*) of MQGET; MQMO_NONE takes any message.
const (
	MQMO_NONE                 int32 = 0
	MQMO_MATCH_MSG_ID         int32 = 1
	MQMO_MATCH_CORREL_ID      int32 = 2
	MQMO_MATCH_GROUP_ID       int32 = 4
	MQMO_MATCH_MSG_SEQ_NUMBER int32 = 8
	MQMO_MATCH_OFFSET         int32 = 16
)

// MQWI_UNLIMITED is an endless MQGET wait.
const MQWI_UNLIMITED int32 = -1

// OD names the object of an MQOPEN or MQPUT1. A blank ObjectQMgrName lets the
// queue manager resolve the name; anything else addresses that queue manager.
type OD struct {
	ObjectType     int32 // MQOT_Q 1 (also 0), MQOT_Q_MGR 5
	ObjectName     string
	ObjectQMgrName string
	DynamicQName   string // for a model queue; default "AMQ.*"
	// SelectionString picks messages by their properties: of an open for input or browse.
	SelectionString string
}

// PMO is what of MQPMO travels: options and, for PASS context, the input handle.
type PMO struct {
	Options int32
	Context uint32 // handle opened with MQOO_SAVE_ALL_CONTEXT
}

// GMO is what of MQGMO travels.
type GMO struct {
	Options      int32
	WaitInterval int32 // milliseconds, MQWI_UNLIMITED; needs MQGMO_WAIT
	MatchOptions int32
	MaxLength    int32  // the application's buffer; -1 for any length
	Selection    string // MQSUB-style selection string of the open; empty for none
}
