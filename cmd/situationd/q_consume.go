package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// consume prints messages until there are no more.
func (r *qRun) consume(ctx context.Context) error {
	for !r.limited() {
		msg, err := r.next(ctx)
		if err != nil || msg == nil {
			return err
		}
		// The line is out before the next get and before the commit: a message that is
		// gone from the queue was seen.
		if err := r.write(msg); err != nil {
			return fmt.Errorf("write a message: %w", err)
		}
		if r.echo {
			if err := r.reply(ctx, msg); err != nil {
				return err
			}
		}
		if err := r.count(ctx); err != nil {
			return err
		}
	}
	return nil
}

// write prints a message, or adds it to the file of -F.
func (r *qRun) write(msg *mqengine.Message) error {
	if r.sink == nil {
		return r.print(msg)
	}
	_, err := r.sink.Write(msg.Body)
	return err
}

// qScan is where a search for messages with a text is.
type qScan struct {
	first bool // the next look is at the head of the queue
	last  bool // the whole queue is looked at once more, without waiting
}

// next gets or browses a message; nil when there are no more.
func (r *qRun) next(ctx context.Context) (*mqengine.Message, error) {
	if err := r.pause(ctx, time.Duration(r.sleep)*time.Millisecond); err != nil {
		return nil, err
	}
	var msg *mqengine.Message
	var err error
	if r.filter != "" {
		msg, err = r.search(ctx)
	} else {
		options := r.getSyncpoint()
		if r.browse {
			options |= mqi.MQGMO_BROWSE_NEXT
		}
		msg, err = r.get1(ctx, options, r.wait, r.maxLength)
	}
	if errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) {
		if !r.quiet {
			fmt.Fprintln(r.env.Stderr, "No more messages.")
		}
		return nil, nil
	}
	return msg, err
}

// search is next with -h: it browses, and takes what has the text. Others keep
// their place in the queue.
func (r *qRun) search(ctx context.Context) (*mqengine.Message, error) {
	for {
		options, wait := mqi.MQGMO_NO_SYNCPOINT|mqi.MQGMO_BROWSE_NEXT, r.wait
		if r.scan.first {
			options ^= mqi.MQGMO_BROWSE_NEXT | mqi.MQGMO_BROWSE_FIRST
		}
		if r.scan.last {
			wait = 0
		}
		msg, err := r.get1(ctx, options, wait, -1)
		r.scan.first = false
		switch {
		case errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE) && !r.scan.last && !r.browse:
			// A message of higher priority comes before the cursor.
			r.scan = qScan{first: true, last: true}
			continue
		case err != nil:
			return nil, err
		case !bytes.Contains(msg.Body, []byte(r.filter)):
			continue
		case r.browse:
			return msg, nil
		}
		msg, err = r.get1(ctx, r.getSyncpoint()|mqi.MQGMO_MSG_UNDER_CURSOR, 0, r.maxLength)
		if errors.Is(err, mqi.MQRC_NO_MSG_UNDER_CURSOR) {
			continue // another program was faster
		}
		r.scan.last = false
		return msg, err
	}
}

// get1 is one MQGET of the input queue.
func (r *qRun) get1(ctx context.Context, options, wait, most int32) (*mqengine.Message, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	md := mqi.NewMD()
	gmo := mqi.GMO{Options: options | r.quiescing(mqi.MQGMO_FAIL_IF_QUIESCING), MaxLength: most}
	if wait != 0 && options&mqi.MQGMO_MSG_UNDER_CURSOR == 0 {
		gmo.Options |= mqi.MQGMO_WAIT
		gmo.WaitInterval = wait
	}
	if r.truncate {
		gmo.Options |= mqi.MQGMO_ACCEPT_TRUNCATED_MSG
	}
	if r.lock {
		gmo.Options |= mqi.MQGMO_LOCK
	}
	if r.complete {
		gmo.Options |= mqi.MQGMO_COMPLETE_MSG
	}
	if options&mqi.MQGMO_MSG_UNDER_CURSOR == 0 {
		r.get.match(&md, &gmo)
	}
	msg, err := r.conn.Get(ctx, r.in, md, gmo)
	if errors.Is(err, mqi.MQRC_TRUNCATED_MSG_ACCEPTED) && msg != nil {
		r.say(1, "a message of %d bytes was cut to %d", msg.Length, len(msg.Body))
		return msg, nil
	}
	return msg, err
}

// match makes an MQGET ask for the identifiers.
func (g *qIdentifiers) match(md *mqi.MD, gmo *mqi.GMO) {
	if g.msg != nil {
		md.MsgId, gmo.MatchOptions = *g.msg, gmo.MatchOptions|mqi.MQMO_MATCH_MSG_ID
	}
	if g.correl != nil {
		md.CorrelId, gmo.MatchOptions = *g.correl, gmo.MatchOptions|mqi.MQMO_MATCH_CORREL_ID
	}
	if g.group != nil {
		md.GroupId, gmo.MatchOptions = *g.group, gmo.MatchOptions|mqi.MQMO_MATCH_GROUP_ID
	}
}

// pause waits, or until a signal.
func (r *qRun) pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
