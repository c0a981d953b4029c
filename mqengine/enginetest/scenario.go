package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// Scenarios are scripts that play on the simulator and on real processes alike:
// the same lines, two drivers. A scenario is a txtar file: its comment holds one
// step per line, and NAME.mqsc the definitions of member NAME, in which ${QM2}
// stands for the CONNAME of QM2. A step waits for what it names; none waits for
// a length of time.
//
//	member QM1                      makes the queue manager and starts it
//	mqsc QM1 ALTER QLOCAL(Q) ...    the command works; with ! before it, it fails
//	put QM1 Q TEXT [n=3] [at=QM2] [bind=open|notfixed|group] [priority=N] [expiry=TENTHS] [nonpersistent]
//	! put QM1 Q TEXT 2268 ...       the put, or its open, fails with that reason
//	get QM2 Q TEXT TEXT ...         these come, in this order
//	gather Q QM2 QM3 TEXT n=100     TEXT1 to TEXT100 come there together, each once, and nothing else
//	depth QM2 Q 50                  as deep as that
//	show QM1 KEY=VALUE ... DISPLAY ...  one of the objects has these; with ! none has
//	count QM1 2 DISPLAY ...         so many objects
//	kill QM2, start QM2             kill -9, and a new life
//	cut QM2                         every link that others made to it breaks; they may come back
//	block QM2, open QM2             the same, and no new ones until it is opened

// Driver is what a scenario plays on.
type Driver interface {
	// ConnName is where others reach a member, also before it was made.
	ConnName(name string) string
	// Define makes a member with these commands and starts it.
	Define(name, commands string)
	Command(name, text string) mqsc.Result
	// Put opens a queue, puts one message and closes. A number in body's place is its own.
	Put(name string, od mqi.OD, bind int32, md mqi.MD, body string) mqi.Reason
	// Get takes one message without a wait.
	Get(name, queue string) (body string, reason mqi.Reason)
	Kill(name string)
	Start(name string)
	Cut(name string)
	Block(name string)
	Open(name string)
	// Until lets time pass until the condition holds; false if it never does.
	Until(condition func() bool) bool
}

// Scenarios are the files of a folder.
func Scenarios(tb testing.TB, folder string) []string {
	tb.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(files) == 0 {
		tb.Fatalf("no scenarios in %s: %v", folder, err)
	}
	return files
}

// Play plays a file.
func Play(tb testing.TB, file string, d Driver) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	p := player{d: d, archive: txtar.Parse(data)}
	for i, line := range strings.Split(string(p.archive.Comment), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := p.step(line); err != nil {
			tb.Fatalf("%s:%d: %s: %v", file, i+1, line, err)
		}
	}
}

// player carries steps out.
type player struct {
	d       Driver
	archive *txtar.Archive
}

func (p *player) step(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	not := word == "!"
	if not {
		word, rest, _ = strings.Cut(rest, " ")
	}
	name, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	words := strings.Fields(rest)
	switch word {
	case "member":
		return p.member(name)
	case "mqsc":
		return p.mqsc(not, name, rest)
	case "put":
		return p.put(not, name, words)
	case "get":
		return p.get(name, words)
	case "gather":
		return p.gather(name, words)
	case "depth":
		return p.depth(name, words)
	case "show":
		return p.show(not, name, rest)
	case "count":
		return p.count(name, rest)
	}
	blow := map[string]func(string){"kill": p.d.Kill, "start": p.d.Start, "cut": p.d.Cut, "block": p.d.Block, "open": p.d.Open}[word]
	if blow == nil || not || name == "" || rest != "" {
		return fmt.Errorf("no such step")
	}
	blow(name)
	return nil
}

func (p *player) member(name string) error {
	for _, f := range p.archive.Files {
		if f.Name == name+".mqsc" {
			p.d.Define(name, os.Expand(string(f.Data), p.d.ConnName))
			return nil
		}
	}
	return fmt.Errorf("there is no %s.mqsc", name)
}

func (p *player) mqsc(not bool, name, text string) error {
	if res := p.d.Command(name, os.Expand(text, p.d.ConnName)); res.Failed != not {
		return fmt.Errorf("failed %v: %v", res.Failed, summary(res))
	}
	return nil
}

// options takes KEY=VALUE words off the end.
func options(words []string) (left []string, opts map[string]string) {
	opts = map[string]string{}
	for len(words) > 0 {
		last := words[len(words)-1]
		key, value, ok := strings.Cut(last, "=")
		if !ok && last != "nonpersistent" {
			break
		}
		opts[key] = value
		words = words[:len(words)-1]
	}
	return words, opts
}

