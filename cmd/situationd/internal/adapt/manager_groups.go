package adapt

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/situations"
)

// setChannel alters a definition, or starts or stops the channel.
func (m *Manager) setChannel(ctx context.Context, name, typ string, values []actions.Value) error {
	alter := command("ALTER", name, "CHANNEL")
	alter.Kind = object.ParseKind(typ) // what CHLTYPE says is no parameter, in this process as little as in a command that is read
	var change *mqsc.Command
	for _, v := range values {
		switch v.Attr {
		case situations.AttrStatus:
			verb := "START"
			if v.Value == situations.Stopped {
				verb = "STOP"
			}
			change = command(verb, name, "CHANNEL")
		case "MODE":
		default:
			alter.Params = append(alter.Params, mqsc.Param{Keyword: v.Attr, Values: []string{v.Value}})
		}
	}
	for _, v := range values {
		if v.Attr == "MODE" && change != nil {
			change.Params = append(change.Params, mqsc.Param{Keyword: "MODE", Values: []string{v.Value}})
		}
	}
	if len(alter.Params) > 0 {
		if _, err := m.run(ctx, alter); err != nil {
			return err
		}
	}
	if change == nil {
		return nil
	}
	_, err := m.run(ctx, change)
	return err
}

// stoppingFor is how long a channel may take for its last batch until reading
// back says that it is not stopped.
const stoppingFor = 5 * time.Second

// readChannel reads a definition, and whether the channel is stopped. One that
// is stopping is waited for: its last batch is under way.
func (m *Manager) readChannel(ctx context.Context, name string, attrs []string) ([]actions.Value, error) {
	defined := slices.DeleteFunc(slices.Clone(attrs), func(a string) bool { return a == situations.AttrStatus })
	var values []actions.Value
	if len(defined) > 0 {
		got, err := m.readDefinition(ctx, name, "CHANNEL", defined)
		if err != nil {
			return nil, err
		}
		values = got
	}
	if len(defined) == len(attrs) {
		return values, nil
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(stoppingFor); ; {
		status, err := m.channelStatus(ctx, name)
		if err != nil {
			return nil, err
		}
		if status != "STOPPING" || time.Now().After(until) {
			return append(values, actions.Value{Attr: situations.AttrStatus, Value: status}), nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", actions.ErrUnavailable, ctx.Err())
		case <-tick.C:
		}
	}
}

// channelStatus is STOPPED if that is what all instances are, STOPPING if one
// still is on its way, else STARTED.
func (m *Manager) channelStatus(ctx context.Context, name string) (string, error) {
	rows, err := Display(ctx, m.link, "CHSTATUS", name)
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return situations.Started, nil // inactive: nothing keeps it from starting
	}
	stopped, stopping := 0, 0
	for _, r := range rows {
		switch r["STATUS"] {
		case "STOPPED":
			stopped++
		case "STOPPING":
			stopping++
		}
	}
	switch {
	case stopping > 0:
		return "STOPPING", nil
	case stopped == len(rows):
		return situations.Stopped, nil
	}
	return situations.Started, nil
}

// setMembership suspends the queue manager from clusters, or resumes it.
func (m *Manager) setMembership(ctx context.Context, values []actions.Value) error {
	for _, v := range values {
		verb := "RESUME"
		if v.Value == situations.Yes {
			verb = "SUSPEND"
		}
		cmd := command(verb, "", "QMGR")
		cmd.Params = []mqsc.Param{{Keyword: "CLUSTER", Values: []string{clusterOf(v.Attr)}}}
		cmd.Text += " CLUSTER(" + clusterOf(v.Attr) + ")"
		if _, err := m.run(ctx, cmd); err != nil {
			return err
		}
	}
	return nil
}

// clusterOf is the cluster of SUSPEND(C1).
func clusterOf(attr string) string {
	_, cluster, _ := strings.Cut(attr, "(")
	return strings.TrimSuffix(cluster, ")")
}

// readMembership reads SUSPEND of the queue manager in clusters.
func (m *Manager) readMembership(ctx context.Context, name string, attrs []string) ([]actions.Value, error) {
	rows, err := Display(ctx, m.link, "CLUSQMGR", name)
	if err != nil {
		return nil, err
	}
	values := make([]actions.Value, 0, len(attrs))
	for _, attr := range attrs {
		i := slices.IndexFunc(rows, func(r map[string]string) bool { return r["CLUSTER"] == clusterOf(attr) && r["DEFTYPE"] == "CLUSRCVR" })
		if i < 0 {
			return nil, fmt.Errorf("display clusqmgr(%s): it is not in cluster %s", name, clusterOf(attr))
		}
		values = append(values, actions.Value{Attr: attr, Value: rows[i]["SUSPEND"]})
	}
	return values, nil
}
