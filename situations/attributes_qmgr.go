package situations

func qmgrNumber(name, unit, command, doc string, get func(*QMgrAttributes) int) Attribute {
	return Attribute{Name: name, Type: typeNumber, Unit: unit, Command: command, Doc: doc,
		number: func(e *evaluation) int { return get(e.qmgr) }}
}

func qmgrText(name, command, doc string, get func(*QMgrAttributes) string, values ...string) Attribute {
	return Attribute{Name: name, Type: typeText, Command: command, Doc: doc, Values: values,
		text: func(e *evaluation) string { return get(e.qmgr) }}
}

// qmgrTable has what is known of the queue manager itself.
var qmgrTable = newTable(GroupQMgr, []Attribute{
	qmgrText("QMGR", fromQMgr, "name of the queue manager", func(a *QMgrAttributes) string { return a.QMGR }),
	qmgrText("QMID", fromQMgr, "its identifier in clusters", func(a *QMgrAttributes) string { return a.QMID }),
	qmgrText("CLUSTER", fromClusQMgr, "name of its cluster, empty if it is in none; the first of several", func(a *QMgrAttributes) string { return a.CLUSTER }),
	qmgrText("DESCR", fromQMgr, "its description", func(a *QMgrAttributes) string { return a.DESCR }),

	qmgrText("STATUS", fromQMStatus, "what it is doing", func(a *QMgrAttributes) string { return a.STATUS }, "STARTING", "RUNNING", "QUIESCING", "STANDBY"),
	qmgrText("CHINIT", fromQMStatus, "channel initiator", func(a *QMgrAttributes) string { return a.CHINIT }, "STOPPED", "STARTING", "RUNNING", "STOPPING"),
	qmgrText("CMDSERV", fromQMStatus, "command server", func(a *QMgrAttributes) string { return a.CMDSERV }, "STOPPED", "STARTING", "RUNNING", "STOPPING"),
	qmgrNumber("CONNS", "connections", fromQMStatus, "connections, the daemon's own among them", func(a *QMgrAttributes) int { return a.CONNS }),
	qmgrNumber("UPTIME", "seconds", fromQMStatus, "time since it started (STARTDA, STARTTI)", func(a *QMgrAttributes) int { return a.UPTIME }),

	qmgrText("SUSPEND", fromClusQMgr, "whether it is suspended from a cluster; YES if from one of several", func(a *QMgrAttributes) string { return a.SUSPEND }, "YES", "NO"),
	qmgrText("QMTYPE", fromClusQMgr, "whether it is a full repository (REPOS)", func(a *QMgrAttributes) string { return a.QMTYPE }, "REPOS", "NORMAL"),
	qmgrText("REPOS", fromQMgr, "cluster that it keeps a full repository for, empty for none", func(a *QMgrAttributes) string { return a.REPOS }),
	qmgrText("REPOSITORY", fromClusQMgr, "whether a full repository can be reached, or it is one", func(a *QMgrAttributes) string { return a.REPOSITORY }, "REACHABLE", "STALE"),

	qmgrNumber("CHANNELS", "channels", fromChStatus, "channel instances that are running", func(a *QMgrAttributes) int { return a.CHANNELS }),
	qmgrNumber("RETRYING", "channels", fromChStatus, "channels that are RETRYING", func(a *QMgrAttributes) int { return a.RETRYING }),
	qmgrNumber("STOPPED", "channels", fromChStatus, "channels that are STOPPED", func(a *QMgrAttributes) int { return a.STOPPED }),
	qmgrNumber("INDOUBT", "channels", fromChStatus, "channels with a batch in doubt", func(a *QMgrAttributes) int { return a.INDOUBT }),

	qmgrText("DEADQ", fromQMgr, "its dead-letter queue, empty for none", func(a *QMgrAttributes) string { return a.DEADQ }),
	qmgrNumber("DEADQDEPTH", "messages", fromStatus, "messages on the dead-letter queue, 0 without one", func(a *QMgrAttributes) int { return a.DEADQDEPTH }),
	qmgrText("DEFXMITQ", fromQMgr, "its default transmission queue, empty for none", func(a *QMgrAttributes) string { return a.DEFXMITQ }),
	qmgrText("CLWLUSEQ", fromQMgr, "whether a put at it may go to another instance", func(a *QMgrAttributes) string { return a.CLWLUSEQ }, "LOCAL", "ANY"),
	qmgrNumber("CLWLMRUC", "channels", fromQMgr, "most recently used outbound cluster channels that are chosen from", func(a *QMgrAttributes) int { return a.CLWLMRUC }),
	qmgrNumber("MAXMSGL", "bytes", fromQMgr, "longest message it takes", func(a *QMgrAttributes) int { return a.MAXMSGL }),
	qmgrText("MONQ", fromQMgr, "monitoring of its queues", func(a *QMgrAttributes) string { return a.MONQ }, "NONE", "OFF", "LOW", "MEDIUM", "HIGH"),
	qmgrText("MONCHL", fromQMgr, "monitoring of its channels", func(a *QMgrAttributes) string { return a.MONCHL }, "NONE", "OFF", "LOW", "MEDIUM", "HIGH"),
	qmgrText("PERFMEV", fromQMgr, "whether it tells of queue depths by events", func(a *QMgrAttributes) string { return a.PERFMEV }, "ENABLED", "DISABLED"),
})
