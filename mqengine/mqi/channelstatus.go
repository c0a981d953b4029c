package mqi

// ChannelStatus is an MQCHS_* value as DISPLAY CHSTATUS shows it.
type ChannelStatus int32

// Channel states. Unknown is our own word for "no record".
const (
	MQCHS_INACTIVE     ChannelStatus = 0
	MQCHS_BINDING      ChannelStatus = 1
	MQCHS_STARTING     ChannelStatus = 2
	MQCHS_RUNNING      ChannelStatus = 3
	MQCHS_STOPPING     ChannelStatus = 4
	MQCHS_RETRYING     ChannelStatus = 5
	MQCHS_STOPPED      ChannelStatus = 6
	MQCHS_REQUESTING   ChannelStatus = 7
	MQCHS_PAUSED       ChannelStatus = 8
	MQCHS_DISCONNECTED ChannelStatus = 9
	MQCHS_INITIALIZING ChannelStatus = 13
	MQCHS_SWITCHING    ChannelStatus = 14
)

// String is MQ's word.
func (s ChannelStatus) String() string {
	switch s {
	case MQCHS_INACTIVE:
		return "INACTIVE"
	case MQCHS_BINDING:
		return "BINDING"
	case MQCHS_STARTING:
		return "STARTING"
	case MQCHS_RUNNING:
		return "RUNNING"
	case MQCHS_STOPPING:
		return "STOPPING"
	case MQCHS_RETRYING:
		return "RETRYING"
	case MQCHS_STOPPED:
		return "STOPPED"
	case MQCHS_REQUESTING:
		return "REQUESTING"
	case MQCHS_PAUSED:
		return "PAUSED"
	case MQCHS_DISCONNECTED:
		return "DISCONNECTED"
	case MQCHS_INITIALIZING:
		return "INITIALIZING"
	case MQCHS_SWITCHING:
		return "SWITCHING"
	}
	return "UNKNOWN"
}
