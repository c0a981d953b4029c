package situations

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Print writes the rules out in full: every default filled in and each
// availability as the two situations it stands for.
func Print(rs *RuleSet) []byte {
	var b bytes.Buffer
	if len(rs.Situations) == 0 {
		return []byte("version: 1\nsituations: []\n")
	}
	b.WriteString("version: 1\nsituations:\n")
	for _, s := range rs.Situations {
		p := printer{&b, s}
		p.situation()
	}
	return b.Bytes()
}

type printer struct {
	b *bytes.Buffer
	s *Situation
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.b, "    "+format+"\n", args...) }

func (p *printer) situation() {
	s := p.s
	if s.Availability != "" {
		fmt.Fprintf(p.b, "  # from %s:%d, availability %s\n", s.File, s.Line, s.Availability)
	} else {
		fmt.Fprintf(p.b, "  # from %s:%d\n", s.File, s.Line)
	}
	fmt.Fprintf(p.b, "  - name: %s\n", yamlText(s.Name))
	if s.Description != "" {
		p.line("description: %s", yamlText(s.Description))
	}
	if !s.Enabled {
		p.line("enabled: false")
	}
	watch := string(s.Watch.group()) + ": " + s.Watch.names().yaml("*")
	if !s.Watch.Cluster.Empty() {
		watch += ", cluster: " + s.Watch.Cluster.yaml("*")
	}
	p.line("watch: {%s}", watch)
	zone := ""
	if s.Schedule.loc != nil && s.Schedule.loc != time.Local {
		zone = "   # in the zone " + s.Schedule.loc.String()
	}
	p.line("sample: %s%s", yamlSchedule(&s.Schedule), zone)
	p.line("distribution: %s", s.Distribution.yaml("all"))
	p.line("act_on: %s", map[bool]string{false: "each_item", true: "first_item"}[s.FirstItem])
	p.line("act_at: managed_system")
	p.line("act_again: %s", s.ActAgain.yaml())
	p.conditions()
	p.actions()
	p.alert()
}

// conditions prints what decides, and leaves out what was not said.
func (p *printer) conditions() {
	s := p.s
	p.line("formula: %s", yamlText(s.Formula.String()))
	if s.Recovery != nil {
		p.line("recovery: %s", yamlText(s.Recovery.String()))
	}
	p.line("for: %s", s.For.yaml())
	p.line("clear_for: %s", s.ClearFor.yaml())
	if !s.Until.empty() {
		p.line("until: %s", s.Until.yaml())
	}
	if len(s.Maintenance) > 0 {
		p.line("maintenance:")
	}
	for i := range s.Maintenance {
		p.line("  - %s", s.Maintenance[i].yaml())
	}
	if !s.Guard.empty() {
		p.line("guard: %s", s.Guard.yaml())
	}
	if len(s.Expect) > 0 {
		expect := NewNames(s.Expect...)
		p.line("expect: %s", expect.yaml(""))
	}
	if s.MaxWait > 0 {
		p.line("max_wait: %s", formatDuration(s.MaxWait))
	}
	if s.RenamedFrom != "" {
		p.line("renamed_from: %s", yamlText(s.RenamedFrom))
	}
}

func (p *printer) actions() {
	if len(p.s.Actions) == 0 {
		p.line("actions: []")
	} else {
		p.line("actions:")
	}
	for i := range p.s.Actions {
		p.action(&p.s.Actions[i])
	}
	switch {
	case len(p.s.OnClear) == 1 && p.s.OnClear[0].Verb == VerbRevert:
		p.line("on_clear: revert")
	case len(p.s.OnClear) > 0:
		p.line("on_clear:")
		for i := range p.s.OnClear {
			p.action(&p.s.OnClear[i])
		}
	}
}

