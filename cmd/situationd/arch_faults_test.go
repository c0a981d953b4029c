package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A planted fault that the tree has moved away from shows nothing any more. Who
// changes a line of one makes the patch anew: testdata/faults/README.md.
func TestArchFaults_EveryPatchApplies(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	patches, err := filepath.Glob(filepath.Join(root, "testdata", "faults", "*.patch"))
	if err != nil {
		t.Fatal(err)
	}
	git, err := exec.LookPath("git")
	if err != nil || len(patches) == 0 {
		t.Skip("no git, or a tree without planted faults")
	}
	for _, patch := range patches {
		text, err := os.ReadFile(patch)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "Fault: ") {
			t.Errorf("%s does not say what is wrong: its first line is no \"Fault: ...\"", patch)
		}
		name, err := filepath.Rel(root, patch)
		if err != nil {
			t.Fatal(err)
		}
		check := exec.Command(git, "apply", "--check", name)
		check.Dir = root
		if out, err := check.CombinedOutput(); err != nil {
			t.Errorf("%s does not apply to this tree: %s", name, out)
		}
	}
}
