package app

import (
	"context"
	"errors"
	"os"

	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/workload"
)

// applTag is the name under which the daemon's connections show.
const applTag = "situationd"

// openQueueManager starts the queue manager if it is hosted, after creating it
// where there is none yet.
func (a *App) openQueueManager(ctx context.Context, data string) error {
	if a.config.QueueManager.Connect != config.Hosted {
		return nil
	}
	h := a.config.QueueManager.Hosted
	order := workload.Modern
	if h.Workload == "v6" {
		order = workload.V6
	}
	folder, err := mqengine.Folder(data, a.qmgr)
	if err != nil {
		return err
	}
	err = mqengine.Create(ctx, mqengine.CreateOptions{
		Data: data, Name: a.qmgr, MQSC: h.MQSC, Workload: order, Logger: a.logger,
	})
	if err != nil && !errors.Is(err, mqengine.ErrExists) {
		return err
	}
	a.hosted, err = mqengine.Start(ctx, mqengine.Options{
		Name: a.qmgr, Folder: folder, Listen: h.Listen, Workload: order, Logger: a.logger,
	})
	if err != nil {
		return err
	}
	a.onClose("queue manager", func() error {
		stopping, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return a.hosted.Stop(stopping)
	})
	return nil
}

// dialer makes connections that carry the daemon's token.
func (a *App) dialer(data, owner string) func(context.Context) (mqengine.Conn, error) {
	appl := qmgr.Appl{Tag: applTag, PID: os.Getpid(), Owner: owner}
	if a.outside != nil {
		return func(ctx context.Context) (mqengine.Conn, error) { return a.outside.Dial(ctx, appl) }
	}
	if a.hosted != nil {
		return func(ctx context.Context) (mqengine.Conn, error) { return a.hosted.Connect(ctx, appl) }
	}
	return func(ctx context.Context) (mqengine.Conn, error) {
		folder, err := mqengine.Folder(data, a.qmgr)
		if err != nil {
			return nil, err
		}
		return mqengine.Dial(ctx, folder, a.qmgr, appl)
	}
}
