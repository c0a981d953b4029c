package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

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
		if err := r.print(msg); err != nil {
			return fmt.Errorf("write a message: %w", err)
		}
		if err := r.count(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next gets or browses a message; nil when there are no more.
func (r *qRun) next(ctx context.Context) (*mqengine.Message, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	md := mqi.NewMD()
	gmo := mqi.GMO{Options: mqi.MQGMO_FAIL_IF_QUIESCING | r.getSyncpoint(), MaxLength: r.maxLength}
	if r.wait != 0 {
		gmo.Options |= mqi.MQGMO_WAIT
		gmo.WaitInterval = r.wait
	}
	if r.truncate {
		gmo.Options |= mqi.MQGMO_ACCEPT_TRUNCATED_MSG
	}
	if r.browse {
		gmo.Options |= mqi.MQGMO_BROWSE_NEXT
	}
	if !r.match.put {
		r.match.get(&md, &gmo)
	}
	msg, err := r.conn.Get(ctx, r.in, md, gmo)
	switch {
	case errors.Is(err, mqi.MQRC_NO_MSG_AVAILABLE):
		if !r.quiet {
			fmt.Fprintln(r.env.Stderr, "No more messages.")
		}
		return nil, nil
	case errors.Is(err, mqi.MQRC_TRUNCATED_MSG_ACCEPTED) && msg != nil:
		r.say(1, "a message of %d bytes was cut to %d", msg.Length, len(msg.Body))
		return msg, nil
	case err != nil:
		return nil, err
	}
	return msg, nil
}

// get makes an MQGET ask for the identifier.
func (g *qIdentifier) get(md *mqi.MD, gmo *mqi.GMO) {
	switch g.kind {
	case 'm':
		md.MsgId, gmo.MatchOptions = g.id, mqi.MQMO_MATCH_MSG_ID
	case 'c':
		md.CorrelId, gmo.MatchOptions = g.id, mqi.MQMO_MATCH_CORREL_ID
	case 'g':
		md.GroupId, gmo.MatchOptions = g.id, mqi.MQMO_MATCH_GROUP_ID
	}
}

// print writes one message as one line, in one write.
func (r *qRun) print(msg *mqengine.Message) error {
	if r.quiet {
		return nil
	}
	var line bytes.Buffer
	if r.verbose >= 2 {
		fmt.Fprintf(&line, "MsgId: %X\n", msg.MD.MsgId[:])
	}
	text := msg.Body
	if bytes.HasPrefix(text, []byte("#")) {
		fmt.Fprintf(&line, "(%d bytes) ", len(text))
		text = bytes.TrimRight(text, " \x00") // what a size added
	}
	line.Write(text)
	line.WriteByte('\n')
	_, err := r.env.Stdout.Write(line.Bytes())
	return err
}
