package httpapi

// platform is IBM's word for a queue manager on Linux.
const platform = "UNIX"

// QueueMetrics is one local queue as the queue manager itself counts: every
// handle, also the daemon's own.
type QueueMetrics struct {
	Queue, Description, Cluster   string
	Transmission                  bool
	Depth, MaxDepth, Uncommitted  int
	InputHandles, OutputHandles   int
	OldestAge, SinceGet, SincePut float64 // seconds, if known
	HasOldest, HasGet, HasPut     bool
}

// ChannelMetrics is one channel's status.
type ChannelMetrics struct {
	Channel, Description, Type, RQMName, ConnName, JobName, SSLCipher string
	Status                                                            string           // MQ's word
	Numbers                                                           map[string]int64 // MSGS, BATCHES, BYTSSENT ... as far as answered
	SinceMessage                                                      float64
	HasSinceMessage                                                   bool
}

// ClusterMetrics is the queue manager's own membership of a cluster.
type ClusterMetrics struct {
	Cluster   string
	Full      bool // full repository
	Suspended bool
	Status    string // of the cluster receiver, MQ's word
}

// QMgrMetrics is the queue manager as a whole.
type QMgrMetrics struct {
	Name, Description string
	Connected         bool
	UptimeSeconds     float64 // 0 for unknown
	Connections       *int    // nil for unknown
	Listeners         *int    // that run
	ChannelInitiator  string  // MQ's word
	CommandServer     string
	Queues            []QueueMetrics
	Channels          []ChannelMetrics
	Clusters          []ClusterMetrics
}

