package main

import (
	"context"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// openQueue connects through the queue manager's socket, with the client that
// the command q uses, and opens the queue.
func openQueue(ctx context.Context, o options, how int32) (mqengine.Conn, mqengine.Handle, func(), error) {
	conn, err := mqengine.Dial(ctx, o.socket, "", qmgr.Appl{Tag: "bench"})
	if err != nil {
		return nil, 0, nil, err
	}
	end := func() { _ = conn.Disconnect(context.WithoutCancel(ctx)) } // everything was answered
	h, _, err := conn.Open(ctx, mqi.OD{ObjectName: o.queue}, how)
	if err != nil {
		end()
		return nil, 0, nil, err
	}
	return conn, h, end, nil
}

// situationdPutter puts persistent messages outside of a unit of work.
func situationdPutter(ctx context.Context, o options) (putter, error) {
	conn, h, end, err := openQueue(ctx, o, mqi.MQOO_OUTPUT)
	if err != nil {
		return putter{}, err
	}
	background, body := context.WithoutCancel(ctx), bodyOf(o.size)
	return putter{put: func() error { return putOne(background, conn, h, body) }, end: end}, nil
}

func putOne(ctx context.Context, conn mqengine.Conn, h mqengine.Handle, body []byte) error {
	md := mqi.NewMD()
	md.Persistence = mqi.MQPER_PERSISTENT
	_, err := conn.Put(ctx, h, &mqengine.Message{MD: md, Body: body}, mqi.PMO{Options: mqi.MQPMO_NO_SYNCPOINT})
	return err
}

// situationdTaker gets each message outside of a unit of work: the answer comes
// when the get is durable.
func situationdTaker(ctx context.Context, o options) (taker, error) {
	conn, h, end, err := openQueue(ctx, o, mqi.MQOO_INPUT_SHARED)
	if err != nil {
		return taker{}, err
	}
	take := func(ctx context.Context) error {
		_, err := conn.Get(ctx, h, mqi.MD{}, mqi.GMO{Options: mqi.MQGMO_WAIT | mqi.MQGMO_NO_SYNCPOINT, WaitInterval: mqi.MQWI_UNLIMITED, MaxLength: -1})
		return err
	}
	return taker{take, end}, nil
}
