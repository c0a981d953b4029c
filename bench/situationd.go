package main

import (
	"context"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// situationdPut puts persistent messages through the queue manager's socket,
// with the client that the command q uses.
func situationdPut(ctx context.Context, o options) (session, error) {
	conn, err := mqengine.Dial(ctx, o.socket, "", qmgr.Appl{Tag: "bench"})
	if err != nil {
		return session{}, err
	}
	background := context.WithoutCancel(ctx)
	end := func() { _ = conn.Disconnect(background) } // the puts were answered
	h, _, err := conn.Open(ctx, mqi.OD{ObjectName: o.queue}, mqi.MQOO_OUTPUT)
	if err != nil {
		end()
		return session{}, err
	}
	put := func() error {
		md := mqi.NewMD()
		md.Persistence = mqi.MQPER_PERSISTENT
		_, err := conn.Put(background, h, &mqengine.Message{MD: md, Body: make([]byte, o.size)}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT})
		return err
	}
	return session{put, end}, nil
}
