package mqengine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/store"
	"github.com/situationd/situationd/mqengine/workload"
)

// CreateOptions is how a queue manager is created.
type CreateOptions struct {
	Data string // the data folder, see DataDir
	Name string
	// MQSC are files of commands that are run once, as part of the creation.
	MQSC []string
	// Workload is the order of choice while the files run.
	Workload workload.Order
	Logger   hclog.Logger
	Reserve  int64
}

// ErrExists tells that there is a queue manager of that name already.
var ErrExists = errors.New("queue manager exists already")

// ScriptError is a command of an MQSC file that failed: the queue manager was not created.
type ScriptError struct {
	File string
	Line int
	Text string // the command
	Why  string // the replies
}

func (e *ScriptError) Error() string {
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Text, e.Why)
}

// UnreadableError is an MQSC file that cannot be read: nothing was done.
type UnreadableError struct{ Err error }

func (e *UnreadableError) Error() string { return fmt.Sprintf("MQSC file: %v", e.Err) }

func (e *UnreadableError) Unwrap() error { return e.Err }

// Create creates a queue manager: its folder appears complete or not at all.
func Create(ctx context.Context, o CreateOptions) (err error) {
	folder, err := Folder(o.Data, o.Name)
	if err != nil {
		return err
	}
	there, err := exists(folder)
	if err != nil {
		return err
	}
	if there {
		return fmt.Errorf("%s: %w", o.Name, ErrExists)
	}
	files, err := openScripts(o.MQSC)
	if err != nil {
		return err
	}
	defer files.close()
	if err := os.MkdirAll(qmgrsDir(o.Data), 0o750); err != nil {
		return fmt.Errorf("create queue manager %s: %w", o.Name, err)
	}
	work, release, err := workFolder(o.Data, "new-")
	if err != nil {
		return fmt.Errorf("create queue manager %s: %w", o.Name, err)
	}
	defer func() { err = errors.Join(err, release()) }()
	err = fill(ctx, work, o, files)
	if err == nil {
		if err = appear(work, folder); errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s: %w", o.Name, ErrExists)
		}
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(work))
	}
	return nil
}

// fill makes the contents of a queue manager's folder.
func fill(ctx context.Context, work string, o CreateOptions, files scripts) error {
	inner := filepath.Join(work, "qm")
	if err := os.Mkdir(inner, 0o750); err != nil {
		return fmt.Errorf("create queue manager %s: %w", o.Name, err)
	}
	var log func(string)
	if o.Logger != nil {
		log = func(line string) { o.Logger.Warn(line) }
	}
	s, err := store.OpenPebble(storePath(inner), store.Options{Reserve: o.Reserve, Log: log})
	if err != nil {
		return fmt.Errorf("create queue manager %s: %w", o.Name, err)
	}
	if err := found(s, o.Name); err != nil {
		return errors.Join(fmt.Errorf("create queue manager %s: %w", o.Name, err), s.Close())
	}
	if len(files) == 0 {
		return s.Close()
	}
	if err := s.Close(); err != nil {
		return err
	}
	return runScripts(ctx, inner, o, files)
}

// found writes the records of a new queue manager.
func found(s store.Store, name string) error {
	if err := s.Space(); err != nil {
		return err
	}
	now := time.Now()
	var fx qmgr.Effects
	if err := qmgr.Create(now, name, object.QMID(name, now), &fx); err != nil {
		return err
	}
	fx.Unit.Sync = true
	if _, err := s.Load(nothing{}); err != nil {
		return err
	}
	return s.Apply(&fx.Unit)
}

// nothing visits a store that must be empty.
type nothing struct{}

func (nothing) Record(string, []byte) error { return errors.New("the store is not empty") }

func (nothing) Message(uint32, uint64, []byte) (store.BodyID, error) {
	return 0, errors.New("the store is not empty")
}

// runScripts starts the new queue manager where nobody sees it, and runs the files.
func runScripts(ctx context.Context, inner string, o CreateOptions, files scripts) error {
	s, err := store.OpenPebble(storePath(inner), store.Options{Reserve: o.Reserve, MustExist: true})
	if err != nil {
		return fmt.Errorf("create queue manager %s: %w", o.Name, err)
	}
	q, err := Start(ctx, Options{Name: o.Name, Store: s, Workload: o.Workload, Network: nowhere{}, creating: true})
	if err != nil {
		return err
	}
	conn, err := q.Connect(ctx, qmgr.Appl{Tag: "crtmqm", PID: os.Getpid()})
	if err == nil {
		for _, f := range files {
			if err = runScript(ctx, conn, f); err != nil {
				break
			}
		}
		err = errors.Join(err, conn.Disconnect(ctx))
	}
	return errors.Join(err, q.Stop(ctx))
}

func runScript(ctx context.Context, conn Conn, f *os.File) error {
	r := mqsc.NewReader(f)
	for {
		it, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name(), err)
		}
		if it.End {
			return nil
		}
		fail := func(rs []mqsc.Response) error {
			return &ScriptError{File: f.Name(), Line: it.Line, Text: oneLine(it.Text), Why: oneLine(responsesText(rs))}
		}
		if it.Err != nil {
			return fail(it.Err.Responses())
		}
		if it.Text == "" {
			continue
		}
		cmd, bad := mqsc.Parse(it.Text)
		if bad != nil {
			return fail(bad.Responses())
		}
		res, err := conn.Command(ctx, cmd)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", f.Name(), it.Line, err)
		}
		if res.Failed {
			return fail(res.Responses)
		}
	}
}

// appear gives the finished folder its name.
func appear(work, folder string) error {
	inner := filepath.Join(work, "qm")
	if err := syncDir(inner); err != nil {
		return err
	}
	if err := os.Rename(inner, folder); err != nil {
		// A folder that is not empty is in the way: somebody was faster.
		if there, e := exists(folder); e == nil && there {
			return os.ErrExist
		}
		return err
	}
	return errors.Join(syncDir(filepath.Dir(folder)), os.Remove(work))
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// scripts are open MQSC files: opened before anything is made, so that a wrong name costs nothing.
type scripts []*os.File

func openScripts(names []string) (scripts, error) {
	var list scripts
	for _, name := range names {
		f, err := os.Open(name)
		if err == nil {
			list = append(list, f)
			var info os.FileInfo
			if info, err = f.Stat(); err == nil && info.IsDir() {
				err = fmt.Errorf("%s is a folder, not a file of commands", name)
			}
		}
		if err != nil {
			list.close()
			return nil, &UnreadableError{err}
		}
	}
	return list, nil
}

func (s scripts) close() {
	for _, f := range s {
		_ = f.Close() // only read
	}
}

func responsesText(rs []mqsc.Response) string {
	var text string
	for i, r := range rs {
		if i > 0 {
			text += " "
		}
		text += r.ID + ": " + r.Text
	}
	return text
}

func oneLine(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c < ' ' {
			b[i] = ' '
		}
	}
	return string(b)
}

var errNowhere = mqi.Errorf("MQCONN", "", mqi.MQRC_HOST_NOT_AVAILABLE, "the queue manager is being created")
