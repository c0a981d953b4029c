package selector

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

type bag map[string]Value

func (b bag) Property(name string) Value { return b[name] }

func text(s string) Value { return Value{Kind: String, Str: s} }
func whole(n int64) Value { return Value{Kind: Int, Int: n} }

var message = bag{
	"colour": text("red"), "weight": whole(2500), "price": {Kind: Float, Float: 1.5}, "urgent": {Kind: Bool, Bool: true},
	"late": {Kind: Bool}, "key": {Kind: Bytes, Str: "\x0a\xfc"}, "name": text("A_b%c"), "empty": text(""),
	"Root.MQMD.Priority": whole(7), "$x_1": whole(-3),
}

// TestConditions: what each kind of condition says of one message.
func TestConditions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want bool
	}{
		{"colour = 'red'", true}, {"colour <> 'red'", false}, {"colour = 'RED'", false}, {"Colour = 'red'", false},
		{"weight > 2000 AND price < 2", true}, {"weight >= 2500 and weight <= 2500", true}, {"weight = 2500.0", true},
		{"weight < 0x9C5", true}, {"weight = 2.5e3", true}, {"price * 2 = 3", true}, {"weight / 1000 = 2", true},
		{"weight - -1 = 2501", true}, {"-weight < 0", true}, {"+weight > 0", true}, {"2 + 3 * 4 = 14", true},
		{"(2 + 3) * 4 = 20", true}, {"10 - 4 - 3 = 3", true}, {"weight / 0 = 1", false}, {"NOT (weight / 0 = 1)", false},
		{"urgent", true}, {"NOT urgent", false}, {"late", false}, {"urgent = TRUE", true}, {"late = FALSE", true},
		{"urgent <> late", true}, {"urgent > late", false}, {"TRUE", true}, {"FALSE OR urgent", true},
		{"weight BETWEEN 2000 AND 3000", true}, {"weight NOT BETWEEN 2000 AND 3000", false},
		{"colour IN ('blue', 'red')", true}, {"colour NOT IN ('blue')", true}, {"weight IN ('2500')", false},
		{"missing IN ('a')", false}, {"missing NOT IN ('a')", false},
		{"colour LIKE 'r%'", true}, {"colour LIKE '_e_'", true}, {"colour LIKE 'r_'", false}, {"colour NOT LIKE 'b%'", true},
		{`name LIKE 'A\_b\%c' ESCAPE '\'`, true}, {`name LIKE 'A\_b\%d' ESCAPE '\'`, false}, {"empty LIKE '%'", true},
		{"empty LIKE '_'", false}, {"weight LIKE '%'", false}, {"missing LIKE '%'", false},
		{"missing IS NULL", true}, {"colour IS NULL", false}, {"colour IS NOT NULL", true}, {"missing IS NOT NULL", false},
		{"missing = 1", false}, {"NOT (missing = 1)", false}, {"missing = 1 OR urgent", true}, {"missing = 1 AND urgent", false},
		{"NOT (missing = 1 AND late)", true}, {"NOT (missing = 1 OR urgent)", false}, {"missing <> 1", false},
		{"colour = 1", false}, {"colour <> 1", false}, {"colour > 'a'", false}, {"colour + 1 = 2", false},
		{`key = "0x0AFC"`, true}, {`key <> "0x0a"`, true}, {`colour = "0x72"`, false},
		{"Root.MQMD.Priority = 7", true}, {"$x_1 = -3", true}, {"colour = 'it''s'", false}, {"'it''s' = 'it''s'", true},
		{"colour = 'red' OR weight = 1 AND weight = 2", true}, {"(colour = 'red' OR weight = 1) AND weight = 2", false},
		{"NOT colour = 'blue'", true}, {"weight = 2500L", true}, {"price > .5", true},
	} {
		s, err := Compile(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := s.Matches(message); got != c.want {
			t.Errorf("%s: got %v, want %v", c.text, got, c.want)
		}
	}
}