func (p *printer) action(a *Action) {
	var head string
	switch a.Verb {
	case VerbExec:
		quoted := make([]string, len(a.Args))
		for i, s := range a.Args {
			quoted[i] = strconv.Quote(s)
		}
		head = "exec: [" + strings.Join(quoted, ", ") + "]"
	case VerbEvent, VerbMQSC, VerbWebhook:
		head = string(a.Verb) + ": " + yamlText(a.Value)
	case VerbRedistribute:
		head = "redistribute: " + a.redistribution()
	case VerbRevert:
		head = "put: ENABLED   # only where " + p.s.Availability + ".idle disabled it; what a person disabled stays"
	case VerbSuspend, VerbResume:
		head = string(a.Verb) + ": true"
		if names := NewNames(a.Clusters...); len(a.Clusters) == 1 {
			head = string(a.Verb) + ": [" + names.yaml("") + "]" // a cluster may be called all
		} else if len(a.Clusters) > 1 {
			head = string(a.Verb) + ": " + names.yaml("")
		}
	case VerbStartChannel, VerbStopChannel:
		head = string(a.Verb) + ": " + cmp.Or(a.Value, "true")
	case VerbPut, VerbRank, VerbPriority, VerbWeight:
		head = string(a.Verb) + ": " + a.Value
	}
	p.line("  - %s", head)
	if a.Verb == VerbRedistribute {
		return
	}
	if a.AllowLast {
		p.line("    allow_last: true")
	}
	if a.UseQ != "" {
		p.line("    useq: %s", a.UseQ)
	}
	if a.OnlyIf != nil {
		p.line("    only_if: %s", yamlText(a.OnlyIf.String()))
	}
	if a.Retry > 0 {
		p.line("    retry: %s", formatDuration(a.Retry))
	}
	if a.Timeout > 0 {
		p.line("    timeout: %s", formatDuration(a.Timeout))
	}
}

func (a *Action) redistribution() string {
	if a.Never {
		return "never"
	}
	var parts []string
	if a.OnlyIf != nil {
		parts = append(parts, "only_if: "+strconv.Quote(a.OnlyIf.String()))
	}
	if a.Retry > 0 {
		parts = append(parts, "retry: "+formatDuration(a.Retry))
	}
	if a.Timeout > 0 {
		parts = append(parts, "timeout: "+formatDuration(a.Timeout))
	}
	if a.Rate > 0 {
		parts = append(parts, "rate: "+strconv.Itoa(a.Rate))
	}
	if a.EvenIfBound {
		parts = append(parts, "even_if_bound: true")
	}
	if len(parts) == 0 {
		return "true"
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p *printer) alert() {
	a := p.s.Alert
	if a == nil {
		return
	}
	p.line("alert:")
	p.line("  severity: %s", a.Severity)
	for _, kv := range [][2]string{{"summary", a.Summary}, {"description", a.Description}, {"runbook", a.Runbook}} {
		if kv[1] != "" {
			p.line("  %s: %s", kv[0], yamlText(kv[1]))
		}
	}
	if len(a.Labels) > 0 {
		p.line("  labels:")
	}
	for _, l := range a.Labels {
		p.line("    %s: %s", l.Name, yamlText(l.Value))
	}
}

// yaml writes the list as it was written, and empty for a list that was not.
func (n *Names) yaml(empty string) string {
	list := n.written
	if len(list) == 0 {
		list = []string{empty}
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = s
		if isPattern(s) || strings.HasPrefix(s, "!") || !wordLike(s) {
			out[i] = strconv.Quote(s)
		}
	}
	if len(out) == 1 {
		return out[0]
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// wordLike: YAML takes it for nothing but a text.
func wordLike(s string) bool {
	if s == "" || s[0] >= '0' && s[0] <= '9' || s[0] == '.' || s[0] == '%' {
		return false
	}
	switch strings.ToLower(s) {
	case "true", "false", "yes", "no", "on", "off", "null", "y", "n":
		return false
	}
	return true
}

// yamlText quotes always: then nothing in a text can mean anything. JSON's quotes
// are YAML's too.
func yamlText(s string) string { return strconv.Quote(s) }

func yamlSchedule(s *Schedule) string {
	if s.Cron != "" {
		if s.OnChange {
			return "{every: " + strconv.Quote(s.Cron) + ", on_change: true}"
		}
		return strconv.Quote(s.Cron)
	}
	return s.String()
}

func (a *ActAgain) yaml() string {
	switch {
	case a.EverySample:
		return "every_sample"
	case a.After > 0:
		return "{after: " + formatDuration(a.After) + "}"
	}
	return "after_false"
}

func (p *Persistence) yaml() string {
	if p.Duration > 0 {
		return formatDuration(p.Duration)
	}
	if p.Samples == 1 {
		return "1 sample"
	}
	return strconv.Itoa(p.Samples) + " samples"
}
