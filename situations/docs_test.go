package situations

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func rulesDoc(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestDocs_NameEveryKey(t *testing.T) {
	t.Parallel()
	doc := rulesDoc(t)
	for _, k := range Keys() {
		if !strings.Contains(doc, "`"+k.Name+"`") && !strings.Contains(doc, "`"+k.Name+":") {
			t.Errorf("docs/rules.md does not name the key %s of %s", k.Name, k.Place)
		}
		if k.Doc == "" {
			t.Errorf("the key %s of %s is not described", k.Name, k.Place)
		}
	}
}

func TestDocs_NameEveryAttribute(t *testing.T) {
	t.Parallel()
	doc := rulesDoc(t)
	var all []Attribute
	for _, g := range Groups() {
		all = append(all, AttributeTable(g)...)
	}
	for _, a := range all {
		if !strings.Contains(doc, "`"+a.Name+"`") {
			t.Errorf("docs/rules.md does not name the attribute %s", a.Name)
		}
		for _, v := range a.Values {
			if !strings.Contains(doc, v) {
				t.Errorf("docs/rules.md does not name the value %s of %s", v, a.Name)
			}
		}
		if a.Doc == "" || a.Command == "" {
			t.Errorf("the attribute %s is not described", a.Name)
		}
	}
	for _, name := range append(append([]string{}, functionNames...), laterNames...) {
		if !strings.Contains(doc, name) {
			t.Errorf("docs/rules.md does not name %s", name)
		}
	}
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocs_ExamplesHold: what the document shows must load, and its test pass.
func TestDocs_ExamplesHold(t *testing.T) {
	t.Parallel()
	blocks := yamlBlock.FindAllStringSubmatch(rulesDoc(t), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	rules, test := blocks[0][1], blocks[1][1]
	if rs, ps := Load(File{Name: "rules.yaml", Data: []byte(rules)}); rs == nil || len(ps) > 0 {
		t.Errorf("the example has findings:\n%s", FormatText(ps))
	}
	report, ps := RunTests(File{Name: "rules_test.yaml", Data: []byte(test)}, TestOptions{
		Read: func(string) ([]byte, error) { return []byte(rules), nil }, Actor: newPlainActor,
	})
	if len(ps) > 0 || report == nil {
		t.Fatalf("the test has findings:\n%s", FormatText(ps))
	}
	for _, r := range report.Tests {
		for _, f := range r.Failures {
			t.Error(f.String())
		}
	}
}

func TestExamples_Load(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"article.yaml", "rules.yaml", "channels.yaml"} {
		b, err := os.ReadFile("../examples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		rs, ps := Load(File{Name: name, Data: b})
		if rs == nil {
			t.Errorf("%s:\n%s", name, FormatText(ps))
		}
	}
	b, err := os.ReadFile("../examples/rules_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	report, ps := RunTests(File{Name: "../examples/rules_test.yaml", Data: b}, TestOptions{Read: os.ReadFile, Actor: newPlainActor})
	if report == nil || !report.Passed() {
		t.Errorf("the example's tests: %+v\n%s", report, FormatText(ps))
	}
}
