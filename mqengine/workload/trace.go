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
	Winner int // index of the candidate, -1 if none could be chosen
	Reason mqi.Reason
	// Shares is, per candidate, the part of many messages that it gets while
	// nothing changes; nil if none can be chosen.
	Shares []float64
}

// Step is one step: its rule in a sentence, and what it did to everyone who was still in.
type Step struct {
	Step StepName `json:"-"`
	// Number is the step's in the modern order, in either order of evaluation.
	Number     int       `json:"step"`
	Rule       string    `json:"rule"`
	Candidates []Verdict `json:"candidates"`
}

// Verdict is what a step made of one candidate. Channel is set where a queue
// manager is reached in more than one way.
type Verdict struct {
	QMgr    string `json:"qmgr"`
	Channel string `json:"channel,omitempty"`
	Value   string `json:"value"`
	Kept    bool   `json:"kept"`
	Why     string `json:"why"`
}

// numbers are those of the manual's list, which begins with the two steps of
// gathering; 7 and 8 are for topics and for the repositories' own commands.
var numbers = [...]struct {
	step   StepName
	number int
}{
	{StepCandidates, 2}, {StepChannelRank, 3}, {StepQueueRank, 4}, {StepPut, 5}, {StepLocal, 6}, {StepSuspend, 9},
	{StepChannelStatus, 10}, {StepNetPriority, 11}, {StepChannelPriority, 12}, {StepQueuePriority, 13}, {StepMRU, 14}, {StepLeastUsed, 15},
}

// Number is the step's place in the modern order.
func (s StepName) Number() int {
	for _, n := range numbers {
		if n.step == s {
			return n.number
		}
	}
	return 0
}

// StepNumbered is the name of a step; blank if there is none of that number.
func StepNumbered(number int) StepName {
	for _, n := range numbers {
		if n.number == number {
			return n.step
		}
	}
	return ""
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
	s := Step{Step: step, Number: step.Number(), Rule: string(step) + ": " + rules[step]}
	for i := range c.cands {
		if !before.has(i) {
			continue
		}
		x := &c.cands[i]
		v := Verdict{QMgr: x.QMgr, Kept: c.in(i), Value: shown(step, x, value)}
		if c.ways[x.QMgr] > 1 {
			v.Channel = x.Channel
		}
		v.Why = why(step, x, v)
		s.Candidates = append(s.Candidates, v)
	}
	c.trace.Steps = append(c.trace.Steps, s)
}

// share notes what everyone who is left will get, by the rates at which their factors grow.
func (c *choice) share() {
	if c.trace == nil {
		return
	}
	sum := 0.0
	c.trace.Shares = make([]float64, len(c.cands))
	for i := range c.cands {
		if c.in(i) {
			c.trace.Shares[i] = float64(max(c.cands[i].ChlWght, 1))
			sum += c.trace.Shares[i]
		}
	}
	for i := range c.trace.Shares {
		c.trace.Shares[i] /= sum
	}
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
	case StepLeastUsed:
		return strconv.Itoa(x.ChlWght)
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
	case step == StepLeastUsed && v.Kept:
		return "least used: " + usage(x)
	case step == StepLeastUsed:
		return "its turn comes later: " + usage(x)
	case step == StepMRU && v.Kept:
		return "among the most recently used"
	case step == StepMRU:
		return "others were used more recently"
	case step == StepNetPriority && v.Kept:
		return "no channel to this queue manager has a higher one"
	case step == StepNetPriority:
		return "another channel to this queue manager has a higher one"
	case v.Kept:
		return "highest left"
	}
	return "a higher one is there"
}

// usage is what the last step looks at. The factor is shown in the manual's
// units, of which a message adds 1000 divided by the weight.
func usage(x *Candidate) string {
	return fmt.Sprintf("factor %.4g, sequence number %d, weight %d", float64(x.Factor)/factorUnit, x.Seq, x.ChlWght)
}