// blank is IBM's way to write a label that has no value.
func blank(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// Families are the metrics under the names of IBM's exporter. When the queue
// manager is not connected only its status is known.
func (m *QMgrMetrics) Families() []Family {
	status := Family{Name: "ibmmq_qmgr_status", Help: "Status of the queue manager: 2 running, 0 not connected.", Labels: []string{"qmgr", "platform", "description"}}
	if !m.Connected {
		status.Add(0, m.Name, platform, blank(m.Description))
		return []Family{status}
	}
	status.Add(2, m.Name, platform, blank(m.Description))
	families := []Family{status}
	if m.UptimeSeconds > 0 {
		up := Family{Name: "ibmmq_qmgr_uptime", Help: "Seconds since the queue manager started.", Labels: status.Labels}
		up.Add(m.UptimeSeconds, m.Name, platform, blank(m.Description))
		families = append(families, up)
	}
	families = append(families, m.ownFamilies(status.Labels)...)
	families = append(families, m.queueFamilies()...)
	families = append(families, m.channelFamilies()...)
	return append(families, m.clusterFamilies()...)
}

// serviceStates are the numbers of MQSVC_STATUS.
var serviceStates = map[string]float64{"STOPPED": 0, "STARTING": 1, "RUNNING": 2, "STOPPING": 3, "RETRYING": 4}

// ownFamilies are about the queue manager itself, as far as it is known.
func (m *QMgrMetrics) ownFamilies(labels []string) []Family {
	var families []Family
	add := func(name, help string, value float64) {
		// IBM's connection_count ends as the name of a gauge should not.
		f := Family{Name: "ibmmq_qmgr_" + name, Help: help, Kind: Untyped, Labels: labels}
		f.Add(value, m.Name, platform, blank(m.Description))
		families = append(families, f)
	}
	if m.Connections != nil {
		add("connection_count", "Connections to the queue manager (CONNS).", float64(*m.Connections))
	}
	if m.Listeners != nil {
		add("active_listeners", "Listeners that run.", float64(*m.Listeners))
	}
	if state, ok := serviceStates[m.ChannelInitiator]; ok {
		add("channel_initiator_status", "Status of the channel initiator: 0 stopped, 2 running.", state)
	}
	if state, ok := serviceStates[m.CommandServer]; ok {
		add("command_server_status", "Status of the command server: 0 stopped, 2 running.", state)
	}
	return families
}

func (m *QMgrMetrics) queueFamilies() []Family {
	labels := []string{"qmgr", "platform", "queue", "usage", "description", "cluster"}
	family := func(name, help string) Family {
		return Family{Name: "ibmmq_queue_" + name, Help: help, Labels: labels}
	}
	depth := family("depth", "Number of messages on the queue.")
	in := family("input_handles", "Handles open for input (IPPROCS).")
	out := family("output_handles", "Handles open for output (OPPROCS).")
	uncommitted := family("uncommitted_messages", "Uncommitted messages (UNCOM).")
	oldest := family("oldest_message_age", "Age of the oldest message in seconds (MSGAGE).")
	get := family("time_since_get", "Seconds since a message was last got.")
	put := family("time_since_put", "Seconds since a message was last put.")
	most := family("attribute_max_depth", "Maximum number of messages (MAXDEPTH).")
	usage := family("attribute_usage", "Usage of the queue: 0 normal, 1 transmission.")
	for i := range m.Queues {
		q := &m.Queues[i]
		word, number := "NORMAL", 0.0
		if q.Transmission {
			word, number = "XMITQ", 1
		}
		values := []string{m.Name, platform, q.Queue, word, blank(q.Description), blank(q.Cluster)}
		depth.Add(float64(q.Depth), values...)
		in.Add(float64(q.InputHandles), values...)
		out.Add(float64(q.OutputHandles), values...)
		uncommitted.Add(float64(q.Uncommitted), values...)
		most.Add(float64(q.MaxDepth), values...)
		usage.Add(number, values...)
		if q.HasOldest {
			oldest.Add(q.OldestAge, values...)
		}
		if q.HasGet {
			get.Add(q.SinceGet, values...)
		}
		if q.HasPut {
			put.Add(q.SincePut, values...)
		}
	}
	return []Family{depth, in, out, uncommitted, oldest, get, put, most, usage}
}

// MQCHS numbers of the channel states, and IBM's squashed form: 0 stopped,
// 1 on the way, 2 running.
var channelStates = map[string]struct{ number, squash float64 }{
	"INACTIVE": {0, 0}, "BINDING": {1, 1}, "STARTING": {2, 1}, "RUNNING": {3, 2}, "STOPPING": {4, 1},
	"RETRYING": {5, 1}, "STOPPED": {6, 0}, "REQUESTING": {7, 1}, "PAUSED": {8, 0}, "DISCONNECTED": {9, 0},
	"INITIALIZING": {13, 1}, "SWITCHING": {14, 1},
}

// channelTypes are the words of the programming interface, and MQCHT numbers.
var channelTypes = map[string]struct {
	word   string
	number float64
}{
	"SDR": {"SENDER", 1}, "SVR": {"SERVER", 2}, "RCVR": {"RECEIVER", 3}, "RQSTR": {"REQUESTER", 4},
	"SVRCONN": {"SVRCONN", 7}, "CLUSRCVR": {"CLUSRCVR", 8}, "CLUSSDR": {"CLUSSDR", 9},
}

// channelNumbers are attributes of CHSTATUS and the metrics that they become.
var channelNumbers = []struct{ attribute, name, help string }{
	{"MSGS", "messages", "Messages sent or received since the channel started (MSGS)."},
	{"BATCHES", "batches", "Batches completed since the channel started (BATCHES)."},
	{"BYTSSENT", "bytes_sent", "Bytes sent since the channel started (BYTSSENT)."},
	{"BYTSRCVD", "bytes_rcvd", "Bytes received since the channel started (BYTSRCVD)."},
	{"BUFSSENT", "buffers_sent", "Buffers sent since the channel started (BUFSSENT)."},
	{"BUFSRCVD", "buffers_rcvd", "Buffers received since the channel started (BUFSRCVD)."},
}

func (m *QMgrMetrics) channelFamilies() []Family {
	labels := []string{"qmgr", "platform", "channel", "description", "type", "rqmname", "connname", "jobname", "sslciph"}
	status := Family{Name: "ibmmq_channel_status", Help: "Channel status as MQCHS: 3 running, 5 retrying, 6 stopped.", Labels: labels}
	squash := Family{Name: "ibmmq_channel_status_squash", Help: "Channel status in three steps: 0 stopped, 1 on the way, 2 running.", Labels: labels}
	kind := Family{Name: "ibmmq_channel_type", Help: "Channel type as MQCHT.", Labels: labels}
	since := Family{Name: "ibmmq_channel_time_since_msg", Help: "Seconds since the last message.", Labels: labels}
	numbers := make([]Family, len(channelNumbers))
	for i, n := range channelNumbers {
		numbers[i] = Family{Name: "ibmmq_channel_" + n.name, Help: n.help, Kind: Untyped, Labels: labels}
	}
	for i := range m.Channels {
		c := &m.Channels[i]
		word := channelTypes[c.Type]
		values := []string{
			m.Name, platform, c.Channel, blank(c.Description), blank(word.word), blank(c.RQMName),
			blank(c.ConnName), blank(c.JobName), blank(c.SSLCipher),
		}
		if state, ok := channelStates[c.Status]; ok {
			status.Add(state.number, values...)
			squash.Add(state.squash, values...)
		}
		if word.word != "" {
			kind.Add(word.number, values...)
		}
		if c.HasSinceMessage {
			since.Add(c.SinceMessage, values...)
		}
		for i, n := range channelNumbers {
			if value, ok := c.Numbers[n.attribute]; ok {
				numbers[i].Add(float64(value), values...)
			}
		}
	}
	return append([]Family{status, squash, kind, since}, numbers...)
}

func (m *QMgrMetrics) clusterFamilies() []Family {
	labels := []string{"qmgr", "platform", "cluster", "qmtype"}
	status := Family{Name: "ibmmq_cluster_status", Help: "Status of the cluster receiver channel as MQCHS.", Labels: labels}
	suspend := Family{Name: "ibmmq_cluster_suspend", Help: "1 if the queue manager is suspended from the cluster.", Labels: labels}
	kind := Family{Name: "ibmmq_cluster_qmtype", Help: "0 normal, 1 full repository.", Labels: labels}
	for _, c := range m.Clusters {
		word, number := "PARTIAL", 0.0
		if c.Full {
			word, number = "FULL", 1
		}
		values := []string{m.Name, platform, c.Cluster, word}
		if state, ok := channelStates[c.Status]; ok {
			status.Add(state.number, values...)
		}
		suspended := 0.0
		if c.Suspended {
			suspended = 1
		}
		suspend.Add(suspended, values...)
		kind.Add(number, values...)
	}
	return []Family{status, suspend, kind}
}
