package proctest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// packagePath is what is built.
const packagePath = "github.com/situationd/situationd/cmd/situationd"

// linkNames are the names by which the program is called like IBM's commands.
var linkNames = []string{"runmqsc", "q", "strmqm", "crtmqm", "endmqm", "dspmq", "dltmqm"}

// Program is the built binary with its links in one folder. It is built at the
// first use, once for all tests of a package.
type Program struct {
	once sync.Once
	dir  string
	err  error
}

// Path is the binary.
func (p *Program) Path(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(p.Bin(tb), "situationd")
}

// Bin is the folder of the binary and its links.
func (p *Program) Bin(tb testing.TB) string {
	tb.Helper()
	p.once.Do(func() { p.dir, p.err = build() })
	if p.err != nil {
		tb.Fatal(p.err)
	}
	return p.dir
}

// Remove deletes what was built. TestMain calls it.
func (p *Program) Remove() {
	if p.dir != "" {
		_ = os.RemoveAll(p.dir) // a folder under the system's temporary one
	}
}

func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "sitbin"); err != nil {
		return "", err
	}
	args := []string{"build", "-o", filepath.Join(dir, "situationd")}
	if raceEnabled {
		args = append(args, "-race")
	}
	var said bytes.Buffer
	cmd := exec.Command("go", append(args, packagePath)...)
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return "", errors.Join(fmt.Errorf("go build: %w\n%s", err, said.Bytes()), os.RemoveAll(dir))
	}
	for _, name := range linkNames {
		if err := os.Symlink("situationd", filepath.Join(dir, name)); err != nil {
			return "", errors.Join(err, os.RemoveAll(dir))
		}
	}
	return dir, nil
}
