package object

var clusterChannels = Of(ClusSdr, ClusRcvr)

// clusterAttrs are the attributes that put an object into clusters and weigh it there.
var clusterAttrs = []Attr{
	{Keyword: "CLUSTER", Kinds: namedQueues | clusterChannels, Type: Name, MaxLen: MaxName, Cluster: true, Doc: "The cluster that the object is shared in."},
	{Keyword: "CLUSNL", Kinds: namedQueues | clusterChannels, Type: Name, MaxLen: MaxName, Doc: "A namelist of clusters; not together with CLUSTER."},
	{Keyword: "CLWLPRTY", Kinds: namedQueues | clusterChannels, Type: Int, Max: 9, Default: "0", Cluster: true,
		Doc: "Priority in the workload algorithm, looked at after the channel's state."},
	{Keyword: "CLWLRANK", Kinds: namedQueues | clusterChannels, Type: Int, Max: 9, Default: "0", Cluster: true,
		Doc: "Rank in the workload algorithm, looked at before the channel's state."},
	{Keyword: "CLWLWGHT", Kinds: clusterChannels, Type: Int, Min: 1, Max: 99, Default: "50", Cluster: true, Doc: "Share of the messages that the channel gets."},
	{Keyword: "NETPRTY", Kinds: Of(ClusRcvr), Type: Int, Max: 9, Default: "0", Cluster: true, Doc: "Preference among several channels to one queue manager."},
	{Keyword: "DEFBIND", Kinds: namedQueues, Type: Enum, Values: []string{"OPEN", "NOTFIXED", "GROUP"}, Default: "OPEN", Cluster: true,
		Doc: "When the destination is chosen: at MQOPEN, at each MQPUT, or for each group."},
	{Keyword: "CLWLUSEQ", Kinds: Of(QLocal), Type: Enum, Values: []string{"QMGR", "LOCAL", "ANY"}, Default: "QMGR",
		Doc: "Whether a local putter prefers the local instance."},
	{Keyword: "CLWLUSEQ", Kinds: Of(QMgr), Type: Enum, Values: []string{"LOCAL", "ANY"}, Default: "LOCAL",
		Doc: "What CLWLUSEQ(QMGR) of a queue means."},
	{Keyword: "CLWLDATA", Kinds: Of(QMgr), Type: String, MaxLen: 32, Doc: "Text for a workload exit; kept and shown."},
	{Keyword: "CLWLEXIT", Kinds: Of(QMgr), Type: String, MaxLen: 128, Absent: noExits, Doc: "Workload exit."},
	{Keyword: "CLWLLEN", Kinds: Of(QMgr), Type: Int, Max: 999999, Default: "100", Doc: "Bytes of a message that a workload exit sees."},
	{Keyword: "CLWLMRUC", Kinds: Of(QMgr), Type: Int, Min: 1, Max: maxCount, Default: "999999999", Doc: "Most outbound cluster channels in use at once."},
	{Keyword: "REPOS", Kinds: Of(QMgr), Type: Name, MaxLen: MaxName, Doc: "The cluster whose full repository this queue manager keeps."},
	{Keyword: "REPOSNL", Kinds: Of(QMgr), Type: Name, MaxLen: MaxName, Doc: "A namelist of such clusters; not together with REPOS."},
	{Keyword: "DEFCLXQ", Kinds: Of(QMgr), Type: Enum, Values: []string{"SCTQ", "CHANNEL"}, Default: "SCTQ",
		Doc: "Transmission queue of cluster-sender channels: the shared one or one each."},
	{Keyword: "MONACLS", Kinds: Of(QMgr), Type: Enum, Values: []string{"QMGR", "NONE", "OFF", "LOW", "MEDIUM", "HIGH"}, Default: "QMGR",
		Doc: "Online monitoring of auto-defined cluster-sender channels."},
}
