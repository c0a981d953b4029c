package actions

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/situationd/situationd/situations"
)

// running is what an action is doing while it is under way.
func running(v situations.Verb) string {
	switch v {
	case situations.VerbMQSC:
		return "the command ran"
	case situations.VerbWebhook:
		return "the webhook was called"
	default:
		return "the program ran"
	}
}

// command has the queue manager run one MQSC command. What it changed is ours,
// as with a program.
func (e *Engine) command(s *step) {
	e.call(s, e.opt.Commands != nil, func(ctx context.Context, text string) error {
		return e.opt.Commands.Command(ctx, text)
	})
}

// webhook posts what happened. Who gets it twice knows it by its id.
func (e *Engine) webhook(s *step) {
	e.call(s, e.opt.Hooks != nil, func(ctx context.Context, address string) error {
		body, err := json.Marshal(noticeOf(s))
		if err != nil {
			return err
		}
		return e.opt.Hooks.Post(ctx, address, s.en.id(s.index), body)
	})
}

const callTimeout = 30 * time.Second

// call does something of which nobody knows how it ended if the daemon ends in
// the middle of it.
func (e *Engine) call(s *step, can bool, do func(ctx context.Context, text string) error) {
	if !can {
		e.failed(s, errors.New(string(s.action().Verb)+" is not possible here"))
		return
	}
	args, err := arguments(s.action(), &s.row)
	if err != nil {
		e.failed(s, err)
		return
	}
	if !e.acquireProgram(s) {
		return
	}
	defer func() { <-e.heavy }()
	if err := e.begin(s, flightOf(s), nil); err != nil {
		return
	}
	ctx, cancel := e.deadline(s.action(), callTimeout)
	defer cancel()
	err = do(ctx, args[0])
	e.mu.Lock()
	e.ran(s)
	e.mu.Unlock()
	if err != nil {
		e.failed(s, err)
		return
	}
	e.journal(s, resultDone, "")
	e.mu.Lock()
	e.advance(s.en)
	e.mu.Unlock()
	e.save(s.en)
}

// ran notes that something of ours ran that may have changed the queue in a way
// that only the next sample shows. The lock is held.
func (e *Engine) ran(s *step) {
	now := time.Now()
	s.tg.program = now
	s.tg.ran = &Out{Situation: s.en.in.Key.Situation, Action: describe(s.action(), &s.row), ID: s.en.id(s.index), At: now.UTC()}
}

// notice is what a webhook gets. Unknown is null.
type notice struct {
	ID        string          `json:"id"`
	Attempt   int             `json:"attempt"`
	Time      time.Time       `json:"time"`
	Situation string          `json:"situation"`
	QMgr      string          `json:"qmgr"`
	Queue     string          `json:"queue"`
	Channel   string          `json:"channel,omitempty"`
	Cluster   string          `json:"cluster"`
	Edge      situations.Edge `json:"edge"`
	Since     time.Time       `json:"since"`
	Values    map[string]any  `json:"values"`
}

func noticeOf(s *step) notice {
	n := notice{
		ID: s.en.id(s.index), Attempt: s.en.p.Attempt, Time: time.Now().UTC(), Situation: s.en.in.Key.Situation,
		QMgr: s.tg.QMgr, Queue: situations.QueueOf(s.tg.Queue), Channel: situations.ChannelOf(s.tg.Queue),
		Edge: s.en.in.Edge, Since: s.en.in.At.UTC(),
	}
	switch env := s.row.Env.(type) {
	case situations.Attributes:
		n.Cluster, n.Values = env.CLUSTER, situations.ValuesOf(&s.row, "IPPROCS", "OPPROCS", "CURDEPTH", attrPut, attrRank, attrPriority)
	case situations.ChannelAttributes:
		n.Cluster, n.Values = env.CLUSTER, situations.ValuesOf(&s.row, attrStatus, "SUBSTATE", "INDOUBT", "XQMSGSA", "RQMNAME", attrWeight)
	case situations.QMgrAttributes:
		n.Cluster, n.Values = env.CLUSTER, situations.ValuesOf(&s.row, attrStatus, attrSuspend, "CHINIT", "CMDSERV", "REPOSITORY")
	}
	return n
}
