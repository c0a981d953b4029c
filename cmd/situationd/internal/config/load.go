package config

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/situations"
)

// maxFileSize bounds a daemon file.
const maxFileSize = 1 << 20

// ErrLater is wrapped by the error of a file that asks for what a later release brings.
var ErrLater = errors.New("not in this version")

// Load reads a daemon file from disk. The error is set when the file cannot be
// read at all; otherwise the problems say whether the configuration is usable.
func Load(name string) (*Config, []situations.Problem, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFileSize+1))
	if err != nil {
		return nil, nil, err // it names the file
	}
	if len(text) > maxFileSize {
		return nil, nil, fmt.Errorf("%s is larger than %d bytes", name, maxFileSize)
	}
	cfg, problems := Parse(name, text)
	return cfg, problems, nil
}

// Parse checks the text of a daemon file. Paths in it are relative to the
// folder of name. The configuration is nil if there is an error among the problems.
func Parse(name string, text []byte) (*Config, []situations.Problem) {
	r := &reader{file: name, lines: strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")}
	abs, err := filepath.Abs(name)
	if err != nil {
		abs = name
	}
	l := &loader{reader: r, cfg: Default(), dir: filepath.Dir(abs)}
	l.cfg.Path = name
	doc, ok := r.document(text)
	if ok {
		l.top(doc)
	}
	if r.failed() {
		return nil, r.problems
	}
	return &l.cfg, r.problems
}

var yamlLine = regexp.MustCompile(`line (\d+): (.*)`)

// document parses the YAML and gives the top node of its only document.
func (r *reader) document(text []byte) (*yaml.Node, bool) {
	var doc yaml.Node
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	err := decoder.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && len(doc.Content) == 0) {
		r.errorf(nil, "missing", "write queue_manager: {name: QM1}", "the file is empty")
		return nil, false
	}
	if err != nil {
		at, message := &yaml.Node{Line: 1, Column: 1}, strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			at.Line, _ = strconv.Atoi(m[1])
			message = m[2]
		}
		r.errorf(at, "yaml", "", "%s", message)
		return nil, false
	}
	var second yaml.Node
	if err := decoder.Decode(&second); err == nil {
		r.errorf(&second, "yaml", "", "the file has more than one document")
		return nil, false
	}
	return doc.Content[0], true
}

// loader fills a Config from the nodes of a file.
type loader struct {
	*reader
	cfg Config
	dir string
	// peersNode is where the peers stand.
	peersNode *yaml.Node
}

func (l *loader) top(n *yaml.Node) {
	var named, ruled bool
	l.mapping(n, "the daemon file",
		key{"queue_manager", func(v *yaml.Node) { named = true; l.queueManager(v) }},
		key{"rules", func(v *yaml.Node) { ruled = true; l.rules(v) }},
		key{"data", func(v *yaml.Node) {
			if dir, ok := l.text(v, "data"); ok {
				l.cfg.Data = l.abs(dir)
			}
		}},
		key{"http", l.http},
		key{"alertmanagers", l.alertmanagers},
		key{"peers", l.peers},
		key{"journal", l.journal},
		key{"exec", l.exec},
		key{"mqsc", l.mqsc},
		key{"limits", l.limits},
		key{"startup_grace", func(v *yaml.Node) {
			l.cfg.GraceSet = l.duration(v, "startup_grace", 0, &l.cfg.StartupGrace)
		}},
		key{"log", l.log},
	)
	l.checkPeers()
	if !named && n.Kind == yaml.MappingNode {
		l.errorf(n, "missing", "write queue_manager: {name: QM1}", "the file names no queue_manager")
	}
	if !ruled && n.Kind == yaml.MappingNode {
		l.errorf(n, "missing", "write rules: [rules.yaml]", "the file names no rules")
	}
}

func (l *loader) queueManager(n *yaml.Node) {
	qm := &l.cfg.QueueManager
	var hosted *yaml.Node
	l.mapping(n, "queue_manager",
		key{"name", func(v *yaml.Node) {
			name, ok := l.text(v, "name")
			if !ok {
				return
			}
			if err := checkName(name); err != nil {
				l.errorf(v, "name", "", "%v", err)
				return
			}
			qm.Name = name
		}},
		key{"connect", func(v *yaml.Node) {
			word := string(qm.Connect)
			l.choice(v, "connect", &word, string(Hosted), string(Local), string(MQWeb), string(RunMQSC))
			qm.Connect = Connect(word)
			if qm.Connect == MQWeb || qm.Connect == RunMQSC {
				l.errorf(v, "later", "this version has hosted and local", "connect: %s is %v", word, ErrLater)
			}
		}},
		key{"hosted", func(v *yaml.Node) { hosted = v }},
	)
	if n.Kind == yaml.MappingNode && qm.Name == "" && !l.failed() {
		l.errorf(n, "missing", "write name: QM1", "queue_manager has no name")
	}
	if hosted != nil {
		l.hosted(hosted)
		if qm.Connect != Hosted {
			l.errorf(hosted, "connect", "write connect: hosted", "hosted has no effect with connect: %s", qm.Connect)
		}
	}
}

