package object

var (
	allChannels  = Of(Sender, Receiver, ClusSdr, ClusRcvr, SvrConn)
	msgChannels  = Of(Sender, Receiver, ClusSdr, ClusRcvr)
	sendSettings = Of(Sender, ClusSdr, ClusRcvr) // a CLUSRCVR carries what its senders will use
	receivers    = Of(Receiver, ClusRcvr, SvrConn)
	msgReceivers = Of(Receiver, ClusRcvr)
)

// channelAttrs are the attributes of channel definitions. What a CLUSRCVR says
// of the sending side is advertised: cluster-senders are made from it.
var channelAttrs = []Attr{
	{Keyword: "CHANNEL", Kinds: allChannels, Type: Name, MaxLen: MaxChannelName, Key: true, Cluster: true, Doc: "The channel's name."},
	{Keyword: "CHLTYPE", Synonyms: []string{"TYPE"}, Kinds: allChannels, Type: Enum, Values: []string{"SDR", "RCVR", "CLUSSDR", "CLUSRCVR", "SVRCONN"}, Key: true, Doc: "The type of the channel."},

	{Keyword: "BATCHHB", Kinds: sendSettings, Type: Int, Max: 999999, Default: "0", Cluster: true, Doc: "Milliseconds of silence before the sender checks the partner ahead of a commit; 0 for never."},
	{Keyword: "BATCHINT", Kinds: sendSettings, Type: Int, Max: maxCount, Default: "0", Cluster: true, Doc: "Milliseconds a batch stays open for more messages."},
	{Keyword: "BATCHLIM", Kinds: sendSettings, Type: Int, Max: 999999, Default: "5000", Cluster: true, Doc: "Most kilobytes in one batch; 0 for no limit."},
	{Keyword: "BATCHSZ", Kinds: msgChannels, Type: Int, Min: 1, Max: 9999, Default: "50", Cluster: true, Doc: "Most messages in one batch."},
	{Keyword: "COMPHDR", Kinds: allChannels, Type: Enum, Values: []string{"NONE", "SYSTEM"}, Default: "NONE", Cluster: true, Idle: "the other end always agrees on NONE", Doc: "Compression of headers."},
	{Keyword: "COMPMSG", Kinds: allChannels, Type: Enum, Values: []string{"NONE", "RLE", "ZLIBFAST", "ZLIBHIGH", "LZ4FAST", "LZ4HIGH", "ANY"}, Default: "NONE", Cluster: true, Idle: "the other end always agrees on NONE", Doc: "Compression of messages."},
	{Keyword: "CONNAME", Kinds: sendSettings, Type: String, MaxLen: 264, Cluster: true, Doc: "Address of the partner, 'host(port)'; for a CLUSRCVR its own. Several, with commas, are tried in turn."},
	{Keyword: "CONVERT", Kinds: sendSettings, Type: Enum, Values: noYes, Default: "NO", Cluster: true, Absent: "messages are not converted", Doc: "Whether the sender converts messages."},
	{Keyword: "DISCINT", Kinds: sendSettings, Type: Int, Max: 999999, Default: "6000", Cluster: true, Doc: "Seconds without messages after which the channel ends; 0 for never."},
	{Keyword: "DISCINT", Kinds: Of(SvrConn), Type: Int, Max: 999999, Default: "0", Doc: "Seconds without calls after which a client is disconnected; 0 for never."},
	{Keyword: "HBINT", Kinds: allChannels, Type: Int, Max: 999999, Default: "300", Cluster: true, Doc: "Seconds between heartbeats; 0 for none."},
	{Keyword: "KAINT", Kinds: allChannels, Type: Int, Max: 99999, Words: []Word{{"AUTO", -1}}, Default: "AUTO", Cluster: true, Doc: "Keep-alive of the network, seconds."},
	{Keyword: "LONGRTY", Kinds: sendSettings, Type: Int, Max: maxCount, Default: "999999999", Cluster: true, Doc: "Attempts after the short ones."},
	{Keyword: "LONGTMR", Kinds: sendSettings, Type: Int, Max: maxCount, Default: "1200", Cluster: true, Doc: "Seconds between long attempts."},
	{Keyword: "MAXINST", Kinds: Of(SvrConn), Type: Int, Max: maxCount, Default: "999999999", Doc: "Most instances of the channel."},
	{Keyword: "MAXINSTC", Kinds: Of(SvrConn), Type: Int, Max: maxCount, Default: "999999999", Doc: "Most instances per client."},
	{Keyword: "MAXMSGL", Kinds: allChannels, Type: Int, Max: maxMsgLen, Default: "4194304", Cluster: true, Doc: "Longest message in bytes; 0 for the queue manager's."},
	{Keyword: "MCATYPE", Kinds: sendSettings, Type: Enum, Values: []string{"PROCESS", "THREAD"}, Default: "THREAD",
		Defaults: []Default{{Of(Sender), "PROCESS"}}, Cluster: true, Doc: "How the message channel agent runs; kept and shown."},
	{Keyword: "MCAUSER", Kinds: allChannels, Type: String, MaxLen: 64, Doc: "User that puts arriving messages."},
	{Keyword: "MONCHL", Kinds: allChannels, Type: Enum, Values: []string{"QMGR", "OFF", "LOW", "MEDIUM", "HIGH"}, Default: "QMGR", Cluster: true, Doc: "Online monitoring data."},
	{Keyword: "MRRTY", Kinds: msgReceivers, Type: Int, Max: maxCount, Default: "10", Cluster: true, Doc: "Attempts to put an arriving message before it is undeliverable."},
	{Keyword: "MRTMR", Kinds: msgReceivers, Type: Int, Max: maxCount, Default: "1000", Cluster: true, Doc: "Milliseconds between such attempts."},
	{Keyword: "NPMSPEED", Kinds: msgChannels, Type: Enum, Values: []string{"FAST", "NORMAL"}, Default: "FAST", Cluster: true,
		Doc: "Whether nonpersistent messages travel outside batches: faster, and lost if the channel breaks."},
	{Keyword: "PROPCTL", Kinds: sendSettings, Type: Enum, Values: []string{"ALL", "COMPAT", "NONE"}, Default: "COMPAT", Cluster: true, Doc: "How message properties travel to a partner that has none."},
	{Keyword: "PUTAUT", Kinds: receivers, Type: Enum, Values: []string{"DEF", "CTX"}, Default: "DEF", Cluster: true, Doc: "Whose authority puts arriving messages."},
	{Keyword: "RESETSEQ", Kinds: msgChannels, Type: Enum, Values: noYes, Default: "NO", ReadOnly: true, Doc: "Whether a RESET CHANNEL is waiting."},
	{Keyword: "SEQWRAP", Kinds: msgChannels, Type: Int, Min: 100, Max: maxCount, Default: "999999999", Cluster: true, Doc: "Highest sequence number."},
	{Keyword: "SHARECNV", Kinds: Of(SvrConn), Type: Int, Max: maxCount, Default: "10", Doc: "Most conversations on one network connection."},
	{Keyword: "SHORTRTY", Kinds: sendSettings, Type: Int, Max: maxCount, Default: "10", Cluster: true, Doc: "Attempts to connect at short intervals."},
	{Keyword: "SHORTTMR", Kinds: sendSettings, Type: Int, Max: maxCount, Default: "60", Cluster: true, Doc: "Seconds between short attempts."},
	{Keyword: "SSLCAUTH", Kinds: receivers, Type: Enum, Values: []string{"REQUIRED", "OPTIONAL"}, Default: "REQUIRED", Cluster: true, Doc: "Whether the partner must show a certificate."},
	{Keyword: "SSLCIPH", Kinds: allChannels, Type: String, MaxLen: 64, Cluster: true, Doc: "Cipher specification; blank for no TLS."},
	{Keyword: "SSLPEER", Kinds: allChannels, Type: String, MaxLen: 1024, Cluster: true, Doc: "What the partner's certificate must name."},
	{Keyword: "STATCHL", Kinds: msgChannels, Type: Enum, Values: []string{"QMGR", "OFF", "LOW", "MEDIUM", "HIGH"}, Default: "QMGR", Cluster: true, Idle: noRecords, Doc: "Collection of statistics."},
	{Keyword: "TRPTYPE", Kinds: allChannels | Of(Listener), Type: Enum, Values: []string{"TCP", "LU62", "NETBIOS", "SPX"}, Default: "TCP", Absent: noSNA, Cluster: true, Doc: "Transport."},
	{Keyword: "USEDLQ", Kinds: msgChannels, Type: Enum, Values: noYes, Default: "YES", Cluster: true, Doc: "Whether undeliverable messages go to the dead-letter queue."},
	{Keyword: "XMITQ", Kinds: Of(Sender), Type: Name, MaxLen: MaxName, Doc: "The transmission queue that the channel empties."},

	{Keyword: "CERTLABL", Kinds: allChannels, Type: String, MaxLen: 64, Idle: "the certificate is cert.pem in the folder of SSLKEYR", Doc: "Label of the certificate to show."},
	{Keyword: "LOCLADDR", Kinds: sendSettings, Type: String, MaxLen: 48, Absent: "the system chooses the local address", Doc: "Local address to connect from."},
	{Keyword: "MCANAME", Kinds: sendSettings, Type: String, MaxLen: 20, Absent: "it is reserved", Doc: "Name of the message channel agent; MQ allows blanks only."},
	{Keyword: "MODENAME", Kinds: sendSettings, Type: String, MaxLen: 8, Absent: noSNA, Doc: "LU 6.2 mode."},
	{Keyword: "PASSWORD", Kinds: Of(Sender, ClusSdr), Type: String, MaxLen: 12, Absent: noSNA, Doc: "Password of an LU 6.2 session."},
	{Keyword: "SPLPROT", Kinds: Of(Sender, Receiver), Type: Enum, Values: []string{"PASSTHRU", "REMOVE", "ASPOLICY"}, Default: "PASSTHRU", Absent: "messages are not protected by policies", Doc: "What the agent does with protected messages."},
	{Keyword: "TPNAME", Kinds: sendSettings, Type: String, MaxLen: 64, Absent: noSNA, Doc: "LU 6.2 transaction program."},
	{Keyword: "USERID", Kinds: Of(Sender, ClusSdr), Type: String, MaxLen: 12, Absent: noSNA, Doc: "User of an LU 6.2 session."},
	exitName("MREXIT", msgReceivers, 128), exitData("MRDATA", msgReceivers, 32),
	exitName("MSGEXIT", msgChannels, 1024), exitData("MSGDATA", msgChannels, 256),
	exitName("RCVEXIT", allChannels, 1024), exitData("RCVDATA", allChannels, 256),
	exitName("SCYEXIT", allChannels, 128), exitData("SCYDATA", allChannels, 32),
	exitName("SENDEXIT", allChannels, 1024), exitData("SENDDATA", allChannels, 256),
}

func exitName(keyword string, kinds KindSet, longest int) Attr {
	return Attr{Keyword: keyword, Kinds: kinds, Type: String, MaxLen: longest, Absent: noExits, Doc: "Name of a channel exit."}
}

func exitData(keyword string, kinds KindSet, longest int) Attr {
	return Attr{Keyword: keyword, Kinds: kinds, Type: String, MaxLen: longest, Doc: "Text for the exit of that name; kept and shown."}
}
