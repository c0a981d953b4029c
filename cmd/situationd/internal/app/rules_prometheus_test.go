package app

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/situationd/situationd/actions"
)

const (
	prometheusRules = "../../../../examples/prometheus.rules.yml"
	prometheusTests = "../../../../examples/prometheus.rules_test.yml"
)

// alertingRule is a rule as Prometheus reads it.
type alertingRule struct {
	Alert, Expr string
}

func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func alertingRules(t *testing.T) []alertingRule {
	t.Helper()
	var file struct {
		Groups []struct{ Rules []alertingRule }
	}
	readYAML(t, prometheusRules, &file)
	var rules []alertingRule
	for _, g := range file.Groups {
		rules = append(rules, g.Rules...)
	}
	if len(rules) == 0 {
		t.Fatalf("%s has no rules", prometheusRules)
	}
	return rules
}

// Parts of PromQL that are no names of metrics, as far as the rules go.
var (
	promString    = regexp.MustCompile(`"[^"]*"`)
	promMatchers  = regexp.MustCompile(`([a-z_]+)\{([^}]*)\}`)
	promOnLabels  = regexp.MustCompile(`\b(?:on|by|ignoring|without) \(([^)]*)\)`)
	promRange     = regexp.MustCompile(`\[[0-9a-z]+\]|\boffset [0-9a-z]+`)
	promWord      = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)
	promMatcher   = regexp.MustCompile(`([a-z_]+)=`)
	promGuards    = regexp.MustCompile(`guard=~?"([^"]*)"`)
	promLanguage  = []string{"absent", "and", "changes", "increase", "or", "time", "unless"}
	scrapeLabels  = []string{"job", "instance"}
	scrapeMetrics = []string{"up"} // Prometheus's own
)

// metricsOf gives the metrics of an expression, each with the labels it is asked by.
func metricsOf(expr string) map[string][]string {
	found := map[string][]string{}
	expr = promString.ReplaceAllString(expr, "")
	for _, m := range promMatchers.FindAllStringSubmatch(expr, -1) {
		for _, label := range promMatcher.FindAllStringSubmatch(m[2], -1) {
			found[m[1]] = append(found[m[1]], label[1])
		}
	}
	expr = promMatchers.ReplaceAllString(expr, "$1")
	expr = promOnLabels.ReplaceAllString(expr, "")
	expr = promRange.ReplaceAllString(expr, "")
	for _, word := range promWord.FindAllString(expr, -1) {
		if !slices.Contains(promLanguage, word) && found[word] == nil {
			found[word] = []string{}
		}
	}
	return found
}

// The rules on the daemon ask for metrics and labels that it has, and for guards
// that there are: a name that nobody exposes makes an alert that never comes.
func TestApp_PrometheusRules_AskForWhatTheDaemonExposes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, hostedFile+"alertmanagers: [{url: \"http://127.0.0.1:9\"}]\n", idleRules)
	d := w.start(Options{})
	w.eventually("ready", func() bool { return d.Ready() == nil })
	exposed := map[string][]string{}
	_, page := get(t, "http://"+d.Addr()+"/metrics") // of the process, too
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (\S+) `).FindAllStringSubmatch(page, -1) {
		exposed[m[1]] = nil
	}
	for _, f := range d.families() { // those without a value at the moment, too
		exposed[f.Name] = f.Labels
	}
	for _, name := range scrapeMetrics {
		exposed[name] = nil
	}
	for _, rule := range alertingRules(t) {
		for name, labels := range metricsOf(rule.Expr) {
			have, ok := exposed[name]
			if !ok {
				t.Errorf("%s asks for %s, which is no metric of the daemon", rule.Alert, name)
				continue
			}
			for _, label := range labels {
				if !slices.Contains(have, label) && !slices.Contains(scrapeLabels, label) {
					t.Errorf("%s asks for the label %s, which %s has not", rule.Alert, label, name)
				}
			}
		}
		guards := []string{
			string(actions.HoldBreaker), string(actions.HoldConflict), string(actions.HoldPeers), string(actions.HoldRepository),
			string(actions.HoldUnknown), string(actions.HoldJournal), string(actions.HoldLastInstance),
		}
		for _, m := range promGuards.FindAllStringSubmatch(rule.Expr, -1) {
			for _, guard := range strings.Split(m[1], "|") {
				if !slices.Contains(guards, guard) {
					t.Errorf("%s asks for the guard %q, which is none", rule.Alert, guard)
				}
			}
		}
	}
}

// Every alert is seen to fire in the rule tests, and is in docs/operations.md.
func TestApp_PrometheusRules_AreTestedAndDocumented(t *testing.T) {
	t.Parallel()
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert  string      `yaml:"alertname"`
				Expect []yaml.Node `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	readYAML(t, prometheusTests, &file)
	fires := map[string]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			fires[c.Alert] = fires[c.Alert] || len(c.Expect) > 0
		}
	}
	text, err := os.ReadFile("../../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	var have, documented []string
	for _, rule := range alertingRules(t) {
		have = append(have, rule.Alert)
		if !fires[rule.Alert] {
			t.Errorf("no test of %s sees %s fire", prometheusTests, rule.Alert)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `(Situationd[A-Za-z]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	slices.Sort(have)
	slices.Sort(documented)
	if !slices.Equal(have, documented) {
		t.Errorf("docs/operations.md has the alerts\n%v, the rules\n%v", documented, have)
	}
}

func TestMetricsOf_Expressions(t *testing.T) {
	t.Parallel()
	got := metricsOf(`(time() - a_b{x="1", y=~"up|to"} > 9 or c == 0) unless on (job, instance) increase(d[15m] offset 2h) > 0`)
	for name, labels := range map[string][]string{"a_b": {"x", "y"}, "c": {}, "d": {}} {
		if !slices.Equal(got[name], labels) {
			t.Errorf("%s: %v, want %v", name, got[name], labels)
		}
	}
	if len(got) != 3 {
		t.Errorf("found %v", got)
	}
}
