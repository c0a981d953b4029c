package workload

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/situationd/situationd/mqengine/mqi"
)

// StepName names a step of the algorithm.
type StepName string

// The steps, in the modern order.
const (
	StepCandidates      StepName = "candidates"
	StepChannelRank     StepName = "channel CLWLRANK"
	StepQueueRank       StepName = "queue CLWLRANK"
	StepPut             StepName = "PUT"
	StepLocal           StepName = "CLWLUSEQ"
	StepSuspend         StepName = "SUSPEND"
	StepChannelStatus   StepName = "channel status"
	StepNetPriority     StepName = "NETPRTY"
	StepChannelPriority StepName = "channel CLWLPRTY"
	StepQueuePriority   StepName = "queue CLWLPRTY"
	StepMRU             StepName = "CLWLMRUC"
	StepLeastUsed       StepName = "CLWLWGHT"
)

// Trace is the record of one choice, for `explain routing`.
type Trace struct {
	Steps  []Step
	Winner int
	Reason mqi.Reason
}

// Step is one step: its rule in a sentence, and what it did to everyone who was still in.
type Step struct {
	Step       StepName  `json:"step"`
	Rule       string    `json:"rule"`
	Candidates []Verdict `json:"candidates"`
}

// Verdict is what a step made of one candidate.
type Verdict struct {
	QMgr    string `json:"qmgr"`
	Channel string `json:"channel,omitempty"`
	Value   string `json:"value"`
	Kept    bool   `json:"kept"`
	Why     string `json:"why"`
}

// snapshot copies who is in, only if somebody wants to know afterwards.
func (c *choice) snapshot() *set {
	if c.trace == nil {
		return nil
	}
	return &set{few: c.alive.few, more: slices.Clone(c.alive.more)}
}

// note records a step: before is who was in when it began.
func (c *choice) note(step StepName, before *set, value func(*Candidate) int64) {
	if c.trace == nil {
		return
	}
	s := Step{Step: step, Rule: rules[step]}
	for i := range c.cands {
		if !before.has(i) {
			continue
		}
		x := &c.cands[i]
		v := Verdict{QMgr: x.QMgr, Channel: x.Channel, Kept: c.in(i), Value: shown(step, x, value)}
		v.Why = why(step, x, v)
		s.Candidates = append(s.Candidates, v)
	}
	c.trace.Steps = append(c.trace.Steps, s)
}

var rules = map[StepName]string{
	StepCandidates:      "instances in a cluster that this queue manager and the queue share",
	StepChannelRank:     "only the highest CLWLRANK of the channels stays",
	StepQueueRank:       "only the highest CLWLRANK of the queues stays",
	StepPut:             "put-disabled instances are dropped",
	StepLocal:           "the local instance wins unless CLWLUSEQ(ANY); always for a message from a cluster channel",
	StepSuspend:         "suspended queue managers are used only when nothing else is left",
	StepChannelStatus:   "the best group of channel states stays: RUNNING and INACTIVE, starting and stopping, RETRYING, the rest",
	StepNetPriority:     "of several channels to one queue manager those with the highest NETPRTY stay",
	StepChannelPriority: "only the highest CLWLPRTY of the channels stays",
	StepQueuePriority:   "only the highest CLWLPRTY of the queues stays",
	StepMRU:             "only the CLWLMRUC most recently used channels stay",
	StepLeastUsed:       "the least used by weight is chosen: lowest sequence factor, then lowest sequence number",
}

func shown(step StepName, x *Candidate, value func(*Candidate) int64) string {
	switch step {
	case StepCandidates:
		return x.Cluster
	case StepPut:
		if x.Put {
			return "ENABLED"
		}
		return "DISABLED"
	case StepLocal:
		return yesNo(x.Local)
	case StepSuspend:
		return yesNo(x.Suspended)
	case StepChannelStatus:
		if x.Local {
			return "LOCAL"
		}
		return x.Status.String()
	default:
		return strconv.FormatInt(value(x), 10)
	}
}

func yesNo(b bool) string {
	if b {
		return "YES"
	}
	return "NO"
}

func why(step StepName, x *Candidate, v Verdict) string {
	switch {
	case step == StepCandidates && x.Local:
		return "local instance"
	case step == StepCandidates:
		return "reached over channel " + x.Channel
	case (step == StepPut || step == StepQueueRank || step == StepQueuePriority) && x.Alias:
		return "a queue manager alias has no queue attributes"
	case step == StepPut:
		return "PUT(" + v.Value + ")"
	case step == StepLocal && v.Kept:
		return "the local instance is taken"
	case step == StepLocal:
		return "not the local instance"
	case step == StepSuspend && !v.Kept:
		return "suspended, and another is not"
	case step == StepSuspend && x.Suspended:
		return "suspended, but so is everyone left"
	case step == StepSuspend:
		return "not suspended"
	case step == StepChannelStatus && v.Kept:
		return "in the best group"
	case step == StepChannelStatus:
		return "a better channel state is there"
	case step == StepLeastUsed:
		return fmt.Sprintf("factor %d, sequence number %d, weight %d", x.Factor, x.Seq, x.ChlWght)
	case v.Kept:
		return "highest left"
	}
	return "a higher one is there"
}
