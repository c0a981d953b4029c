package object

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// value is a stored value; which field counts depends on the attribute's type.
type value struct {
	n int      // Int, Enum (index), Flag (0, 1)
	s string   // String, Name
	l []string // List; never written after it is stored
}

func (v value) equal(w value) bool {
	return v.n == w.n && v.s == w.s && slices.Equal(v.l, w.l)
}

func flagValue(on bool) int {
	if on {
		return 1
	}
	return 0
}

// Fault says what is wrong with a value.
type Fault uint8

// The faults a value can have.
const (
	FaultUnknown  Fault = iota // the kind has no such attribute
	FaultReadOnly              // only the queue manager sets it
	FaultCount                 // no value, or too many
	FaultRange                 // a number out of range, or not a number
	FaultLength                // text too long
	FaultEnum                  // not one of the words
	FaultName                  // not a name
	FaultText                  // bytes that are not text
)

// ValueError is a value that an attribute does not take.
type ValueError struct {
	Fault   Fault
	Keyword string
	Value   string // as given; blank if none
	Want    string // what is allowed, as a phrase: "a number from 0 to 9"
}

func (e *ValueError) Error() string {
	switch e.Fault {
	case FaultUnknown:
		return fmt.Sprintf("%s is not an attribute of %s", e.Keyword, e.Want)
	case FaultReadOnly:
		return fmt.Sprintf("%s cannot be set: the queue manager keeps it", e.Keyword)
	default:
		return fmt.Sprintf("%s(%s): %s is needed", e.Keyword, e.Value, e.Want)
	}
}

// Want is what the attribute takes, as a phrase for a person.
func (a *Attr) Want() string {
	switch a.Type {
	case Int:
		want := fmt.Sprintf("a number from %d to %d", a.Min, a.Max)
		for _, w := range a.Words {
			want += " or " + w.Name
		}
		return want
	case Enum:
		if len(a.Values) == 1 {
			return a.Values[0]
		}
		return "one of " + strings.Join(a.Values, ", ")
	case Name:
		return fmt.Sprintf("a name of up to %d characters A-Z a-z 0-9 . / _ %%, or ' '", a.MaxLen)
	case List:
		return fmt.Sprintf("a list of up to %d names of up to %d characters A-Z a-z 0-9 . / _ %%", a.MaxItems, a.MaxLen)
	case Flag:
		return "no value: " + a.Keyword + " or " + a.NoForm() + " alone"
	}
	return fmt.Sprintf("a text of up to %d characters", a.MaxLen)
}

func (a *Attr) fault(f Fault, value string) *ValueError {
	return &ValueError{Fault: f, Keyword: a.Keyword, Value: value, Want: a.Want()}
}

// parse makes a stored value of words, or tells why not.
func (a *Attr) parse(words []string) (value, error) {
	if a.Type == List {
		return a.parseList(words)
	}
	if len(words) > 1 {
		return value{}, a.fault(FaultCount, strings.Join(words, ","))
	}
	word := ""
	if len(words) == 1 {
		word = strings.TrimRight(words[0], " ")
	}
	switch a.Type {
	case Int:
		n, err := a.parseInt(word)
		return value{n: n}, err
	case Enum:
		i := slices.Index(a.Values, strings.ToUpper(word))
		if i < 0 {
			return value{}, a.fault(FaultEnum, word)
		}
		return value{n: i}, nil
	case Name:
		if err := a.checkItem(word); err != nil && word != "" {
			return value{}, err
		}
		return value{s: word}, nil
	case Flag:
		return value{}, a.fault(FaultCount, word)
	}
	if !utf8.ValidString(word) || strings.ContainsFunc(word, isControl) {
		return value{}, a.fault(FaultText, word)
	}
	if len(word) > a.MaxLen {
		return value{}, a.fault(FaultLength, word)
	}
	return value{s: word}, nil
}

func isControl(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }

func (a *Attr) parseInt(word string) (int, error) {
	for _, w := range a.Words {
		if strings.EqualFold(w.Name, word) {
			return w.Value, nil
		}
	}
	// Only digits: strconv would also take signs and underscores.
	if word == "" || len(word) > 12 || strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' }) {
		return 0, a.fault(FaultRange, word)
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < a.Min || n > a.Max {
		return 0, a.fault(FaultRange, word)
	}
	return n, nil
}

func (a *Attr) parseList(words []string) (value, error) {
	var l []string
	for _, w := range words {
		w = strings.TrimRight(w, " ")
		if w == "" {
			continue // NAMES(' ') empties the list
		}
		if err := a.checkItem(w); err != nil {
			return value{}, err
		}
		l = append(l, w)
	}
	if len(l) > a.MaxItems {
		return value{}, a.fault(FaultCount, fmt.Sprintf("%d names", len(l)))
	}
	return value{l: l}, nil
}

func (a *Attr) checkItem(word string) error {
	if len(word) > a.MaxLen {
		return a.fault(FaultLength, word)
	}
	if strings.ContainsFunc(word, func(r rune) bool { return !isNameRune(r) }) {
		return a.fault(FaultName, word)
	}
	return nil
}

// Canonical checks words and gives them as DISPLAY shows them: enumerations and
// words in capitals, trailing blanks off, numbers without leading zeros.
func (a *Attr) Canonical(words []string) ([]string, error) {
	v, err := a.parse(words)
	if err != nil {
		return nil, err
	}
	return a.words(v), nil
}

// words is a stored value as DISPLAY shows it.
func (a *Attr) words(v value) []string {
	switch a.Type {
	case Int:
		for _, w := range a.Words {
			if w.Value == v.n {
				return []string{w.Name}
			}
		}
		return []string{strconv.Itoa(v.n)}
	case Enum:
		return []string{a.Values[v.n]}
	case List:
		if len(v.l) == 0 {
			return []string{""}
		}
		return v.l
	}
	return []string{v.s}
}
