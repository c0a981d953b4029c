package main

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// placeholder is what expand replaces in a script's files.
var placeholder = regexp.MustCompile(`@[A-Z][A-Z0-9_]*@`)

// expand replaces each @NAME@ in files by the environment's NAME: expand FILE...
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: expand file...")
	}
	for _, name := range args {
		text := placeholder.ReplaceAllStringFunc(ts.ReadFile(name), func(s string) string {
			value := ts.Getenv(strings.Trim(s, "@"))
			if value == "" {
				ts.Fatalf("%s: there is no value for %s", name, s)
			}
			return value
		})
		rewrite(ts, name, text)
	}
}

// capture keeps what the group of a regular expression finds in the last stdout:
// capture NAME REGEXP. The script has it as $NAME.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture name regexp")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := want.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) != 2 {
		ts.Fatalf("%s finds nothing in\n%s", args[1], ts.ReadFile("stdout"))
	}
	ts.Setenv(args[0], found[1])
}

// replace replaces a text that must be in a file: replace OLD NEW FILE.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace old new file")
	}
	text := ts.ReadFile(args[2])
	if !strings.Contains(text, args[0]) {
		ts.Fatalf("%s does not contain %q", args[2], args[0])
	}
	rewrite(ts, args[2], strings.ReplaceAll(text, args[0], args[1]))
}

func rewrite(ts *testscript.TestScript, name, text string) {
	path := ts.MkAbs(name)
	info, err := os.Stat(path)
	ts.Check(err)
	ts.Check(os.WriteFile(path, []byte(text), info.Mode()))
}

// bodies writes distinct lines: bodies FILE COUNT PREFIX.
func bodies(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: bodies file count prefix")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s-%06d\n", args[2], i+1)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}

// fileLines are the lines of files, put together.
func fileLines(ts *testscript.TestScript, names []string) []string {
	var all []string
	for _, name := range names {
		for line := range strings.Lines(ts.ReadFile(name)) {
			all = append(all, strings.TrimSuffix(line, "\n"))
		}
	}
	return all
}

// waitLines polls until files have that many lines together, and no more: waitlines COUNT FILE...
func waitLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: waitlines count file...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	n := 0
	until(ts, fmt.Sprintf("%d lines in %v", want, args[1:]), func() bool {
		n = 0
		for _, name := range args[1:] {
			text, err := os.ReadFile(ts.MkAbs(name))
			if err != nil && !errors.Is(err, os.ErrNotExist) { // whoever writes it may only just have started
				ts.Check(err)
			}
			n += bytes.Count(text, []byte("\n"))
		}
		return n >= want
	})
	if n != want {
		ts.Fatalf("%d lines in %v, want %d", n, args[1:], want)
	}
}

// sameSet checks that files together have exactly the lines of others, in any
// order, each as often: sameset WANT... = GOT...
func sameSet(ts *testscript.TestScript, neg bool, args []string) {
	i := slices.Index(args, "=")
	if neg || i < 1 || i == len(args)-1 {
		ts.Fatalf("usage: sameset want... = got...")
	}
	count := map[string]int{}
	for _, line := range fileLines(ts, args[:i]) {
		count[line]++
	}
	for _, line := range fileLines(ts, args[i+1:]) {
		count[line]--
	}
	var wrong []string
	for line, n := range count {
		switch {
		case n > 0:
			wrong = append(wrong, fmt.Sprintf("%d x %q missing", n, line))
		case n < 0:
			wrong = append(wrong, fmt.Sprintf("%d x %q too much", -n, line))
		}
	}
	slices.Sort(wrong)
	if len(wrong) > 0 {
		ts.Fatalf("%d lines are not as they should be:\n%s", len(wrong), strings.Join(wrong[:min(len(wrong), 20)], "\n"))
	}
}

// beyond writes down what a file has after all that it had before: beyond OLD NEW OUT.
func beyond(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: beyond old new out")
	}
	more, ok := strings.CutPrefix(ts.ReadFile(args[1]), ts.ReadFile(args[0]))
	if !ok {
		ts.Fatalf("%s does not begin with %s", args[1], args[0])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(more), 0o600))
}

// ports puts free ports into variables: ports NAME...
func ports(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: ports name...")
	}
	for _, name := range args {
		ts.Setenv(name, strconv.Itoa(freePort(ts)))
	}
}

// portBook are the ports that scripts of this process have: a queue manager's
// port has to be known before it is created, and must stay its own while it is down.
var portBook = struct {
	sync.Mutex
	next int
}{next: portLeast + rand.IntN(portMost-portLeast)}

// Below the ports that the system gives to whoever asks for any.
const portLeast, portMost = 12000, 32000

func freePort(ts *testscript.TestScript) int {
	portBook.Lock()
	defer portBook.Unlock()
	for range portMost - portLeast {
		if portBook.next++; portBook.next >= portMost {
			portBook.next = portLeast
		}
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", portBook.next)); err == nil {
			ts.Check(l.Close())
			return portBook.next
		}
	}
	ts.Fatalf("no port between %d and %d is free", portLeast, portMost)
	return 0
}

// pace puts durations into variables, longer ones where everything is slow: pace
// NAME=DURATION...
func pace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: pace name=duration...")
	}
	for _, arg := range args {
		name, text, _ := strings.Cut(arg, "=")
		d, err := time.ParseDuration(text)
		ts.Check(err)
		ts.Setenv(name, (d * scriptPace).String())
	}
}

// justSampled waits until the daemon's sample of its own queues is younger than 0.4
// seconds, or than two where everything is slow: justsampled QMGR.
func justSampled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: justsampled qmgr")
	}
	age := `0\.[0-3]`
	if scriptPace > 1 {
		age = `[01]\.`
	}
	waitFor(ts, false, []string{`"qmgr":"` + args[0] + `","source":"own",.*"age_s":` + age, "situationd", "status", "--qmgr", args[0], "-o", "jsonl"})
}

// rest lets time pass, for checks that nothing happened meanwhile: rest DURATION.
func rest(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rest duration")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	<-time.After(d)
}
