package main

import (
	"context"
	"errors"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
)

// maxRemoteWait is the longest that runmqsc takes for -w.
const maxRemoteWait = 999_999

// checkRemote checks the options of commands that go to a remote queue manager.
// Verifying is done here, whatever else is asked for.
func (r *mqscRun) checkRemote(asked bool) error {
	switch {
	case !asked && r.local != "":
		return notRun("mqsc: -m names the queue manager that -w connects to; without -w name the queue manager alone")
	case !asked:
		return nil
	case r.wait < 1 || r.wait > maxRemoteWait:
		return notRun("mqsc: -w takes 1 to %d seconds, not %d", maxRemoteWait, r.wait)
	case r.qmgr == "":
		return notRun("mqsc: -w needs the name of the remote queue manager")
	}
	if _, err := mqengine.FolderName(r.qmgr); err != nil {
		return notRun("mqsc: %w", err)
	}
	return nil
}

// openRemote finds the way to the remote command queue. Its failure is told as
// that of a queue manager that cannot be connected to.
func (r *mqscRun) openRemote(ctx context.Context) error {
	remote, err := mqengine.OpenRemote(ctx, r.conn, r.qmgr, time.Duration(r.wait)*time.Second)
	if err == nil {
		r.remote = remote
		return nil
	}
	id := "AMQ8146E"
	if errors.Is(err, mqi.MQRC_UNKNOWN_REMOTE_Q_MGR) || errors.Is(err, mqi.MQRC_UNKNOWN_OBJECT_NAME) {
		id = "AMQ8118E"
	}
	r.printer.Responses(mqsc.Reply(id))
	r.printer.Summary(false)
	local, _ := r.conn.QMgr()
	return errors.Join(notRun("mqsc: from %s: %w", local, err), r.conn.Disconnect(ctx))
}
