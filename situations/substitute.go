package situations

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substitution is one ${NAME} or &{Group.Name} of a text.
type substitution struct {
	from, to int // bytes
	name     string
	attr     *Attribute // nil if unknown
}

// substitutions finds the names in a text. A brace that is never closed is text.
func (t *attributeTable) substitutions(text string) []substitution {
	var out []substitution
	for i := 0; i+2 < len(text); i++ {
		if text[i+1] != '{' || text[i] != '$' && text[i] != '&' {
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			break
		}
		name := text[i+2 : i+end]
		if strings.ContainsAny(name, "{$&\n") {
			continue // the brace that closes belongs to another
		}
		s := substitution{from: i, to: i + end + 1, name: name}
		if text[i] == '&' {
			s.attr = t.named(tivoliNames[name])
		} else {
			s.attr = t.named(name)
		}
		out = append(out, s)
		i += end
	}
	return out
}

// Expand replaces the names in a text that a person reads; a name without a
// value becomes the word unknown.
func Expand(text string, row *Row) string {
	s, _ := expand(text, row)
	return s
}

// ExpandArgs replaces the names in a program's arguments, each on its own, so
// that no value can become several arguments or a piece of shell. A name
// without a value is an error: a program must not run with half its arguments.
func ExpandArgs(args []string, row *Row) ([]string, error) {
	out := make([]string, len(args))
	for i, a := range args {
		s, missing := expand(a, row)
		if missing != "" {
			return nil, fmt.Errorf("argument %d, %q: %s has no value in this sample", i, a, missing)
		}
		out[i] = s
	}
	return out, nil
}

// ExpandMQSC replaces the names in a command. A value is always inside quotes,
// so that it is one text whatever stands in it, and keeps its case.
func ExpandMQSC(text string, row *Row) (string, error) {
	s, missing := expandWith(text, row, func(value string, at int) string {
		value = strings.ReplaceAll(value, "'", "''")
		if strings.Count(text[:at], "'")%2 == 1 {
			return value
		}
		return "'" + value + "'"
	})
	if missing != "" {
		return "", fmt.Errorf("%s: %s has no value in this sample", text, missing)
	}
	if strings.ContainsFunc(s, unicode.IsControl) {
		return "", fmt.Errorf("%s: a value has a control character in it", text)
	}
	return s, nil
}

// ExpandAddress replaces the names in an address; a value cannot become a part
// of the address's own structure.
func ExpandAddress(text string, row *Row) (string, error) {
	query := strings.IndexByte(text, '?')
	s, missing := expandWith(text, row, func(value string, at int) string {
		if query >= 0 && at > query {
			return url.QueryEscape(value)
		}
		return url.PathEscape(value)
	})
	if missing != "" {
		return s, fmt.Errorf("%s: %s has no value in this sample", text, missing)
	}
	return s, nil
}

func expand(text string, row *Row) (string, string) {
	return expandWith(text, row, func(value string, _ int) string { return value })
}

// expandWith gives each value to put, with the place of its name in the text,
// and tells the first name without a value.
func expandWith(text string, row *Row, put func(value string, at int) string) (string, string) {
	if !strings.Contains(text, "{") {
		return text, ""
	}
	var e evaluation
	e.load(row, ^uint64(0))
	subs := e.table.substitutions(text)
	if len(subs) == 0 {
		return text, ""
	}
	if row.Env == nil { // no sample: the names at least are known
		e.knowName(row.Queue)
	}
	var b strings.Builder
	missing, at := "", 0
	for _, s := range subs {
		b.WriteString(text[at:s.from])
		at = s.to
		var v any
		if s.attr != nil {
			v = e.value(s.attr)
		}
		switch v := v.(type) {
		case string:
			b.WriteString(put(v, s.from))
		case int:
			b.WriteString(put(strconv.Itoa(v), s.from))
		default:
			b.WriteString("unknown")
			if missing == "" {
				missing = s.name
			}
		}
	}
	b.WriteString(text[at:])
	return b.String(), missing
}

// knowName gives a row without a sample the item's own name.
func (e *evaluation) knowName(item string) {
	g, name := GroupOf(item)
	switch g {
	case GroupChannel:
		e.channelStore.CHANNEL = name
		e.missing &^= channelTable.named("CHANNEL").bit
	case GroupQMgr:
		e.qmgrStore.QMGR = name
		e.missing &^= qmgrTable.named("QMGR").bit
	case GroupQueue:
		e.store.QUEUE = name
		e.missing &^= queueTable.named("QUEUE").bit
	}
}

// textErrors finds the names of a text that nobody can replace. With allowed,
// only those names may stand in it.
func (t *attributeTable) textErrors(text string, allowed ...string) []formulaError {
	var out []formulaError
	for _, s := range t.substitutions(text) {
		e := formulaError{
			from: utf8.RuneCountInString(text[:s.from]), to: utf8.RuneCountInString(text[:s.to]),
			code: "unknown-attribute",
		}
		switch {
		case s.attr == nil && text[s.from] == '&':
			e.message = fmt.Sprintf("&{%s} is not a name that can be replaced", s.name)
			e.help = []string{"Tivoli's names here: Queue_Data.Queue_Name, Queue_Data.MQ_Manager_Name, Queue_Data.Input_Opens, Queue_Data.Current_Depth"}
			if t.group != GroupQueue {
				e.help = []string{"Tivoli's names here are of queues; write ${NAME}, from: situationd attributes " + string(t.group)}
			}
		case s.attr == nil:
			e.message = fmt.Sprintf("${%s} is not an attribute of %s", s.name, t.group.noun())
			if near := nearest(strings.ToUpper(s.name), t.names()); near != "" {
				e.message += "; did you mean ${" + near + "}?"
			}
			e.help = []string{"list them: situationd attributes " + string(t.group)}
		case len(allowed) > 0 && !slices.Contains(allowed, s.attr.Name):
			e.code = "label"
			e.message = fmt.Sprintf("%s changes from sample to sample, and a label that changes makes a new alert each time", s.attr.Name)
			e.help = []string{"in labels: " + orList(allowed) + "; put it into summary or description"}
		default:
			continue
		}
		out = append(out, e)
	}
	return out
}
