package adapt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/situations"
)

// Commander runs the MQSC commands of rules, with the verbs that are allowed.
type Commander struct {
	link  *Link
	allow []string // in capitals
}

var _ actions.Commander = (*Commander)(nil)

// NewCommander makes a Commander for the queue manager behind link.
func NewCommander(link *Link, allow []string) *Commander { return &Commander{link: link, allow: allow} }

// Command runs one command. Its verb is judged as the parser has it, whatever
// it was written like.
func (c *Commander) Command(ctx context.Context, text string) error {
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		return fmt.Errorf("mqsc %s: %w", text, bad)
	}
	if !slices.Contains(c.allow, cmd.Verb) {
		return fmt.Errorf("mqsc %s: %w: add %s to mqsc.allow in the daemon's file", text, actions.ErrNotAllowed, cmd.Verb)
	}
	_, err := runCommand(ctx, c.link, cmd)
	return err
}

// CheckCommand says what is wrong with the command of a rule, as it will be when
// names of the group are replaced by something short, and gives its verb.
func CheckCommand(group situations.Group, text string) (verb string, err error) {
	row := situations.Sample(group, "Q")
	expanded, err := situations.ExpandMQSC(text, &row)
	if err != nil {
		return "", err
	}
	cmd, bad := mqsc.Parse(expanded)
	if bad != nil {
		text, _, _ := strings.Cut(bad.Text, " Valid here: ") // a finding is one line
		return "", fmt.Errorf("%s: %s", bad.ID, text)
	}
	return strings.ToUpper(cmd.Verb), nil
}
