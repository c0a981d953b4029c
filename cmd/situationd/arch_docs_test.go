package main

import (
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// documents are the files for people whose references have to be true.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := moduleRoot(t)
	texts := map[string]string{}
	add := func(name string) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.ToSlash(rel)] = string(text)
	}
	for _, name := range []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} {
		add(filepath.Join(root, name))
	}
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".md") {
			add(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// A path in a document is in backquotes and begins with a folder of the tree,
// or is the target of a relative link.
var (
	namedPath = regexp.MustCompile("`((?:cmd|situations|actions|redistribute|mqengine|examples|docs|\\.ci)/[A-Za-z0-9_./-]*)`")
	linkPath  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9_]*)`")
)

func TestArch_DocumentsNamePathsThatExist(t *testing.T) {
	t.Parallel()
	root := moduleRoot(t)
	for doc, text := range documents(t) {
		for _, m := range namedPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s, which does not exist", doc, m[1])
			}
		}
		for _, m := range linkPath.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(doc), filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s links to %s, which does not exist", doc, m[1])
			}
		}
	}
}

func TestArch_DocumentsNameTestsThatExist(t *testing.T) {
	t.Parallel()
	exists := map[string]bool{}
	for _, file := range sourceFiles(t) {
		if !file.test && !strings.HasSuffix(file.pkg, "test") {
			continue
		}
		for _, decl := range file.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				exists[fn.Name.Name] = true
			}
		}
	}
	for doc, text := range documents(t) {
		for _, m := range namedTest.FindAllStringSubmatch(text, -1) {
			if !exists[m[1]] {
				t.Errorf("%s names %s, which is no test here", doc, m[1])
			}
		}
	}
}
