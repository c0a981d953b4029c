package killtest

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/cmd/situationd/internal/proctest"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/enginetest"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// processes plays scenarios on queue managers in processes of their own, over
// TCP through a proxy each, and through their sockets.
type processes struct {
	t       *testing.T
	data    string
	members map[string]*proctest.QMgr
	fronts  map[string]*proctest.Proxy
}

var _ enginetest.Driver = (*processes)(nil)

// The scenarios of the simulator hold on real processes too.
func TestScenarios_OnProcesses(t *testing.T) {
	t.Parallel()
	for _, file := range enginetest.Scenarios(t, filepath.Join("..", "..", "..", "..", "mqengine", "enginetest", "testdata", "scenario")) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			enginetest.Play(t, file, &processes{t: t, data: dataFolder(t), members: map[string]*proctest.QMgr{}, fronts: map[string]*proctest.Proxy{}})
		})
	}
}

func (p *processes) front(name string) *proctest.Proxy {
	if p.fronts[name] == nil {
		p.fronts[name] = proctest.NewProxy(p.t)
	}
	return p.fronts[name]
}

func (p *processes) ConnName(name string) string { return p.front(name).ConnName() }

func (p *processes) Define(name, commands string) {
	p.members[name] = proctest.NewQMgr(p.t, &program, p.data, name, commands, p.front(name))
	p.members[name].Start(p.t)
}

func (p *processes) member(name string) *proctest.QMgr {
	p.t.Helper()
	m := p.members[name]
	if m == nil {
		p.t.Fatalf("there is no member %s", name)
	}
	return m
}

// with makes one call over a connection of its own.
func (p *processes) with(name string, call func(context.Context, mqengine.Conn) error) mqi.Reason {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), proctest.Patience)
	defer cancel()
	conn, err := p.member(name).Dial(ctx, "scenario")
	if err != nil {
		p.t.Fatal(err)
	}
	defer conn.Disconnect(ctx)
	err = call(ctx, conn)
	var reason *mqi.Error
	switch {
	case errors.As(err, &reason):
		return reason.Reason
	case err != nil:
		p.t.Fatal(err)
	}
	return mqi.MQRC_NONE
}

func (p *processes) Command(name, text string) (res mqsc.Result) {
	p.t.Helper()
	p.with(name, func(ctx context.Context, conn mqengine.Conn) error {
		cmd, bad := mqsc.Parse(text)
		if bad != nil {
			p.t.Fatalf("%s: %v", text, bad)
		}
		var err error
		res, err = conn.Command(ctx, cmd)
		return err
	})
	return res
}

func (p *processes) Put(name string, od mqi.OD, bind int32, md mqi.MD, body string) mqi.Reason {
	p.t.Helper()
	return p.with(name, func(ctx context.Context, conn mqengine.Conn) error {
		h, _, err := conn.Open(ctx, od, mqi.MQOO_OUTPUT|bind)
		if err != nil {
			return err
		}
		_, err = conn.Put(ctx, h, &mqengine.Message{MD: md, Body: []byte(body)}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT})
		return err
	})
}

func (p *processes) Get(name, queue string) (body string, reason mqi.Reason) {
	p.t.Helper()
	reason = p.with(name, func(ctx context.Context, conn mqengine.Conn) error {
		h, _, err := conn.Open(ctx, mqi.OD{ObjectName: queue}, mqi.MQOO_INPUT_SHARED)
		if err != nil {
			return err
		}
		msg, err := conn.Get(ctx, h, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_NO_SYNCPOINT, MaxLength: -1})
		if err == nil {
			body = enginetest.Letter(string(msg.Body))
		}
		return err
	})
	return body, reason
}

func (p *processes) Kill(name string)  { p.member(name).Kill() }
func (p *processes) Start(name string) { p.member(name).Start(p.t) }
func (p *processes) Cut(name string)   { p.front(name).Cut() }
func (p *processes) Block(name string) { p.front(name).Block() }
func (p *processes) Open(name string)  { p.front(name).Open() }

func (p *processes) Until(condition func() bool) bool {
	deadline := time.Now().Add(proctest.Patience)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for !condition() {
		if time.Now().After(deadline) {
			return false
		}
		<-poll.C
	}
	return true
}
