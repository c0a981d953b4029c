package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// The rules of the house that a compiler does not see: who may import whom,
// which packages are pure, how long a file or a function may be.

const modulePath = "github.com/situationd/situationd"

// mayImport names, per package, which packages of ours it may import. A package
// that is not listed here does not belong in the tree. Test files may import
// more: see testOnly.
var mayImport = map[string][]string{
	"mqengine/mqi":           {},
	"mqengine/internal/wire": {},
	"mqengine/object":        {"mqengine/mqi", "mqengine/internal/wire"},
	"mqengine/mqsc":          {"mqengine/mqi", "mqengine/object"},
	"mqengine/selector":      {},
	"mqengine/workload":      {"mqengine/mqi", "mqengine/object"},
	"mqengine/store":         {"mqengine/mqi", "mqengine/object", "mqengine/internal/wire"},
	"mqengine/store/storetest": {
		"mqengine/mqi", "mqengine/store",
	},
	"mqengine/transport/tlstest": {},
	"mqengine/transport":         {"mqengine/mqi", "mqengine/object", "mqengine/channel", "mqengine/internal/wire"},
	"mqengine/repository":        {"mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/workload", "mqengine/internal/wire"},
	"mqengine/channel":           {"mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/store", "mqengine/internal/wire"},
	"mqengine/qmgr": {
		"mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/workload", "mqengine/store",
		"mqengine/repository", "mqengine/channel", "mqengine/selector", "mqengine/internal/wire",
	},
	"mqengine/internal/samples": {"mqengine/qmgr"},
	"mqengine": {
		"mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/workload", "mqengine/store",
		"mqengine/transport", "mqengine/repository", "mqengine/channel", "mqengine/qmgr", "mqengine/internal/wire",
		"mqengine/internal/samples",
	},
	"mqengine/enginetest": {
		"mqengine", "mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/workload", "mqengine/store",
		"mqengine/transport", "mqengine/repository", "mqengine/channel", "mqengine/qmgr", "mqengine/internal/wire",
		"mqengine/internal/samples",
	},
	"situations":                      {},
	"actions":                         {"situations"},
	"redistribute":                    {},
	"cmd/situationd/internal/config":  {"situations", "mqengine/object"},
	"cmd/situationd/internal/httpapi": {"situations", "actions", "redistribute"},
	"cmd/situationd/internal/adapt": {
		"situations", "actions", "redistribute", "mqengine", "mqengine/mqi", "mqengine/object", "mqengine/mqsc", "mqengine/qmgr",
	},
	"examples":                         {},
	"cmd/situationd/internal/killtest": {"*"},
	"cmd/situationd/internal/simtest":  {"*"},
	"cmd/situationd/internal/proctest": {"*"},
	"cmd/situationd/internal/app":      {"*"},
	"cmd/situationd/internal/demo":     {"*"},
	"cmd/situationd":                   {"*"},
}

// testOnly are packages that no shipped code may import.
var testOnly = []string{"mqengine/enginetest", "mqengine/store/storetest", "mqengine/transport/tlstest", "cmd/situationd/internal/proctest", "cmd/situationd/internal/killtest", "cmd/situationd/internal/simtest"}

// pure packages decide and do nothing else; files with one of the prefixes are their shells.
var pure = map[string][]string{
	"mqengine/mqi":        nil,
	"mqengine/object":     nil,
	"mqengine/mqsc":       nil,
	"mqengine/selector":   nil,
	"mqengine/workload":   nil,
	"mqengine/repository": nil,
	"mqengine/channel":    nil,
	"mqengine/qmgr":       nil,
	"situations":          {"run"},
	"redistribute":        {"run"},
}

// impure are imports that a pure file may not have, and calls into package time
// that read the clock or wait.
var (
	impureImports = []string{
		"os", "os/exec", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "log", "log/slog",
		"github.com/hashicorp/go-hclog", "io/ioutil", "os/signal", "syscall", "golang.org/x/sys/unix",
	}
	netText    = []string{"SplitHostPort", "JoinHostPort", "ParseIP"} // text only, nothing is reached
	clockCalls = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}
)

const (
	maxFileLines     = 600
	maxTestFileLines = 900
	maxFunctionLines = 80
)

