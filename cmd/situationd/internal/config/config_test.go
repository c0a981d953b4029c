package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/situationd/situationd/situations"
)

// folder makes a folder with the files that the daemon files of the tests name.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"rules.yaml", "more-a.yaml", "more-b.yaml", "qm2.mqsc", "web.yml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const everyKey = `queue_manager:
  name: QM2
  connect: hosted
  hosted: {listen: "127.0.0.1:1415", mqsc: [qm2.mqsc], workload: v6}
rules: [rules.yaml, "more-*.yaml"]
data: state
http: {listen: "127.0.0.1:9420", web_config: web.yml}
alertmanagers: [{url: "http://127.0.0.1:9093/"}]
peers: []
journal: {path: journal/a.jsonl, on_failure: warn}
exec: {allow: [more-a.yaml]}
mqsc: {allow: [alter]}
limits: {budget: 7, breaker: off, ledger_ttl: 2m}
startup_grace: 0s
log: {level: debug, format: json}
`

func TestParse_EveryKey_IsRead(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	in := func(name string) string { return filepath.Join(dir, name) }
	got, problems := Parse(in("situationd.yaml"), []byte(everyKey))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want := &Config{
		Path: in("situationd.yaml"),
		QueueManager: QueueManager{Name: "QM2", Connect: Hosted,
			Hosted: HostedOptions{Listen: "127.0.0.1:1415", MQSC: []string{in("qm2.mqsc")}, Workload: "v6"}},
		RulePatterns:  []string{in("rules.yaml"), in("more-*.yaml")},
		Rules:         []string{in("rules.yaml"), in("more-a.yaml"), in("more-b.yaml")},
		Data:          in("state"),
		HTTP:          &HTTP{Listen: "127.0.0.1:9420", WebConfig: in("web.yml")},
		Alertmanagers: []string{"http://127.0.0.1:9093"},
		Journal:       Journal{Path: "journal/a.jsonl", OnFailure: "warn"},
		ExecAllow:     []string{in("more-a.yaml")},
		MQSCAllow:     []string{"ALTER"},
		Limits:        Limits{Budget: 7, LedgerTTL: 2 * time.Minute},
		GraceSet:      true,
		Log:           Log{Level: "debug", Format: "json"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestParse_OnlyWhatIsRequired_TakesDefaults(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	got, problems := Parse(filepath.Join(dir, "d.yaml"), []byte("queue_manager: {name: QM2}\nrules: [rules.yaml]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if got.QueueManager.Connect != Local || got.HTTP != nil || got.GraceSet || got.StartupGrace != 10*time.Second {
		t.Errorf("defaults: %+v", got)
	}
}

// What --print shows can be read again and means the same.
func TestPrint_ReadAgain_IsTheSame(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for _, text := range []string{everyKey, "queue_manager: {name: QM2}\nrules: [rules.yaml]\n"} {
		first, problems := Parse(filepath.Join(dir, "d.yaml"), []byte(text))
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		var printed bytes.Buffer
		if err := first.Print(&printed); err != nil {
			t.Fatal(err)
		}
		second, problems := Parse(filepath.Join(dir, "d.yaml"), printed.Bytes())
		if len(problems) > 0 {
			t.Fatalf("%v in\n%s", problems, printed.String())
		}
		if diff := cmp.Diff(first, second); diff != "" {
			t.Errorf("-first +second:\n%s", diff)
		}
	}
}

// Every mistake has one message with its position.
func TestParse_Mistakes_AreToldWithPositionAndFix(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	const good = "queue_manager: {name: QM2}\nrules: [rules.yaml]\n"
	for _, c := range []struct{ text, want string }{
		{"", "1:1: error: the file is empty [missing]"},
		{"[]\n", "1:1: error: the daemon file is a mapping of keys to values [type]"},
		{"rules: [rules.yaml]\n", "1:1: error: the file names no queue_manager [missing]"},
		{"queue_manager: {name: QM2}\n", "1:1: error: the file names no rules [missing]"},
		{"queue_manager: {nam: QM2}\nrules: [rules.yaml]\n", "1:17: error: queue_manager has no key nam; did you mean name? [unknown-key]"},
		{"queue_manager: {connect: local}\nrules: [rules.yaml]\n", "1:16: error: queue_manager has no name [missing]"},
		{"queue_manager: {name: Q M}\nrules: [rules.yaml]\n", "1:23: error: the name \"Q M\" holds ' ': only A-Z a-z 0-9 . / _ % are allowed [name]"},
		{"queue_manager: {name: QM2, connect: mqweb}\nrules: [rules.yaml]\n", "1:37: error: connect: mqweb is not in this version [later]"},
		{"queue_manager: {name: QM2, connect: hostd}\nrules: [rules.yaml]\n", "1:37: error: connect is one of hosted, local, mqweb, runmqsc, not hostd; did you mean hosted? [unknown-value]"},
		{"queue_manager: {name: QM2, hosted: {listen: \"127.0.0.1:1\"}}\nrules: [rules.yaml]\n", "1:36: error: hosted has no effect with connect: local [connect]"},
		{"queue_manager: {name: QM2, connect: hosted, hosted: {mqsc: [no.mqsc]}}\nrules: [rules.yaml]\n", "1:61: error: there is no file " + filepath.Join(dir, "no.mqsc") + " [file]"},
		{good + "http: {listen: 9420}\n", "3:16: error: listen is host:port, not 9420 [address]"},
		{good + "http: {listen: \"127.0.0.1:99999\"}\n", "3:16: error: 99999 is not a port; ports are numbers from 0 to 65535 [address]"},
		{good + "http: {}\n", "3:7: error: http has no listen address [missing]"},
		{good + "alertmanagers: [{url: \"127.0.0.1:9093\"}]\n", "3:23: error: url is an http or https address, not 127.0.0.1:9093 [url]"},
		{good + "alertmanagers: [{url: \"http://me:secret@h\"}]\n", "3:23: error: url has a password in it; passwords do not belong in this file [secret]"},
		{good + "peers: [{url: \"ftp://h\"}]\n", "3:15: error: url is an http or https address, not ftp://h [url]"},
		{good + "peers: [{}]\n", "3:9: error: a peer has no url [missing]"},
		{good + "peers: [{url: \"http://h\"}, {url: \"http://h/\"}]\n", "3:28: error: http://h stands here twice [twice]"},
		{good + "limits: {budget: many}\n", "3:18: error: budget is a whole number from 1 to 100000, not many [range]"},
		{good + "startup_grace: 10\n", "3:16: error: 10 has no unit [duration]"},
		{good + "startup_grace: soon\n", "3:16: error: soon is not a duration [duration]"},
		{good + "data: !x\n", "3:7: error: a value that starts with ! is a tag to YAML and would be lost [yaml]"},
		{good + "rules: [rules.yaml]\n", "3:1: error: rules stands in the daemon file twice; the first is on line 2 [twice]"},
		{"queue_manager: {name: QM2}\nrules: rules.yaml\n", "2:8: error: rules is a list [type]"},
		{"queue_manager: {name: QM2}\nrules: [none.yaml]\n", "2:9: error: there is no file " + filepath.Join(dir, "none.yaml") + " [file]"},
		{"a: [\n", "1:1: error: did not find expected node content [yaml]"},
		{good + "---\na: b\n", "3:1: error: the file has more than one document [yaml]"},
	} {
		file := filepath.Join(dir, "d.yaml")
		cfg, problems := Parse(file, []byte(c.text))
		if len(problems) != 1 || cfg != nil {
			t.Errorf("%q: %v", c.text, problems)
			continue
		}
		if got := strings.TrimPrefix(problems[0].String(), file+":"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestParse_OpenPort_Warns(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	cfg, problems := Parse(filepath.Join(dir, "d.yaml"), []byte("queue_manager: {name: QM2}\nrules: [rules.yaml]\nhttp: {listen: \"0.0.0.0:9420\"}\n"))
	if cfg == nil || len(problems) != 1 || problems[0].Severity != situations.SeverityWarning || problems[0].Code != "open" {
		t.Errorf("%v", problems)
	}
}

func TestParse_ManyMistakes_AreBounded(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&text, "key%d: 1\n", i)
	}
	if _, problems := Parse("d.yaml", []byte(text.String())); len(problems) != maxProblems {
		t.Errorf("%d problems, want %d", len(problems), maxProblems)
	}
}

func TestLoad_TooLarge_IsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "d.yaml")
	if err := os.WriteFile(file, bytes.Repeat([]byte("#\n"), maxFileSize), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Load(file); err == nil {
		t.Error("a file of 2 MiB was read")
	}
	if _, _, err := Load(file + "x"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestRuleFiles_GlobGrows_IsSeen(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	cfg, problems := Parse(filepath.Join(dir, "d.yaml"), []byte("queue_manager: {name: Q}\nrules: [\"more-*.yaml\", more-b.yaml]\n"))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if err := os.WriteFile(filepath.Join(dir, "more-0.yaml"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := cfg.RuleFiles()
	want := []string{filepath.Join(dir, "more-0.yaml"), filepath.Join(dir, "more-a.yaml"), filepath.Join(dir, "more-b.yaml")}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(everyKey))
	f.Add([]byte("queue_manager: {name: QM2}\nrules: [rules.yaml]\n"))
	f.Add([]byte("a: &x [*x]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, problems := Parse("d.yaml", text)
		failed := false
		for _, p := range problems {
			failed = failed || p.Severity == situations.SeverityError
			if p.Line < 1 || p.Column < 1 || p.Message == "" {
				t.Errorf("problem without place or text: %+v", p)
			}
		}
		if failed == (cfg != nil) {
			t.Errorf("configuration %v with problems %v", cfg, problems)
		}
	})
}
