package mqengine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// States of a queue manager, in MQ's words.
const (
	StatusStarting          = "Starting"
	StatusRunning           = "Running"
	StatusQuiescing         = "Quiescing"
	StatusEnded             = "Ended normally"
	StatusEndedUnexpectedly = "Ended unexpectedly"
)

// Info is one line of dspmq.
type Info struct {
	Name   string
	Status string
	PID    int // of the process that hosts it; 0 unless it is starting or runs
	Folder string
}

// List gives the queue managers under data, by name.
func List(data string) ([]Info, error) {
	entries, err := os.ReadDir(qmgrsDir(data))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list queue managers: %w", err)
	}
	var list []Info
	for _, e := range entries {
		name, ok := qmgrOfFolder(e.Name())
		if !ok || !e.IsDir() || strings.HasPrefix(e.Name(), workPrefix) {
			continue
		}
		info, err := look(name, filepath.Join(qmgrsDir(data), e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	return list, nil
}

// Look gives one queue manager; 2058 if there is none of that name.
func Look(data, name string) (Info, error) {
	folder, err := Folder(data, name)
	if err != nil {
		return Info{}, err
	}
	there, err := exists(folder)
	if err != nil {
		return Info{}, err
	}
	if !there {
		return Info{}, errNoQMgr("MQCONN", data, name)
	}
	return look(name, folder)
}

func look(name, folder string) (Info, error) {
	info := Info{Name: name, Folder: folder, Status: StatusEndedUnexpectedly}
	running, h, err := lookAtLock(folder)
	switch {
	case err != nil:
		return info, fmt.Errorf("queue manager %s: %w", name, err)
	case running && h.starting:
		info.Status, info.PID = StatusStarting, h.pid
	case running && h.quiesces:
		info.Status, info.PID = StatusQuiescing, h.pid
	case running:
		info.Status, info.PID = StatusRunning, h.pid
	case h.ended:
		info.Status = StatusEnded
	}
	return info, nil
}

func errNoQMgr(op, data, name string) error {
	return mqi.Errorf(op, name, mqi.MQRC_Q_MGR_NAME_ERROR, "there is no queue manager of that name under %s", data)
}

// workPrefix starts the names of folders that are being made or removed. No
// queue manager has one: the character is in no MQ name.
const workPrefix = "#"

// Delete removes a queue manager and everything in it. One that runs is refused.
func Delete(data, name string) error {
	folder, err := Folder(data, name)
	if err != nil {
		return err
	}
	there, err := exists(folder)
	if err != nil {
		return err
	}
	if !there {
		return errNoQMgr("dltmqm", data, name)
	}
	lock, err := lockFolder(folder, name)
	if err != nil {
		return err
	}
	// Out of sight first: whatever stops the removal half way, no half queue manager is left.
	grave, release, err := workFolder(data, "deleted-")
	if err == nil {
		if err = os.Rename(folder, filepath.Join(grave, "qm")); err != nil {
			err = errors.Join(err, release(), os.Remove(grave))
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("delete queue manager %s: %w", name, err), lock.release(true))
	}
	err = errors.Join(lock.release(true), os.RemoveAll(grave), release())
	if err != nil {
		return fmt.Errorf("delete queue manager %s: %w", name, err)
	}
	return nil
}
