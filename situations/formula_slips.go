package situations

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// slip is a piece of a formula that people write from habit and that is wrong here.
type slip struct {
	formulaError
	fix string // what to write in place of the piece
}

// wordSlips are words of SQL, Tivoli and MQSC's WHERE.
var wordSlips = map[string]string{
	"AND": "and", "OR": "or", "NOT": "not", "IN": "in", "MATCHES": "matches", "CONTAINS": "contains",
	"And": "and", "Or": "or", "Not": "not", "In": "in", "TRUE": "true", "FALSE": "false", "True": "true", "False": "false",
	"EQ": "==", "NE": "!=", "GT": ">", "LT": "<", "GE": ">=", "LE": "<=", "LK": "matches", "is": "==", "IS": "==",
}

var operatorSlips = map[string]string{"<>": "!=", "=<": "<=", "=>": ">=", "&": "and", "|": "or"}

// tivoliNames are the names that situations of the source documents use, each
// with the formula's name and the name without a group.
var tivoliNames = map[string]string{
	"Queue_Data.Queue_Name":      "QUEUE",
	"Queue_Data.MQ_Manager_Name": "QMGR",
	"Queue_Data.Input_Opens":     "IPPROCS",
	"Queue_Data.Current_Depth":   "CURDEPTH",
}

// findSlips reports all habits in a formula at once; each says how the whole
// formula reads with every one of them mended.
func findSlips(src string) []formulaError {
	toks := scanFormula(src)
	var slips []slip
	var fixed strings.Builder
	for i := 0; i < len(toks); i++ {
		s, used, ok := slipAt(toks, i)
		if !ok {
			fixed.WriteString(toks[i].text)
			continue
		}
		slips = append(slips, s)
		fixed.WriteString(s.fix)
		i += used - 1
	}
	out := make([]formulaError, len(slips))
	for i, s := range slips {
		out[i] = s.formulaError
		if one := strings.Join(strings.Fields(fixed.String()), " "); s.fix != "" && len(one) <= 120 && !strings.Contains(src, "//") {
			out[i].help = append(out[i].help, "write: "+one)
		}
	}
	if len(out) == 0 {
		out = unbalanced(toks)
	}
	return out
}

// slipAt looks for a habit that starts at token i; used is how many tokens it takes.
func slipAt(toks []token, i int) (s slip, used int, ok bool) {
	t := toks[i]
	say := func(from, to int, fix, format string, args ...any) (slip, int, bool) {
		return slip{formulaError{from: from, to: to, code: "syntax", message: fmt.Sprintf(format, args...)}, fix}, 1, true
	}
	next := token{}
	if i+1 < len(toks) {
		next = toks[i+1]
	}
	switch t.kind {
	case tokenWord:
		if fix, bad := wordSlips[t.text]; bad {
			return say(t.from, t.to, fix, "%s is not an operator here; write %s", t.text, fix)
		}
		if t.text == "let" || t.text == "if" || t.text == "else" {
			return say(t.from, t.to, "", "%s is not part of a formula; a formula is one condition", t.text)
		}
	case tokenNumber:
		if next.text == "%" && !operandFollows(toks, i+2) {
			s, _, _ := say(next.from, next.to, share(t.text)+" * MAXDEPTH", "%% is not a unit; compare with a share of another attribute")
			return s, 2, true
		}
		if d, err := time.ParseDuration(t.text); err == nil && d > 0 && !isNumber(t.text) {
			return say(t.from, t.to, strconv.Itoa(int(d/time.Second)), "%s is not a number; times in a formula are whole seconds", t.text)
		}
		switch {
		case strings.Contains(t.text, ".."):
			return say(t.from, t.to, "", "a formula has no ranges; compare with both ends")
		case !isNumber(t.text):
			return say(t.from, t.to, "", "%s is not a number", t.text)
		case tooLarge(t.text):
			return say(t.from, t.to, "", "this number is too large")
		}
	case tokenString:
		if len(t.text) < 2 || t.text[len(t.text)-1] != t.text[0] {
			return say(t.from, t.from+1, "", "this text has no closing quote")
		}
	case tokenOperator:
		return operatorSlip(toks, i, say)
	case tokenSpace:
	}
	return slip{}, 0, false
}

