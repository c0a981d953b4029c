package config

import (
	"fmt"
	"path/filepath"
	"strings"
)

// DataDir is the data folder: the flag, else the daemon file's, else
// SITUATIOND_DATA, else the system's place for root and the user's for others.
func DataDir(flag, file string, getenv func(string) string, uid int) (string, error) {
	for _, dir := range []string{flag, file, getenv("SITUATIOND_DATA")} {
		if dir != "" {
			return filepath.Abs(dir)
		}
	}
	if uid == 0 {
		return "/var/lib/situationd", nil
	}
	if state := getenv("XDG_STATE_HOME"); state != "" {
		return filepath.Join(state, "situationd"), nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "state", "situationd"), nil
	}
	return "", fmt.Errorf("no data folder: set --data, SITUATIOND_DATA or HOME")
}

// FolderName is the name of a queue manager as a folder: / is &, % is ~.
func FolderName(qmgr string) (string, error) {
	if err := CheckName(qmgr); err != nil {
		return "", err
	}
	return strings.NewReplacer("/", "&", "%", "~").Replace(qmgr), nil
}

// NameOfFolder is the reverse of FolderName.
func NameOfFolder(folder string) string {
	return strings.NewReplacer("&", "/", "~", "%").Replace(folder)
}

// CheckName says why a text cannot be the name of a queue manager.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("a queue manager's name is missing")
	case len(name) > 48:
		return fmt.Errorf("the name %.20q... has %d characters; 48 is the most", name, len(name))
	case name == "." || name == "..":
		return fmt.Errorf("a queue manager cannot be called %q", name)
	}
	for _, r := range name {
		if !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/%", r) {
			return fmt.Errorf("a queue manager's name has letters, digits and . _ / %% only, not %q", r)
		}
	}
	return nil
}

// DaemonDir is the folder of the daemon of a queue manager.
func DaemonDir(data, qmgr string) (string, error) {
	folder, err := FolderName(qmgr)
	if err != nil {
		return "", err
	}
	return filepath.Join(data, "daemon", folder), nil
}
