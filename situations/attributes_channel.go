package situations

const (
	fromChannel  = "DISPLAY CHANNEL"
	fromChStatus = "DISPLAY CHSTATUS"
	fromClusQMgr = "DISPLAY CLUSQMGR"
	fromQMgr     = "DISPLAY QMGR"
	fromQMStatus = "DISPLAY QMSTATUS"
)

func channelNumber(name, unit, command, doc string, get func(*ChannelAttributes) int) Attribute {
	return Attribute{Name: name, Type: typeNumber, Unit: unit, Command: command, Doc: doc,
		number: func(e *evaluation) int { return get(e.channel) }}
}

func channelText(name, command, doc string, get func(*ChannelAttributes) string, values ...string) Attribute {
	return Attribute{Name: name, Type: typeText, Command: command, Doc: doc, Values: values,
		text: func(e *evaluation) string { return get(e.channel) }}
}

// channelTable has what is known of a channel: its definition, or what the
// cluster says of one that was made by itself, and its current status.
var channelTable = newTable(GroupChannel, []Attribute{
	channelText("CHANNEL", fromChannel, "name of the channel", func(a *ChannelAttributes) string { return a.CHANNEL }),
	channelText("QMGR", fromChannel, "name of the queue manager", func(a *ChannelAttributes) string { return a.QMGR }),
	channelText("CLUSTER", fromChannel, "name of its cluster, empty if it is in none", func(a *ChannelAttributes) string { return a.CLUSTER }),
	channelText("CHLTYPE", fromChannel, "kind of channel", func(a *ChannelAttributes) string { return a.CHLTYPE },
		"SDR", "SVR", "RCVR", "RQSTR", "SVRCONN", "CLNTCONN", "CLUSSDR", "CLUSRCVR", "AMQP"),
	channelText("DEFTYPE", fromClusQMgr, "how a cluster channel came to be: defined, made by itself (CLUSSDRA), or both (CLUSSDRB)",
		func(a *ChannelAttributes) string { return a.DEFTYPE }, "CLUSSDR", "CLUSSDRA", "CLUSSDRB", "CLUSRCVR"),
	channelText("DESCR", fromChannel, "its description", func(a *ChannelAttributes) string { return a.DESCR }),
	channelText("CONNAME", fromChannel, "where it connects to, as defined", func(a *ChannelAttributes) string { return a.CONNAME }),
	channelText("XMITQ", fromChannel, "its transmission queue", func(a *ChannelAttributes) string { return a.XMITQ }),
	channelText("RQMNAME", fromChStatus, "queue manager at the other end", func(a *ChannelAttributes) string { return a.RQMNAME }),
	channelText("QMTYPE", fromClusQMgr, "whether the other end is a full repository (REPOS)", func(a *ChannelAttributes) string { return a.QMTYPE }, "REPOS", "NORMAL"),
	channelText("SUSPEND", fromClusQMgr, "whether the queue manager it leads to is suspended from the cluster", func(a *ChannelAttributes) string { return a.SUSPEND }, "YES", "NO"),

	channelText("STATUS", fromChStatus, "what it is doing; INACTIVE if it has no status; unknown where its instances differ", func(a *ChannelAttributes) string { return a.STATUS },
		"INACTIVE", "BINDING", "STARTING", "RUNNING", "STOPPING", "RETRYING", "STOPPED", "REQUESTING", "PAUSED", "DISCONNECTED", "INITIALIZING", "SWITCHING"),
	channelText("SUBSTATE", fromChStatus, "what it is waiting for, empty if it is not active", func(a *ChannelAttributes) string { return a.SUBSTATE }),
	channelText("INDOUBT", fromChStatus, "whether a batch was sent and not confirmed", func(a *ChannelAttributes) string { return a.INDOUBT }, "YES", "NO"),
	channelNumber("INSTANCES", "instances", fromChStatus, "instances with a status: one for a sender, one a partner for a receiver", func(a *ChannelAttributes) int { return a.INSTANCES }),
	channelNumber("MSGS", "messages", fromChStatus, "messages sent or received since it started, of all instances", func(a *ChannelAttributes) int { return a.MSGS }),
	channelNumber("CURMSGS", "messages", fromChStatus, "messages of the batch that is under way or in doubt", func(a *ChannelAttributes) int { return a.CURMSGS }),
	channelNumber("BATCHES", "batches", fromChStatus, "batches completed since it started, of all instances", func(a *ChannelAttributes) int { return a.BATCHES }),
	channelNumber("BYTSSENT", "bytes", fromChStatus, "bytes sent since it started", func(a *ChannelAttributes) int { return a.BYTSSENT }),
	channelNumber("BYTSRCVD", "bytes", fromChStatus, "bytes received since it started", func(a *ChannelAttributes) int { return a.BYTSRCVD }),
	channelNumber("LSTMSGAGE", "seconds", fromChStatus, "time since its last message (LSTMSGDA, LSTMSGTI); no value before the first", func(a *ChannelAttributes) int { return a.LSTMSGAGE }),
	channelNumber("CHSTAAGE", "seconds", fromChStatus, "time since it started (CHSTADA, CHSTATI); no value while it is not active", func(a *ChannelAttributes) int { return a.CHSTAAGE }),
	channelNumber("SHORTRTS", "attempts", fromChStatus, "short retries left; no value for a receiver or without a status", func(a *ChannelAttributes) int { return a.SHORTRTS }),
	channelNumber("LONGRTS", "attempts", fromChStatus, "long retries left; no value for a receiver or without a status", func(a *ChannelAttributes) int { return a.LONGRTS }),
	channelNumber("RETRIES", "attempts", fromChStatus, "retries used since it was last bound (SHORTRTY and LONGRTY less what is left)", func(a *ChannelAttributes) int { return a.RETRIES }),
	channelNumber("XQMSGSA", "messages", fromChStatus, "messages that wait for it on its transmission queue, also while it has no status", func(a *ChannelAttributes) int { return a.XQMSGSA }),
	monitored(channelNumber("XQTIME", "microseconds", fromChStatus, "how long messages stayed on the transmission queue of late", func(a *ChannelAttributes) int { return a.XQTIME })),
	monitored(channelNumber("NETTIME", "microseconds", fromChStatus, "round trip to the other end of late", func(a *ChannelAttributes) int { return a.NETTIME })),

	channelNumber("CLWLRANK", "", fromChannel, "rank of the channel, 0 to 9", func(a *ChannelAttributes) int { return a.CLWLRANK }),
	channelNumber("CLWLPRTY", "", fromChannel, "priority of the channel, 0 to 9", func(a *ChannelAttributes) int { return a.CLWLPRTY }),
	channelNumber("CLWLWGHT", "", fromChannel, "weight of the channel, 1 to 99", func(a *ChannelAttributes) int { return a.CLWLWGHT }),
	channelNumber("BATCHSZ", "messages", fromChannel, "most messages of a batch", func(a *ChannelAttributes) int { return a.BATCHSZ }),
	channelNumber("SHORTRTY", "attempts", fromChannel, "short retries before the long ones", func(a *ChannelAttributes) int { return a.SHORTRTY }),
	channelNumber("LONGRTY", "attempts", fromChannel, "long retries before it stops", func(a *ChannelAttributes) int { return a.LONGRTY }),
	channelNumber("DISCINT", "seconds", fromChannel, "idle time before it ends by itself", func(a *ChannelAttributes) int { return a.DISCINT }),
	channelText("MONCHL", fromChannel, "monitoring of the channel", func(a *ChannelAttributes) string { return a.MONCHL }, "QMGR", "OFF", "LOW", "MEDIUM", "HIGH"),
})