func operatorSlip(toks []token, i int, say func(int, int, string, string, ...any) (slip, int, bool)) (slip, int, bool) {
	t := toks[i]
	switch t.text {
	case "=":
		if i > 0 && (toks[i-1].text == "==" || toks[i-1].text == "!=") {
			return say(t.from, t.to, " ", "%s= does not compare; write %s", toks[i-1].text, toks[i-1].text)
		}
		return say(t.from, t.to, "==", "a single = does not compare; write ==")
	case "&{", "${":
		return nameSlip(toks, i, say)
	case "“", "”", "„", "‘", "’":
		return say(t.from, t.to, `"`, "%s is not a quote here; write \"", t.text)
	case "?", ":":
		return say(t.from, t.to, "", "a formula has no ? and :; join conditions with and, or, not")
	case "??", "?.", "**", "^", "..":
		return say(t.from, t.to, "", "%s has no meaning in a formula", t.text)
	case ";":
		return say(t.from, t.to, "", "a formula is one condition; there is nothing for ; to part")
	}
	if fix, bad := operatorSlips[t.text]; bad {
		return say(t.from, t.to, fix, "%s is not an operator here; write %s", t.text, fix)
	}
	return slip{}, 0, false
}

// nameSlip is ${NAME} or &{Group.Name}, which belong into texts and arguments.
func nameSlip(toks []token, i int, say func(int, int, string, string, ...any) (slip, int, bool)) (slip, int, bool) {
	name := ""
	for j := i + 1; j < len(toks) && toks[j].text != "}"; j++ {
		name += toks[j].text
		if j+1 >= len(toks) || toks[j+1].text != "}" {
			continue
		}
		fix := name
		if known, ok := tivoliNames[name]; ok {
			fix = known
		}
		s, _, _ := say(toks[i].from, toks[j+1].to, fix, "a formula has names without %s}; write %s", toks[i].text, fix)
		return s, j + 2 - i, true
	}
	return say(toks[i].from, toks[i].to, "", "a formula has names without %s}", toks[i].text)
}

// operandFollows tells the remainder 7 % 2 from the unit 80%.
func operandFollows(toks []token, i int) bool {
	for ; i < len(toks); i++ {
		switch toks[i].kind {
		case tokenSpace:
			continue
		case tokenNumber, tokenString:
			return true
		case tokenWord:
			_, habit := wordSlips[toks[i].text]
			return !habit && toks[i].text != "and" && toks[i].text != "or"
		case tokenOperator:
			return toks[i].text == "("
		}
	}
	return false
}

// share is a percentage as a factor: 80 is 0.8.
func share(percent string) string {
	f, err := strconv.ParseFloat(percent, 64)
	if err != nil {
		return "0.8"
	}
	return strconv.FormatFloat(f/100, 'f', -1, 64)
}

func isNumber(s string) bool {
	s = strings.ReplaceAll(s, "_", "")
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return true
	}
	_, err := strconv.ParseInt(s, 0, 64)
	return err == nil
}

// tooLarge: a number of MQ has nine digits, so beyond 64 bits it is a slip.
func tooLarge(s string) bool {
	s = strings.ReplaceAll(s, "_", "")
	if _, err := strconv.ParseInt(s, 0, 64); err == nil || !errors.Is(err, strconv.ErrRange) {
		f, _ := strconv.ParseFloat(s, 64)
		return f > 1e18
	}
	return true
}

// unbalanced finds the first bracket without a partner.
func unbalanced(toks []token) []formulaError {
	partner := map[string]string{")": "(", "]": "[", "}": "{"}
	var open []token
	for _, t := range toks {
		if t.kind != tokenOperator {
			continue
		}
		switch t.text {
		case "(", "[", "{":
			open = append(open, t)
		case ")", "]", "}":
			if len(open) == 0 || open[len(open)-1].text != partner[t.text] {
				return []formulaError{{from: t.from, to: t.to, code: "syntax", message: "this " + t.text + " closes nothing"}}
			}
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t := open[len(open)-1]
		return []formulaError{{from: t.from, to: t.to, code: "syntax", message: "this " + t.text + " is never closed"}}
	}
	return nil
}
