package httpapi

import (
	"time"

	"github.com/situationd/situationd/situations"
)

// Status is the answer of /api/v1/status and of the status verb. Unknown is null.
type Status struct {
	QMgr    string `json:"qmgr"`
	Ready   bool   `json:"ready"`
	Observe bool   `json:"observe"`
	Rules   Rules  `json:"rules"`
	QMID    string `json:"qmid"` // "" before the first sample
	// Intents are the lowerings that this daemon wants to make, or just made: other
	// daemons of the cluster read them here before they lower.
	Intents []Wish   `json:"intents"`
	Holds   []Held   `json:"holds"`   // of people
	Breaker []string `json:"breaker"` // situations whose breaker is open
	Items   []Item   `json:"items"`
	Queues  []Queue  `json:"queues"`
	Jobs    []Job    `json:"jobs"`
}

// Wish is a lowering of a queue that a daemon wants to make.
type Wish struct {
	QMgr  string `json:"qmgr"`
	QMID  string `json:"qmid"`
	Queue string `json:"queue"`
}

// Rules says which rules are in force. Error is why the last reload failed.
type Rules struct {
	Revision   string    `json:"revision"`
	LoadedAt   time.Time `json:"loaded_at"`
	Situations int       `json:"situations"`
	Error      string    `json:"error"`
}

// Item is one item of one situation.
type Item struct {
	Situation string         `json:"situation"`
	QMgr      string         `json:"qmgr"`
	Queue     string         `json:"queue"`
	Channel   string         `json:"channel,omitempty"` // then queue is empty; of the queue manager itself both are
	State     string         `json:"state"`             // inactive, pending, open, recovering
	Verdict   string         `json:"verdict"`           // true, false, hold, unknown, gone
	Since     *time.Time     `json:"since"`
	Values    map[string]any `json:"values"`
	Held      []string       `json:"held"`
	Flapping  bool           `json:"flapping"`
	Intent    string         `json:"intent"`
}

// Name is the item as holds, tests and commands name it.
func (i *Item) Name() string { return itemName(i.QMgr, i.Queue, i.Channel) }

// itemName is a queue's name, CHANNEL(NAME) or QMGR(NAME).
func itemName(qmgr, queue, channel string) string {
	switch {
	case channel != "":
		return situations.GroupChannel.Item(channel)
	case queue != "":
		return queue
	}
	return situations.GroupQMgr.Item(qmgr)
}

// Queue is what is known of one instance of a queue.
type Queue struct {
	Queue    string  `json:"queue"`
	Cluster  string  `json:"cluster"`
	QMgr     string  `json:"qmgr"`
	Source   string  `json:"source"` // own, peer, repository
	IPProcs  *int    `json:"IPPROCS"`
	OPProcs  *int    `json:"OPPROCS"`
	CurDepth *int    `json:"CURDEPTH"`
	Put      *string `json:"PUT"`
	ClwlRank *int    `json:"CLWLRANK"`
	ClwlPrty *int    `json:"CLWLPRTY"`
	AgeS     float64 `json:"age_s"`
}

// Job is messages being moved.
type Job struct {
	Queue     string  `json:"queue"`
	QMgr      string  `json:"qmgr"`
	Moved     int     `json:"moved"`
	Remaining int     `json:"remaining"`
	Rate      float64 `json:"rate"`
	State     string  `json:"state"`
	Skipped   Skipped `json:"skipped"`
	By        string  `json:"by"` // rule, or the person who wants it
}

// Skipped counts messages that stay where they are.
type Skipped struct {
	Addressed int `json:"addressed"`
	Grouped   int `json:"grouped"`
	Poison    int `json:"poison"`
}

// of is the part of the status that concerns one queue.
func (s Status) of(queue string) Status {
	s.Intents = only(s.Intents, func(w *Wish) bool { return w.Queue == queue })
	s.Items = only(s.Items, func(i *Item) bool { return i.Name() == queue })
	s.Queues = only(s.Queues, func(q *Queue) bool { return q.Queue == queue })
	s.Jobs = only(s.Jobs, func(j *Job) bool { return j.Queue == queue })
	return s
}

func only[T any](list []T, keep func(*T) bool) []T {
	var out []T
	for i := range list {
		if keep(&list[i]) {
			out = append(out, list[i])
		}
	}
	return out
}

// withLists makes absent lists empty ones: programs need not tell null from none.
func (s Status) withLists() Status {
	if s.Items == nil {
		s.Items = []Item{}
	}
	for i := range s.Items {
		if s.Items[i].Held == nil {
			s.Items[i].Held = []string{}
		}
		if s.Items[i].Values == nil {
			s.Items[i].Values = map[string]any{}
		}
	}
	if s.Queues == nil {
		s.Queues = []Queue{}
	}
	if s.Jobs == nil {
		s.Jobs = []Job{}
	}
	if s.Holds == nil {
		s.Holds = []Held{}
	}
	if s.Breaker == nil {
		s.Breaker = []string{}
	}
	if s.Intents == nil {
		s.Intents = []Wish{}
	}
	return s
}