// sourceFile is one parsed Go file of the module.
type sourceFile struct {
	path    string // slash path below the module's root
	pkg     string // its folder
	test    bool
	shell   bool // build-tagged or a shell of a pure package
	lines   int
	syntax  *ast.File
	fset    *token.FileSet
	imports []string
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	root := moduleRoot(t)
	var files []sourceFile
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && name != root && isModule(name) {
			return filepath.SkipDir // a tool beside the product
		}
		if entry.IsDir() && name != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "bin") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		syntax, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file := sourceFile{
			path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
			lines: strings.Count(string(text), "\n"), syntax: syntax, fset: fset,
		}
		for _, imp := range syntax.Imports {
			value, _ := strconv.Unquote(imp.Path.Value)
			file.imports = append(file.imports, value)
		}
		for _, prefix := range pure[file.pkg] {
			file.shell = file.shell || strings.HasPrefix(path.Base(rel), prefix)
		}
		files = append(files, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func TestArch_ImportsPointDownwards(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		allowed, known := mayImport[file.pkg]
		if !known {
			t.Errorf("%s: package %s has no line in the table of imports", file.path, file.pkg)
			continue
		}
		for _, imp := range file.imports {
			ours, ok := strings.CutPrefix(imp, modulePath+"/")
			if !ok || file.test {
				continue
			}
			if slices.Contains(testOnly, ours) && !slices.Contains(testOnly, file.pkg) {
				t.Errorf("%s imports %s, which is for tests only", file.path, ours)
			}
			if !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*") {
				t.Errorf("%s may not import %s", file.path, ours)
			}
		}
	}
}

func TestArch_CoresArePure(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		if _, isPure := pure[file.pkg]; !isPure || file.test || file.shell {
			continue
		}
		for _, imp := range file.imports {
			if slices.Contains(impureImports, imp) {
				t.Errorf("%s: a pure package imports %s", file.path, imp)
			}
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
				t.Errorf("%s: goroutines and channels do not belong in a pure package", file.fset.Position(n.Pos()))
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "net" && !slices.Contains(netText, n.Sel.Name) {
					t.Errorf("%s: net.%s in a pure package", file.fset.Position(n.Pos()), n.Sel.Name)
				}
				if id, ok := n.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
					t.Errorf("%s: time.%s in a pure package; take the time as an argument", file.fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
}

func TestArch_FilesAndFunctionsAreShort(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		limit := maxFileLines
		if file.test {
			limit = maxTestFileLines
		}
		if file.lines > limit {
			t.Errorf("%s has %d lines, more than %d: cut it by its nouns", file.path, file.lines, limit)
		}
		if file.test {
			continue
		}
		for _, decl := range file.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil {
				continue
			}
			lines := file.fset.Position(fn.Body.Rbrace).Line - file.fset.Position(fn.Body.Lbrace).Line
			if lines > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", file.fset.Position(fn.Pos()), fn.Name.Name, lines, maxFunctionLines)
			}
		}
	}
}

func TestArch_EveryPackageHasADoc(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, file := range sourceFiles(t) {
		if _, seen := documented[file.pkg]; !seen {
			documented[file.pkg] = false
		}
		if path.Base(file.path) == "doc.go" && file.syntax.Doc != nil && len(file.syntax.Doc.Text()) > 80 {
			documented[file.pkg] = true
		}
	}
	var missing []string
	for pkg, ok := range documented {
		if !ok {
			missing = append(missing, pkg)
		}
	}
	sort.Strings(missing)
	if len(missing) > 0 {
		t.Errorf("packages without a doc.go that says what they are: %v", missing)
	}
}

// unfinished are the words that mark work as not done.
var unfinished = []string{"TO" + "DO", "FIX" + "ME", "not " + "implemented"}

func TestArch_NothingIsLeftUnfinished(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		for _, group := range file.syntax.Comments {
			for _, word := range unfinished {
				if strings.Contains(group.Text(), word) {
					t.Errorf("%s: %q in a comment", file.fset.Position(group.Pos()), word)
				}
			}
		}
	}
}

// Tests wait for conditions. In a bubble of testing/synctest sleeping is one.
func TestArch_TestsDoNotSleep(t *testing.T) {
	t.Parallel()
	for _, file := range sourceFiles(t) {
		if !file.test || slices.Contains(file.imports, "testing/synctest") {
			continue
		}
		ast.Inspect(file.syntax, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" {
					t.Errorf("%s: time.Sleep outside of a bubble; wait for a condition", file.fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
}
