package mqengine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/situationd/situationd/mqengine/object"
)

// systemData is where root keeps data.
const systemData = "/var/lib/situationd"

// DataDir is the folder under which everything lies: what was asked for, else
// SITUATIOND_DATA, else /var/lib/situationd for root and the user's state folder for everybody else.
func DataDir(asked string, getenv func(string) string, uid int) (string, error) {
	dir := asked
	if dir == "" {
		dir = getenv("SITUATIOND_DATA")
	}
	if dir == "" && uid == 0 {
		dir = systemData
	}
	if dir == "" {
		state := getenv("XDG_STATE_HOME")
		if state == "" {
			home := getenv("HOME")
			if home == "" {
				return "", errors.New("no data folder: name one with --data or SITUATIOND_DATA (HOME and XDG_STATE_HOME are not set)")
			}
			state = filepath.Join(home, ".local", "state")
		}
		dir = filepath.Join(state, "situationd")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data folder %s: %w", dir, err)
	}
	return abs, nil
}

// FolderName is the name of the folder of a queue manager: names may hold
// characters that folders may not.
func FolderName(qmgr string) (string, error) {
	if err := object.CheckName(object.QMgr, qmgr); err != nil {
		return "", fmt.Errorf("queue manager: %w", err)
	}
	if qmgr == "." || qmgr == ".." {
		return "", fmt.Errorf("queue manager: %q cannot be the name of a folder; choose another name", qmgr)
	}
	return strings.NewReplacer("/", "&", "%", "~").Replace(qmgr), nil
}

// qmgrOfFolder is the inverse of FolderName; false if no queue manager has such a folder.
func qmgrOfFolder(folder string) (string, bool) {
	name := strings.NewReplacer("&", "/", "~", "%").Replace(folder)
	back, err := FolderName(name)
	return name, err == nil && back == folder
}

// qmgrsDir holds a folder for each queue manager.
func qmgrsDir(data string) string { return filepath.Join(data, "qmgrs") }

// Folder is the folder of a queue manager under data, whether or not it exists.
func Folder(data, qmgr string) (string, error) {
	name, err := FolderName(qmgr)
	if err != nil {
		return "", err
	}
	return filepath.Join(qmgrsDir(data), name), nil
}

// SocketPath is the socket of local applications in a queue manager's folder.
func SocketPath(folder string) string { return filepath.Join(folder, "qm.sock") }

func storePath(folder string) string { return filepath.Join(folder, "store") }

func lockPath(folder string) string { return filepath.Join(folder, "lock") }

// exists reports whether there is a queue manager in the folder.
func exists(folder string) (bool, error) {
	info, err := os.Stat(folder)
	switch {
	case err == nil && info.IsDir():
		return true, nil
	case err == nil:
		return false, fmt.Errorf("%s is not a folder", folder)
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	}
	return false, err
}