func (l *loader) hosted(n *yaml.Node) {
	h := &l.cfg.QueueManager.Hosted
	l.mapping(n, "hosted",
		key{"listen", func(v *yaml.Node) {
			if v.Value != "none" { // as with strmqm: no other queue manager reaches this one
				l.address(v, "listen", &h.Listen)
			}
		}},
		key{"mqsc", func(v *yaml.Node) {
			l.list(v, "mqsc", func(item *yaml.Node) {
				if file, ok := l.existing(item, "an MQSC file"); ok {
					h.MQSC = append(h.MQSC, file)
				}
			})
		}},
		key{"workload", func(v *yaml.Node) { l.choice(v, "workload", &h.Workload, "modern", "v6") }},
	)
}

// rules takes files, which must exist, and globs, which may match nothing yet.
func (l *loader) rules(n *yaml.Node) {
	l.list(n, "rules", func(item *yaml.Node) {
		text, ok := l.text(item, "a rule file")
		if !ok {
			return
		}
		pattern := l.abs(text)
		l.cfg.RulePatterns = append(l.cfg.RulePatterns, pattern)
		files, err := expand(pattern)
		switch {
		case err != nil:
			l.errorf(item, "pattern", "", "%s is not a pattern: %v", text, err)
		case len(files) == 0 && !isPattern(pattern):
			l.errorf(item, "file", "", "there is no file %s", pattern)
		case len(files) == 0:
			l.warnf(item, "file", "", "no file matches %s", pattern)
		}
		l.cfg.Rules = append(l.cfg.Rules, files...)
	})
	if len(n.Content) == 0 && n.Kind == yaml.SequenceNode {
		l.errorf(n, "missing", "write rules: [rules.yaml]", "rules is empty")
	}
}

func isPattern(path string) bool { return strings.ContainsAny(path, `*?[\`) }

func expand(pattern string) ([]string, error) {
	if !isPattern(pattern) {
		if info, err := os.Stat(pattern); err != nil || info.IsDir() {
			return nil, nil // the caller says that there is no such file
		}
		return []string{pattern}, nil
	}
	files, err := filepath.Glob(pattern)
	sort.Strings(files)
	return files, err
}

// RuleFiles names the files that the patterns match now, each once.
func (c *Config) RuleFiles() ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, pattern := range c.RulePatterns {
		matched, err := expand(pattern)
		if err != nil {
			return nil, fmt.Errorf("rules %s: %w", pattern, err)
		}
		if len(matched) == 0 && !isPattern(pattern) {
			return nil, fmt.Errorf("there is no file %s", pattern)
		}
		for _, file := range matched {
			if !seen[file] {
				seen[file] = true
				files = append(files, file)
			}
		}
	}
	return files, nil
}

func (l *loader) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(l.dir, path)
}

func (l *loader) existing(n *yaml.Node, what string) (string, bool) {
	text, ok := l.text(n, what)
	if !ok {
		return "", false
	}
	file := l.abs(text)
	if info, err := os.Stat(file); err != nil || info.IsDir() {
		l.errorf(n, "file", "", "there is no file %s", file)
		return "", false
	}
	return file, true
}

func (l *loader) address(n *yaml.Node, what string, into *string) {
	value, ok := l.text(n, what)
	if !ok {
		return
	}
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		l.errorf(n, "address", "write 127.0.0.1:1414", "%s is host:port, not %s", what, value)
		return
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		l.errorf(n, "address", "", "%s is not a port; ports are numbers from 0 to 65535", port)
		return
	}
	*into = value
}

// httpURL reads an absolute http or https address without a trailing slash.
func (l *loader) httpURL(n *yaml.Node, what string) (string, bool) {
	value, ok := l.text(n, what)
	if !ok {
		return "", false
	}
	u, err := url.Parse(value)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		l.errorf(n, "url", "write http://127.0.0.1:9093", "%s is an http or https address, not %s", what, value)
		return "", false
	}
	if u.User != nil {
		l.errorf(n, "secret", "", "%s has a password in it; passwords do not belong in this file", what)
		return "", false
	}
	return strings.TrimSuffix(value, "/"), true
}

// checkName says why a text cannot name a queue manager that has a folder.
func checkName(name string) error {
	if name == "." || name == ".." {
		return fmt.Errorf("a queue manager cannot be called %q", name)
	}
	return object.CheckName(object.QMgr, name)
}
