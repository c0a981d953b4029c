package enginetest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// Seeds are the flags of a test that runs many seeds, or one and tells what happens in it.
type Seeds struct {
	Count int
	First uint64
	One   uint64 // this one only; 0: all
	log   string
}

// SeedFlags defines the flags of a test, which begin with a prefix; standard is how
// many seeds it runs without them.
func SeedFlags(prefix string, standard int) *Seeds {
	s := &Seeds{}
	flag.IntVar(&s.Count, prefix+".seeds", standard, "how many seeds are run")
	flag.Uint64Var(&s.First, prefix+".first", 1, "the first seed")
	flag.Uint64Var(&s.One, prefix+".seed", 0, "run this seed only, and tell what happens in it")
	flag.StringVar(&s.log, prefix+".log", "", "with -"+prefix+".seed: the file that gets the whole run")
	return s
}

// Tell runs one seed and gives the end of what it told; the file of the log flag gets
// all of it while it runs.
func (s *Seeds) Tell(run func(io.Writer)) (end string, err error) {
	var text bytes.Buffer
	var out io.Writer = &text
	if s.log != "" {
		f, err := os.Create(s.log)
		if err != nil {
			return "", err
		}
		defer f.Close()
		out = io.MultiWriter(f, &text)
	}
	run(out)
	return lastLines(text.String(), 200), nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// AddCounts adds the numbers of one struct to those of another.
func AddCounts[C any](to, from *C) {
	sum, more := reflect.ValueOf(to).Elem(), reflect.ValueOf(from).Elem()
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
}

// ZeroCounts names the numbers of a struct that are zero: what never happened.
func ZeroCounts[C any](c *C) (names []string) {
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if v.Field(i).Int() == 0 {
			names = append(names, v.Type().Field(i).Name)
		}
	}
	return names
}

// CountsText lists the numbers of a struct by their names.
func CountsText[C any](c *C) string {
	var b strings.Builder
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		fmt.Fprintf(&b, "%s %d ", v.Type().Field(i).Name, v.Field(i).Int())
	}
	return strings.TrimSpace(b.String())
}
