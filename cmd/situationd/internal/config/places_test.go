package config

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestDataDir_FirstNamedWins(t *testing.T) {
	t.Parallel()
	abs := func(p string) string { a, _ := filepath.Abs(p); return a }
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}
			return ""
		}
	}
	for _, c := range []struct {
		flag, file string
		env        func(string) string
		uid        int
		want       string
	}{
		{"/f", "/d", env("SITUATIOND_DATA", "/e"), 0, "/f"},
		{"", "/d", env("SITUATIOND_DATA", "/e"), 0, "/d"},
		{"", "", env("SITUATIOND_DATA", "e"), 0, abs("e")},
		{"", "", env(), 0, "/var/lib/situationd"},
		{"", "", env("XDG_STATE_HOME", "/s", "HOME", "/h"), 1, "/s/situationd"},
		{"", "", env("HOME", "/h"), 1, "/h/.local/state/situationd"},
	} {
		got, err := DataDir(c.flag, c.file, c.env, c.uid)
		if err != nil || got != c.want {
			t.Errorf("DataDir(%q, %q): %q, %v; want %q", c.flag, c.file, got, err, c.want)
		}
	}
	if _, err := DataDir("", "", env(), 1); err == nil {
		t.Error("a user without HOME has a data folder")
	}
}

func TestFolderName_EveryName_ComesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[A-Za-z0-9._/%]{1,48}`).Draw(t, "name")
		folder, err := FolderName(name)
		if name == "." || name == ".." {
			if err == nil {
				t.Fatalf("%q was accepted", name)
			}
			return
		}
		if err != nil || strings.ContainsAny(folder, "/%") || filepath.Base(folder) != folder || NameOfFolder(folder) != name {
			t.Fatalf("%q -> %q, %v", name, folder, err)
		}
	})
}

func TestCheckName_Refuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", ".", "..", "a b", "a&b", "a~b", "ä", strings.Repeat("A", 49)} {
		if CheckName(name) == nil {
			t.Errorf("%q was accepted", name)
		}
	}
}
