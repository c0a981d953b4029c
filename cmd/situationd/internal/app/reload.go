package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/adapt"
	"github.com/situationd/situationd/cmd/situationd/internal/httpapi"
	"github.com/situationd/situationd/situations"
)

// pollEvery is how often the contents of the files are compared.
const pollEvery = 2 * time.Second

// maxRuleFile bounds one rule file.
const maxRuleFile = 4 << 20

// ErrBadFiles is wrapped when files were read and are wrong; the text beside it says how.
var ErrBadFiles = errors.New("the files are not loaded")

// errNoReload says that nothing is decided any more, by whatever rules.
var errNoReload = fmt.Errorf("%w: %w; it reads the files at its next start", httpapi.ErrUnavailable, actions.ErrEnding)

// reloads is how the last readings of the files went.
type reloads struct {
	mu   sync.Mutex // held while one is being read: they come one after the other
	info sync.Mutex
	err  string
	ok   bool
	at   time.Time         // of the files in force
	read [sha256.Size]byte // the contents that were read last, whoever asked, right or wrong
}

// begin notes what is going to be read. It is taken before that, so that what
// changes meanwhile is still a change.
func (r *reloads) begin(contents [sha256.Size]byte) {
	r.info.Lock()
	defer r.info.Unlock()
	r.read = contents
}

func (r *reloads) lastRead() [sha256.Size]byte {
	r.info.Lock()
	defer r.info.Unlock()
	return r.read
}

func (r *reloads) note(err error) {
	r.info.Lock()
	defer r.info.Unlock()
	r.ok, r.err = err == nil, ""
	if err != nil {
		r.err = err.Error()
		return
	}
	r.at = time.Now()
}

func (r *reloads) lastError() string {
	r.info.Lock()
	defer r.info.Unlock()
	return r.err
}

func (r *reloads) last() (ok bool, at time.Time) {
	r.info.Lock()
	defer r.info.Unlock()
	return r.ok, r.at
}

// ReadRules reads and checks rule files. The rules are nil if they are wrong;
// the problems then say why. An error says that a file cannot be read. allow are
// the verbs that mqsc may use, in capitals.
func ReadRules(files, allow []string) (*situations.RuleSet, []situations.Problem, error) {
	var list []situations.File
	for _, name := range files {
		text, err := readBounded(name)
		if err != nil {
			return nil, nil, err
		}
		whole, err := filepath.Abs(name)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, situations.File{Name: shown(name), Data: text, Dir: filepath.Dir(whole)})
	}
	rules, problems := situations.Load(list...)
	if rules == nil {
		return nil, problems, nil
	}
	problems = append(problems, CheckCommands(rules, &allow)...)
	if situations.HasErrors(problems) {
		return nil, problems, nil
	}
	return rules, problems, nil
}

// CheckCommands says what is wrong with the MQSC commands of rules: the language
// is the engine's, and which verbs may be used is the daemon file's to say, if
// there is one.
func CheckCommands(rules *situations.RuleSet, allow *[]string) []situations.Problem {
	var out []situations.Problem
	for _, s := range rules.Situations {
		for _, a := range slices.Concat(s.Actions, s.OnClear) {
			if a.Verb != situations.VerbMQSC {
				continue
			}
			p := situations.Problem{
				File: s.File, Line: s.Line, Column: s.Column, Length: 1, Code: "mqsc", Severity: situations.SeverityError,
			}
			verb, err := adapt.CheckCommand(s.Watch.Group, a.Value)
			switch {
			case err != nil:
				p.Message = fmt.Sprintf("mqsc %s: %v", a.Value, err)
			case allow != nil && !slices.Contains(*allow, verb):
				p.Message = fmt.Sprintf("situation %s uses the MQSC verb %s, which the daemon's file does not allow", s.Name, verb)
				p.Help = []string{"write in the daemon's file: mqsc: {allow: [" + verb + "]}"}
			default:
				continue
			}
			out = append(out, p)
		}
	}
	return out
}

// shown is a file's name as a person at this folder would write it.
func shown(name string) string {
	here, err := os.Getwd()
	if err != nil {
		return name
	}
	if rel, err := filepath.Rel(here, name); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return name
}

func readBounded(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	if info.Size() > maxRuleFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxRuleFile)
	}
	return os.ReadFile(name)
}

// Reload reads the rule files again and puts them in force. A wrong file leaves
// the rules as they are. The text says what changed, or what is wrong.
func (a *App) Reload(ctx context.Context, by string) (string, error) {
	a.reloads.mu.Lock()
	defer a.reloads.mu.Unlock()
	a.reloads.begin(a.digest())
	text, err := a.reload(ctx)
	if errors.Is(err, httpapi.ErrUnavailable) { // it says nothing of the files
		a.logger.Info("the files were not loaded", "by", by, "error", err)
		return text, err
	}
	a.reloads.note(err)
	if err != nil {
		a.logger.Error("the files are wrong; the rules before them stay in force", "by", by, "error", err)
		return text, err
	}
	a.logger.Info("rules loaded", "by", by, "revision", a.runner.Snapshot().Revision, "change", strings.TrimSpace(text))
	return text, nil
}

func (a *App) reload(ctx context.Context) (string, error) {
	files, err := a.config.RuleFiles()
	if err != nil {
		return "", err
	}
	rules, problems, err := ReadRules(files, a.config.MQSCAllow)
	if err != nil {
		return "", err
	}
	text := string(situations.FormatText(problems))
	if rules == nil {
		return text, fmt.Errorf("%w: %s", ErrBadFiles, firstError(problems))
	}
	changes, err := a.install(ctx, rules)
	return text + changes, err
}

func firstError(problems []situations.Problem) string {
	for _, p := range problems {
		if p.Severity == situations.SeverityError {
			return p.String()
		}
	}
	return "no rules"
}

// poll reloads when the contents of the files are others than those read last,
// by whomever that was asked for, once they have stayed so from one look to the
// next: half of a file that is just being written may well be a right one, with
// rules missing.
func (a *App) poll(ctx context.Context) {
	seen := a.reloads.lastRead()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := a.digest()
		settled := now == seen
		seen = now
		if now == a.reloads.lastRead() || !settled {
			continue
		}
		_, _ = a.Reload(ctx, "changed files") // logged and shown by status
	}
}

// digest sums up the contents of the rule files.
func (a *App) digest() [sha256.Size]byte {
	sum := sha256.New()
	files, err := a.config.RuleFiles()
	if err != nil {
		fmt.Fprintln(sum, err)
	}
	for _, name := range files {
		text, err := readBounded(name)
		fmt.Fprintln(sum, name, len(text), err)
		sum.Write(text)
	}
	return [sha256.Size]byte(sum.Sum(nil))
}
