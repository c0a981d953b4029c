package situations

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

var mqscStart = regexp.MustCompile(`^[A-Za-z]+ +[A-Za-z]+`)

// command reads an MQSC command: one, on one line. Whether its verb may be used
// is for the daemon's file to say.
func (l *loader) command(n *yaml.Node) string {
	s := strings.TrimSpace(l.text(n, "mqsc"))
	switch {
	case s == "":
		if len(l.problems) == 0 || follow(n).Value == "" {
			l.fail(l.at(n), "missing", l.group.command(), "mqsc has no command")
		}
	case strings.ContainsFunc(s, func(r rune) bool { return r == '\n' || unicode.IsControl(r) }):
		l.fail(l.at(n), "value", "write each command as an item of its own", "a command stands on one line")
		return ""
	case !mqscStart.MatchString(s):
		l.fail(l.at(n), "value", l.group.command(), "a command begins with a verb and what it is done to")
		return ""
	case strings.ContainsAny(s[len(s)-1:], ";+-"):
		l.fail(l.at(n), "value", "end it without "+s[len(s)-1:], "a command is not continued or ended here")
		return ""
	case strings.Count(s, "'")%2 != 0:
		l.fail(l.at(n), "value", "write '' for a quote inside a text", "a quote is not closed")
		return ""
	}
	return s
}

// address reads a webhook's URL.
func (l *loader) address(n *yaml.Node) string {
	s := l.text(n, "webhook")
	if s == "" {
		l.fail(l.at(n), "missing", "write: webhook: https://...", "webhook has no address")
		return ""
	}
	text, _ := ExpandAddress(s, &Row{Queue: l.group.Item("Q")})
	u, err := url.Parse(text)
	switch {
	case strings.ContainsAny(host(s), "$&"):
		l.fail(l.at(n), "url", "", "the host is named outright; names are replaced only after it")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		l.fail(l.at(n), "url", "write: webhook: https://...", "webhook is an http or https address")
	case u.User != nil:
		l.fail(l.at(n), "secret", "", "the address has a password in it; passwords do not belong in this file")
	default:
		return s
	}
	return ""
}

// host is what stands between the scheme and the path of an address.
func host(s string) string {
	_, rest, _ := strings.Cut(s, "//")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		return rest[:i]
	}
	return rest
}
