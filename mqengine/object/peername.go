package object

import (
	"fmt"
	"slices"
	"strings"
)

// DN is the distinguished name in a certificate, from the highest level
// (country, organization) down to the common name.
type DN []DNPart

// DNPart is one attribute of a name: CN, QM1.
type DNPart struct{ Type, Value string }

// dnTypes are the attributes that SSLPEER may name, each by its first spelling.
var dnTypes = [][]string{
	{"SERIALNUMBER"}, {"MAIL", "E"}, {"UID", "USERID"}, {"CN"}, {"T"}, {"OU"}, {"DC"}, {"O"}, {"STREET"}, {"L"},
	{"ST", "SP", "S"}, {"PC"}, {"C"}, {"UNSTRUCTUREDNAME"}, {"UNSTRUCTUREDADDRESS"}, {"DNQ"},
}

func dnType(word string) (string, bool) {
	for _, t := range dnTypes {
		if slices.Contains(t, word) {
			return t[0], true
		}
	}
	return "", false
}

// String is the name as MQ shows it: from the common name up.
func (d DN) String() string {
	var b strings.Builder
	for i := len(d) - 1; i >= 0; i-- {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(d[i].Type)
		b.WriteByte('=')
		if v := d[i].Value; strings.ContainsAny(v, `,;="`) || v != strings.TrimSpace(v) {
			b.WriteString(`"` + strings.ReplaceAll(v, `"`, `'`) + `"`)
		} else {
			b.WriteString(v)
		}
	}
	return b.String()
}

// PeerName is a parsed SSLPEER: patterns for attributes of a certificate's name.
type PeerName []DNPart

// ParsePeerName reads an SSLPEER such as CN=QM*,OU="Big, and old",O=Acme. MQ's
// rules: comma or semicolon between attributes, values as they are or in double
// quotes, an asterisk at either end of a value, several of OU and DC only.
func ParsePeerName(text string) (PeerName, error) {
	var out PeerName
	for rest := text; ; {
		var part DNPart
		var err error
		if part, rest, err = peerPart(rest); err != nil {
			return nil, fmt.Errorf("SSLPEER: %w", err)
		}
		if part.Type != "OU" && part.Type != "DC" && slices.ContainsFunc(out, func(p DNPart) bool { return p.Type == part.Type }) {
			return nil, fmt.Errorf("SSLPEER: %s is there twice", part.Type)
		}
		out = append(out, part)
		if rest == "" {
			return out, nil
		}
		rest = rest[1:] // the separator
	}
}

// peerPart reads one TYPE=value; rest begins with the separator behind it, or is blank.
func peerPart(text string) (part DNPart, rest string, err error) {
	word, value, ok := strings.Cut(strings.TrimLeft(text, " "), "=")
	kind, known := dnType(word)
	switch {
	case !ok:
		return part, "", fmt.Errorf("%.40q is not TYPE=value, for example CN=QM1", strings.TrimSpace(text))
	case !known:
		return part, "", fmt.Errorf("%.40q is no attribute of a name that can be checked (in capitals, right before =): CN, OU, O, C ...", word)
	}
	value = strings.TrimLeft(value, " ")
	if quoted, isQuoted := strings.CutPrefix(value, `"`); isQuoted {
		if value, rest, ok = strings.Cut(quoted, `"`); !ok {
			return part, "", fmt.Errorf("the quotation of %s does not end", word)
		}
		if rest = strings.TrimLeft(rest, " "); rest != "" && rest[0] != ',' && rest[0] != ';' {
			return part, "", fmt.Errorf("there is more behind the quotation of %s", word)
		}
	} else if i := strings.IndexAny(value, ",;"); i >= 0 {
		value, rest = strings.TrimRight(value[:i], " "), value[i:]
	} else {
		value = strings.TrimRight(value, " ")
	}
	if value == "" {
		return part, "", fmt.Errorf("%s has no value", word)
	}
	if strings.Contains(strings.TrimSuffix(strings.TrimPrefix(value, "*"), "*"), "*") {
		return part, "", fmt.Errorf("%s=%.40s: an asterisk may be at the beginning and at the end", word, value)
	}
	return DNPart{kind, value}, rest, nil
}

// Matches reports whether a certificate's name has all that is asked for. Case
// does not count. Several of OU and DC must come in the order of the pattern.
func (p PeerName) Matches(d DN) bool {
	next := map[string]int{} // of the attributes that may repeat: where to look on
	for _, want := range p {
		found := false
		for i := next[want.Type]; i < len(d) && !found; i++ {
			if kind, ok := dnType(d[i].Type); ok && kind == want.Type && matchesEnds(want.Value, d[i].Value) {
				next[want.Type], found = i+1, true
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// matchesEnds compares a value with a pattern that may have an asterisk at its ends.
func matchesEnds(pattern, value string) bool {
	pattern, value = strings.ToLower(pattern), strings.ToLower(value)
	middle, open := strings.CutSuffix(pattern, "*")
	tail, openLeft := strings.CutPrefix(middle, "*")
	switch {
	case open && openLeft:
		return strings.Contains(value, tail)
	case open:
		return strings.HasPrefix(value, middle)
	case openLeft:
		return strings.HasSuffix(value, tail)
	}
	return value == pattern
}
