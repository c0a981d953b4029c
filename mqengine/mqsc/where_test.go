package mqsc

import "testing"

func TestGeneric(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "A", true}, {"A*", "A", true}, {"A*", "AB", true}, {"A*", "BA", false},
		{"A", "A", true}, {"A", "AB", false}, {"a", "A", false}, {"", "", true}, {"", "A", false},
	} {
		if got := Generic(tt.pattern, tt.name); got != tt.want {
			t.Errorf("Generic(%q, %q) = %v", tt.pattern, tt.name, got)
		}
	}
}

func TestWhereMatches(t *testing.T) {
	value := func(key string, values ...string) Field { return Field{Key: key, Values: values} }
	for _, tt := range []struct {
		command string
		field   Field
		want    bool
	}{
		{"DIS QL(*) WHERE(CURDEPTH GT 9)", value("CURDEPTH", "10"), true},
		{"DIS QL(*) WHERE(CURDEPTH GT 9)", value("CURDEPTH", "9"), false},
		{"DIS QL(*) WHERE(CURDEPTH GE 9)", value("CURDEPTH", "9"), true},
		{"DIS QL(*) WHERE(CURDEPTH LT 9)", value("CURDEPTH", "10"), false},
		{"DIS QL(*) WHERE(CURDEPTH LE 9)", value("CURDEPTH", "9"), true},
		{"DIS QL(*) WHERE(CURDEPTH EQ 9)", value("CURDEPTH", "9"), true},
		{"DIS QL(*) WHERE(CURDEPTH NE 9)", value("CURDEPTH", "9"), false},
		{"DIS QS(*) WHERE(MSGAGE GE 0)", value("MSGAGE", ""), false}, // MONQ(OFF): unknown is not zero
		{"DIS QS(*) WHERE(MSGAGE NE 5)", value("MSGAGE", ""), false},
		{"DIS QS(*) WHERE(UNCOM GT 0)", value("UNCOM", "NO"), false},
		{"DIS QS(*) WHERE(UNCOM EQ NO)", value("UNCOM", "NO"), true},
		{"DIS QS(*) WHERE(UNCOM GT 0)", value("UNCOM", "3"), true},
		{"DIS QS(*) WHERE(QTIME GT 100)", value("QTIME", "50", "200"), true},
		{"DIS QS(*) WHERE(QTIME GT 300)", value("QTIME", "50", "200"), false},
		{"DIS QMGR WHERE(MAXPROPL EQ NOLIMIT)", value("MAXPROPL", "NOLIMIT"), true},
		{"DIS QL(*) WHERE(PUT EQ disabled)", value("PUT", "DISABLED"), true},
		{"DIS QL(*) WHERE(PUT NE disabled)", value("PUT", "DISABLED"), false},
		{"DIS QL(*) WHERE(CLUSTER NE ' ')", value("CLUSTER", ""), false},
		{"DIS QL(*) WHERE(CLUSTER NE ' ')", value("CLUSTER", "C1"), true},
		{"DIS QL(*) WHERE(DESCR LK 'abc*')", value("DESCR", "abcd"), true},
		{"DIS QL(*) WHERE(DESCR NL 'abc*')", value("DESCR", "abcd"), false},
		{"DIS QL(*) WHERE(ALTDATE GE '2026-01-01')", value("ALTDATE", "2026-02-01"), true},
		{"DIS QL(*) WHERE(ALTDATE LT '2026-01-01')", value("ALTDATE", "2026-02-01"), false},
		{"DIS NL(*) WHERE(NAMES CT A)", value("NAMES", "B", "A"), true},
		{"DIS NL(*) WHERE(NAMES EX A)", value("NAMES", "B", "A"), false},
		{"DIS NL(*) WHERE(NAMES CTG 'AB*')", value("NAMES", "B", "ABC"), true},
		{"DIS NL(*) WHERE(NAMES EXG 'AB*')", value("NAMES", "B", "A"), true},
		{"DIS QL(*) WHERE(TRIGGER EQ YES)", Field{Key: "TRIGGER", Bare: true}, true},
		{"DIS QL(*) WHERE(TRIGGER EQ YES)", Field{Key: "NOTRIGGER", Bare: true}, false},
		{"DIS QL(*) WHERE(TRIGGER NE YES)", Field{Key: "NOTRIGGER", Bare: true}, true},
		{"DIS QL(*) WHERE(TRIGGER EQ NOTRIGGER)", Field{Key: "NOTRIGGER", Bare: true}, true},
	} {
		c, err := Parse(tt.command)
		if err != nil {
			t.Errorf("%s: %v", tt.command, err)
			continue
		}
		if got := c.Where.Match(tt.field); got != tt.want {
			t.Errorf("%s against %s: %v", tt.command, tt.field, got)
		}
	}
}

// Every operator of every type is the opposite of its counterpart on known values.
func TestWhereOpposites(t *testing.T) {
	for _, pair := range [][2]string{{"LT", "GE"}, {"GT", "LE"}, {"EQ", "NE"}} {
		for _, v := range []string{"1", "5", "9"} {
			f := Field{Key: "CURDEPTH", Values: []string{v}}
			a, b := &Where{"CURDEPTH", pair[0], "5"}, &Where{"CURDEPTH", pair[1], "5"}
			if a.Match(f) == b.Match(f) {
				t.Errorf("%s and %s agree on %s", pair[0], pair[1], v)
			}
		}
	}
	if (&Where{"CURDEPTH", "??", "5"}).Match(Field{Key: "CURDEPTH", Values: []string{"5"}}) {
		t.Error("an operator that does not exist matches")
	}
}
