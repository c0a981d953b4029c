package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

// The words of the environment that our own commands pass on to a queue manager.
const (
	envApplName = "MQAPPLNAME"
	envOwner    = "SITUATIOND_OWNER"
)

// applTagMax is how long an APPLTAG is (MQ_APPL_TAG_LENGTH).
const applTagMax = 28

// dataFlag adds --data to a verb of embedded queue managers.
func dataFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("data", "", "folder under which everything lies (default SITUATIOND_DATA, then the system's place)")
}

// dataDir is the folder that a verb works on.
func (e *cliEnv) dataDir(asked string) (string, error) {
	dir, err := mqengine.DataDir(asked, e.Getenv, e.UID)
	if err != nil {
		return "", usagef("%w", err)
	}
	return dir, nil
}

// appl is who we are to a queue manager.
func (e *cliEnv) appl(program string) qmgr.Appl {
	a := qmgr.Appl{Tag: e.Getenv(envApplName), Owner: e.Getenv(envOwner), PID: os.Getpid()}
	if a.Tag == "" {
		a.Tag = program
	}
	if len(a.Tag) > applTagMax {
		a.Tag = strings.ToValidUTF8(a.Tag[:applTagMax], "")
	}
	return a
}

// onlyQMgr is the queue manager that is meant when none is named: the one that
// runs, if there is exactly one.
func onlyQMgr(data string) (string, error) {
	list, err := mqengine.List(data)
	if err != nil {
		return "", err
	}
	var running []string
	for _, info := range list {
		if info.Status == mqengine.StatusRunning {
			running = append(running, info.Name)
		}
	}
	switch len(running) {
	case 1:
		return running[0], nil
	case 0:
		return "", mqi.Errorf("MQCONN", "", mqi.MQRC_Q_MGR_NOT_AVAILABLE, "no queue manager runs under %s", data)
	}
	return "", mqi.Errorf("MQCONN", "", mqi.MQRC_Q_MGR_NAME_ERROR, "several queue managers run, name one of %s", strings.Join(running, ", "))
}

// connect is MQCONN to the named queue manager, or to the only one.
func (e *cliEnv) connect(ctx context.Context, data, name, program string) (mqengine.Conn, error) {
	if name == "" {
		var err error
		if name, err = onlyQMgr(data); err != nil {
			return nil, err
		}
	}
	folder, err := mqengine.Folder(data, name)
	if err != nil {
		return nil, mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NAME_ERROR, "%v", err)
	}
	conn, err := mqengine.Dial(ctx, folder, name, e.appl(program))
	if mqi.ReasonOf(err) == mqi.MQRC_Q_MGR_NAME_ERROR {
		return nil, mqi.Errorf("MQCONN", name, mqi.MQRC_Q_MGR_NAME_ERROR, "there is no queue manager of that name under %s", data)
	}
	return conn, err
}

// engineExit gives an error of the engine its exit code.
func engineExit(err error) error {
	var exit *exitError
	var inUse *mqengine.InUseError
	switch {
	case err == nil || errors.As(err, &exit):
		return err
	case errors.As(err, &inUse), errors.Is(err, mqengine.ErrExists), errors.Is(err, mqi.MQRC_NOT_AUTHORIZED), errors.Is(err, fs.ErrPermission):
		return &exitError{Code: exitRefused, Err: err}
	case errors.Is(err, mqi.MQRC_Q_MGR_NAME_ERROR), errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE), errors.Is(err, mqi.MQRC_CONNECTION_BROKEN):
		return &exitError{Code: exitUnreachable, Err: err}
	}
	return &exitError{Code: exitFailed, Err: err}
}

// qmgrName checks the queue manager of a command line.
func qmgrName(verb, name string) error {
	if _, err := mqengine.FolderName(name); err != nil {
		return usagef("%s: %w", verb, err)
	}
	return nil
}

// workloadFlag adds --workload.
func workloadFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("workload", "modern", "order in which an instance of a cluster queue is chosen: modern or v6")
}

func workloadOrder(word string) (workload.Order, error) {
	switch word {
	case "modern":
		return workload.Modern, nil
	case "v6":
		return workload.V6, nil
	}
	return 0, usagef("--workload is modern or v6, not %q", word)
}

// interrupted is the error of a run that a signal ended.
type interrupted struct{ signal os.Signal }

func (i interrupted) Error() string { return fmt.Sprintf("ended by signal: %s", i.signal) }

// signalled says which signal it was, of an error that only says that something was cancelled.
func signalled(ctx context.Context, err error) error {
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// untilSignal gives a context that SIGINT and SIGTERM end, with the signal as its cause.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case s := <-signals:
			cancel(interrupted{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
		<-done
	}
}
