package adapt

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/situations"
)

// Manager sets and reads attributes of queues, channels and the queue manager
// through MQSC commands.
type Manager struct{ link *Link }

var _ actions.QueueManager = (*Manager)(nil)

// NewManager makes a Manager for the queue manager behind link.
func NewManager(link *Link) *Manager { return &Manager{link: link} }

// Set alters attributes of one queue in one command; see the other groups for theirs.
func (m *Manager) Set(ctx context.Context, queue, typ string, values []actions.Value) error {
	switch group, name := situations.GroupOf(queue); group {
	case situations.GroupChannel:
		return m.setChannel(ctx, name, typ, values)
	case situations.GroupQMgr:
		return m.setMembership(ctx, values)
	case situations.GroupQueue:
	}
	cmd := command("ALTER", queue, typ)
	for _, v := range values {
		cmd.Params = append(cmd.Params, mqsc.Param{Keyword: v.Attr, Values: []string{v.Value}})
	}
	_, err := m.run(ctx, cmd)
	return err
}

// ReadBack reads the named attributes.
func (m *Manager) ReadBack(ctx context.Context, queue, typ string, attrs []string) ([]actions.Value, error) {
	switch group, name := situations.GroupOf(queue); group {
	case situations.GroupChannel:
		return m.readChannel(ctx, name, attrs)
	case situations.GroupQMgr:
		return m.readMembership(ctx, name, attrs)
	case situations.GroupQueue:
	}
	return m.readDefinition(ctx, queue, typ, attrs)
}

// readDefinition reads attributes out of a definition.
func (m *Manager) readDefinition(ctx context.Context, queue, typ string, attrs []string) ([]actions.Value, error) {
	cmd := command("DISPLAY", queue, typ)
	cmd.Show = attrs
	result, err := m.run(ctx, cmd)
	if err != nil {
		return nil, err
	}
	fields := map[string]string{}
	for _, response := range result.Responses {
		for _, f := range response.Fields {
			if len(f.Values) > 0 {
				fields[f.Key] = f.Values[0]
			}
		}
	}
	values := make([]actions.Value, 0, len(attrs))
	for _, attr := range attrs {
		value, ok := fields[attr]
		if !ok {
			return nil, fmt.Errorf("display %s(%s): the answer lacks %s", typ, queue, attr)
		}
		values = append(values, actions.Value{Attr: attr, Value: value})
	}
	return values, nil
}

func command(verb, queue, typ string) *mqsc.Command {
	text := verb + " " + typ
	if queue != "" { // the queue manager itself has no name in a command
		text += "('" + queue + "')"
	}
	return &mqsc.Command{
		Verb: verb, Noun: typ, Kind: object.ParseKind(typ), Name: queue,
		Text: text,
	}
}

// run sends one command. What the queue manager says against it is the error.
func (m *Manager) run(ctx context.Context, cmd *mqsc.Command) (mqsc.Result, error) {
	return runCommand(ctx, m.link, cmd)
}

func runCommand(ctx context.Context, link *Link, cmd *mqsc.Command) (mqsc.Result, error) {
	conn, _, err := link.Conn()
	if err != nil {
		return mqsc.Result{}, fmt.Errorf("%s: %w: %w", strings.ToLower(cmd.Text), actions.ErrUnavailable, err)
	}
	result, err := conn.Command(ctx, cmd)
	if err != nil {
		return mqsc.Result{}, unavailable(link, conn, err)
	}
	if result.Failed {
		return result, fmt.Errorf("%s: %s", cmd.Text, replies(result))
	}
	return result, nil
}

// unavailable marks the error of a connection that is gone, or of a call that
// was not answered in time.
func unavailable(link *Link, conn mqengine.Conn, err error) error {
	link.Check(conn, err)
	if broken(err) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", actions.ErrUnavailable, err)
	}
	return err
}

// replies is the text of a refused command, as runmqsc would print it.
func replies(result mqsc.Result) string {
	var texts []string
	for _, r := range result.Responses {
		texts = append(texts, strings.TrimSpace(r.ID+": "+r.Text))
	}
	if len(texts) == 0 {
		return mqi.MQRC_UNEXPECTED_ERROR.Error()
	}
	return strings.Join(texts, " ")
}
