package mqengine

import (
	"context"
	"errors"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// endRetry is how often a queue manager is tried that is still starting.
const endRetry = 20 * time.Millisecond

// End asks the queue manager in folder to end, as endmqm does, and returns when
// it has let go of the folder. One that is starting is ended once it has started.
// 2059: it does not run.
func End(ctx context.Context, folder, name string, immediate bool) error {
	p, err := dialHolder(ctx, folder, name)
	if err != nil {
		return err
	}
	err = p.end(ctx, immediate)
	if mqi.ReasonOf(err) == mqi.MQRC_CONNECTION_BROKEN {
		err = nil // it ended before it could answer
	}
	return errors.Join(err, p.close(), WaitEnded(ctx, folder))
}

// dialHolder connects to whoever holds the folder, as soon as that answers.
func dialHolder(ctx context.Context, folder, name string) (*socketPort, error) {
	retry := time.NewTicker(endRetry)
	defer retry.Stop()
	for {
		p, err := dialSocket(ctx, folder, name, qmgr.Appl{Tag: "endmqm"})
		if !errors.Is(err, mqi.MQRC_Q_MGR_NOT_AVAILABLE) {
			return p, err
		}
		held, _, lookErr := lookAtLock(folder)
		if lookErr != nil || !held {
			return nil, errors.Join(err, lookErr)
		}
		select {
		case <-retry.C:
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		}
	}
}

// WaitEnded returns when nobody holds the queue manager's folder any more.
func WaitEnded(ctx context.Context, folder string) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		running, _, err := lookAtLock(folder)
		if err != nil || !running {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}