// TestWrongStrings: every error says where and what.
func TestWrongStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "at character 1: a property, a literal or a bracket is expected, not the end",
		"weight":                            "",
		"1 + 1":                             "at character 1: the whole string must be a condition, not a value",
		"'red'":                             "at character 1: the whole string must be a condition, not a value",
		"colour = 'red":                     "at character 10: a string without its closing quote",
		"colour == 'red'":                   "at character 9: a property, a literal or a bracket is expected, not \"=\"",
		"colour = \"red\"":                  "at character 10: a byte string is \"0x\" with pairs of hexadecimal digits; strings take single quotes",
		"(colour = 'red'":                   "at character 16: \")\" is expected, not the end",
		"colour = 'red')":                   "at character 15: \")\" is not expected here",
		"weight = 99999999999999999999":     "at character 10: 99999999999999999999 is not a whole number of 64 bits",
		"weight = 1abc":                     "at character 10: 1 is not a whole number of 64 bits",
		"weight # 1":                        "at character 8: character '#' has no meaning here",
		"weight NOT 1":                      "at character 12: BETWEEN, IN or LIKE is expected behind NOT, not a literal",
		"weight BETWEEN 1":                  "at character 17: \"AND\" is expected, not the end",
		"colour IN (1)":                     "at character 12: a list takes strings, not a literal",
		"colour LIKE 1":                     "at character 13: LIKE takes strings, not a literal",
		"colour LIKE 'a' ESCAPE 'ab'":       "at character 13: ESCAPE takes one character",
		"colour LIKE '!a' ESCAPE '!'":       "at character 13: the escape character stands before %, _ or itself",
		"1 IS NULL":                         "at character 10: IS NULL takes the name of a property",
		"colour = 'red' AND 1":              "at character 16: AND joins conditions, not values",
		"NOT 1":                             "at character 1: NOT takes a condition",
		strings.Repeat("(", 300):            "at character 202: nested deeper than 200",
		strings.Repeat("NOT ", 300) + "a":   "at character 805: nested deeper than 200",
		strings.Repeat("a OR ", 3000) + "a": "at character 10241: a selection string has 10240 bytes at most",
		"a = '\xff'":                        "at character 1: a selection string is UTF-8",
	} {
		_, err := Compile(text)
		var bad *SyntaxError
		switch {
		case want == "":
			if err != nil {
				t.Errorf("%.40s: %v", text, err)
			}
		case !errors.As(err, &bad) || err.Error() != want:
			t.Errorf("%.40s: got %v, want %s", text, err, want)
		}
	}
}

// TestThreeValuedLogic: AND, OR and NOT over all values, also by De Morgan.
func TestThreeValuedLogic(t *testing.T) {
	t.Parallel()
	values := map[string]Value{"t": {Kind: Bool, Bool: true}, "f": {Kind: Bool}, "u": {}}
	and := map[string]string{"tt": "t", "tf": "f", "tu": "u", "ft": "f", "ff": "f", "fu": "f", "ut": "u", "uf": "f", "uu": "u"}
	or := map[string]string{"tt": "t", "tf": "t", "tu": "t", "ft": "t", "ff": "f", "fu": "u", "ut": "t", "uf": "u", "uu": "u"}
	is := func(text, want string) {
		src := bag(values)
		yes, no := mustCompile(t, text).Matches(src), mustCompile(t, "NOT ("+text+")").Matches(src)
		got := "u"
		if yes {
			got = "t"
		} else if no {
			got = "f"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	for _, a := range []string{"t", "f", "u"} {
		for _, b := range []string{"t", "f", "u"} {
			is(a+" AND "+b, and[a+b])
			is(a+" OR "+b, or[a+b])
			is("NOT (NOT "+a+" OR NOT "+b+")", and[a+b])
		}
	}
}

func mustCompile(t testing.TB, text string) *Selector {
	t.Helper()
	s, err := Compile(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// TestLikeAgainstSlowMatcher: the matcher agrees with plain backtracking.
func TestLikeAgainstSlowMatcher(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pat := rapid.StringMatching("[ab%_]{0,8}").Draw(t, "pattern")
		s := rapid.StringMatching("[abä]{0,10}").Draw(t, "text")
		p, _ := newPattern(pat, "")
		if got, want := p.matches(s), slowLike([]rune(pat), []rune(s)); got != want {
			t.Fatalf("%q LIKE %q: got %v, want %v", s, pat, got, want)
		}
	})
}

// TestLikeStopsAtLongStrings: a string that is too long is neither like nor unlike anything.
func TestLikeStopsAtLongStrings(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{maxLike: true, maxLike + 1: false} {
		src := bag{"a": text(strings.Repeat("x", size))}
		if got := mustCompile(t, "a LIKE 'x%'").Matches(src); got != want {
			t.Errorf("%d bytes: got %v, want %v", size, got, want)
		}
		if mustCompile(t, "a NOT LIKE 'x%'").Matches(src) {
			t.Errorf("%d bytes: not like", size)
		}
	}
}

func slowLike(p, s []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '%':
		return slowLike(p[1:], s) || len(s) > 0 && slowLike(p, s[1:])
	}
	return len(s) > 0 && (p[0] == '_' || p[0] == s[0]) && slowLike(p[1:], s[1:])
}

// FuzzCompile: whatever comes, there is an answer, and it is the same each time.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{"colour = 'red' AND weight > 2e3", "a LIKE '%!_' ESCAPE '!'", "x NOT BETWEEN -1 AND +2", `k = "0x0aFC" OR NOT b IS NULL`, "(((", "'", "1.e", "0x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Compile(text)
		if err != nil {
			return
		}
		if s.Text() != text || s.Matches(message) != mustCompile(t, text).Matches(message) {
			t.Fatalf("%q: two answers", text)
		}
	})
}