var binds = map[string]int32{
	"": mqi.MQOO_BIND_AS_Q_DEF, "open": mqi.MQOO_BIND_ON_OPEN, "notfixed": mqi.MQOO_BIND_NOT_FIXED, "group": mqi.MQOO_BIND_ON_GROUP,
}

func (p *player) put(not bool, name string, words []string) error {
	words, opts := options(words)
	want := mqi.MQRC_NONE
	if not && len(words) == 3 {
		code, err := strconv.Atoi(words[2])
		if err != nil {
			return err
		}
		want, words = mqi.Reason(code), words[:2]
	}
	bind, known := binds[opts["bind"]]
	if len(words) != 2 || !known {
		return fmt.Errorf("put QM QUEUE TEXT and options are expected")
	}
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	if _, ok := opts["nonpersistent"]; ok {
		md.Persistence = mqi.MQPER_NOT_PERSISTENT
	}
	md.Priority = int32(number(opts["priority"]))
	if e := opts["expiry"]; e != "" {
		md.Expiry = int32(number(e))
	}
	for _, body := range numbered(words[1], opts["n"]) {
		if got := p.d.Put(name, mqi.OD{ObjectName: words[0], ObjectQMgrName: opts["at"]}, bind, md, body); got != want {
			return fmt.Errorf("%s: %w", body, got)
		}
	}
	return nil
}

// numbered is TEXT, or TEXT1 to TEXTn.
func numbered(text, n string) []string {
	if n == "" {
		return []string{text}
	}
	var all []string
	for i := range number(n) {
		all = append(all, text+strconv.Itoa(i+1))
	}
	return all
}

func (p *player) get(name string, words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("get QM QUEUE TEXT... is expected")
	}
	for _, want := range words[1:] {
		got, why := "", mqi.MQRC_NONE
		p.d.Until(func() bool {
			got, why = p.d.Get(name, words[0])
			return why != mqi.MQRC_NO_MSG_AVAILABLE
		})
		if got != want {
			return fmt.Errorf("got %q (%w) where %q was due", got, why, want)
		}
	}
	return nil
}

func (p *player) gather(queue string, words []string) error {
	words, opts := options(words)
	if len(words) < 2 || opts["n"] == "" {
		return fmt.Errorf("gather QUEUE QM... TEXT n=COUNT is expected")
	}
	members, want := words[:len(words)-1], numbered(words[len(words)-1], opts["n"])
	seen := map[string]int{}
	drain := func() {
		for _, m := range members {
			for {
				body, reason := p.d.Get(m, queue)
				if reason != mqi.MQRC_NONE {
					break
				}
				seen[body]++
			}
		}
	}
	p.d.Until(func() bool {
		drain()
		return len(seen) >= len(want)
	})
	var wrong []string
	for _, body := range want {
		if seen[body] != 1 {
			wrong = append(wrong, fmt.Sprintf("%s came %d times", body, seen[body]))
		}
		delete(seen, body)
	}
	for body := range seen {
		wrong = append(wrong, body+" came and was not expected")
	}
	if wrong != nil {
		slices.Sort(wrong)
		return fmt.Errorf("%s", strings.Join(wrong, ", "))
	}
	return nil
}

func (p *player) depth(name string, words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("depth QM QUEUE N is expected")
	}
	return p.show(false, name, "CURDEPTH="+words[1]+" DISPLAY QLOCAL("+words[0]+") CURDEPTH")
}

// objects are what a DISPLAY shows, as KEY(VALUE) by key.
func (p *player) objects(name, text string) []map[string]string {
	return rowsOf(p.d.Command(name, text))
}

func (p *player) show(not bool, name, rest string) error {
	at := strings.Index(rest, "DISPLAY ")
	if at < 0 {
		return fmt.Errorf("show QM KEY=VALUE... DISPLAY... is expected")
	}
	_, want := options(strings.Fields(rest[:at]))
	var rows []map[string]string
	ok := p.d.Until(func() bool {
		rows = p.objects(name, rest[at:])
		return not != slices.ContainsFunc(rows, func(row map[string]string) bool {
			for k, v := range want {
				if row[k] != v {
					return false
				}
			}
			return true
		})
	})
	if !ok {
		return fmt.Errorf("it shows %v", rows)
	}
	return nil
}

func (p *player) count(name, rest string) error {
	n, text, _ := strings.Cut(rest, " ")
	var rows []map[string]string
	if !p.d.Until(func() bool { rows = p.objects(name, text); return len(rows) == number(n) }) {
		return fmt.Errorf("there are %d: %v", len(rows), rows)
	}
	return nil
}
