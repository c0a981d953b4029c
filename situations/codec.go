package situations

import (
	"encoding/json"
	"fmt"
)

// plainRow is a Row without methods, so that its codec does not call itself.
type plainRow Row

// storedRow is a Row in an outbox: its environment keeps its type.
type storedRow struct {
	plainRow
	Env     *Attributes
	Channel *ChannelAttributes `json:",omitempty"`
	Manager *QMgrAttributes    `json:",omitempty"`
}

// MarshalJSON stores the row with its attributes.
func (r Row) MarshalJSON() ([]byte, error) {
	s := storedRow{plainRow: plainRow(r)}
	switch a := r.Env.(type) {
	case nil:
	case Attributes:
		s.Env = &a
	case *Attributes:
		s.Env = a
	case ChannelAttributes:
		s.Channel = &a
	case QMgrAttributes:
		s.Manager = &a
	default:
		return nil, fmt.Errorf("row of %s: its environment is not one of attributes", r.Queue)
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads a stored row.
func (r *Row) UnmarshalJSON(b []byte) error {
	var s storedRow
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("stored row: %w", err)
	}
	*r = Row(s.plainRow)
	r.Env = nil
	switch {
	case s.Env != nil:
		r.Env = *s.Env
	case s.Channel != nil:
		r.Env = *s.Channel
	case s.Manager != nil:
		r.Env = *s.Manager
	}
	return nil
}
