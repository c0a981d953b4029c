package object

import (
	"fmt"
	"strings"
)

// The longest names MQ has: channels are shorter than everything else.
const (
	MaxName        = 48
	MaxChannelName = 20
)

// CheckQueueName checks a name of a queue, queue manager, cluster, namelist,
// process or listener: 1 to 48 of A-Z a-z 0-9 . / _ %.
func CheckQueueName(name string) error { return checkName(name, MaxName) }

// CheckChannelName checks a channel's name: the same characters, at most 20.
func CheckChannelName(name string) error { return checkName(name, MaxChannelName) }

// CheckName checks the name of an object of kind k.
func CheckName(k Kind, name string) error { return checkName(name, k.MaxNameLen()) }

// CheckQMID checks an identifier that somebody says is a queue manager's: the
// characters of names and the dashes of dates, at most 48.
func CheckQMID(id string) error {
	if err := checkName(strings.ReplaceAll(id, "-", "_"), MaxName); err != nil {
		return fmt.Errorf("QMID: %w", err)
	}
	return nil
}

func checkName(name string, longest int) error {
	if name == "" {
		return fmt.Errorf("the name is blank: 1 to %d characters are needed", longest)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return !isNameRune(r) }); i >= 0 {
		r := []rune(name[i:])[0]
		return fmt.Errorf("the name %q holds %q: only A-Z a-z 0-9 . / _ %% are allowed", name, r)
	}
	if len(name) > longest {
		return fmt.Errorf("the name %q has %d characters: at most %d are allowed", name, len(name), longest)
	}
	return nil
}

func isNameRune(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' ||
		r == '.' || r == '/' || r == '_' || r == '%'
}
