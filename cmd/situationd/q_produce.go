package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/qmgr"
)

// qLineMax is the longest line, and so the longest message: MQ's limit.
const qLineMax = 100 << 20

// produce puts a message for each line of its input.
func (r *qRun) produce(ctx context.Context) error {
	if r.context == 'a' || r.context == 'i' {
		return usagef("q: -C%c passes the context of messages that are got; use it with -I", r.context)
	}
	target := r.target()
	if !r.put1 {
		h, res, err := r.conn.Open(ctx, target, mqi.MQOO_OUTPUT|mqi.MQOO_FAIL_IF_QUIESCING|r.bind|r.openContext())
		if err != nil {
			return err
		}
		r.out = h
		r.say(1, "opened %s (%s at %s)", r.output, res.ResolvedQName, res.ResolvedQMgrName)
	}
	if r.hasText {
		return r.putText(ctx, target, r.text)
	}
	in := r.env.Stdin
	if r.file != "" {
		f, err := os.Open(r.file)
		if err != nil {
			return usagef("q: %w", err)
		}
		defer f.Close()
		in = f
	}
	return r.putLines(ctx, target, in)
}

// qLine is one line of the input, or why there are no more.
type qLine struct {
	text string
	err  error
}

// putLines puts lines until the input ends or #end. A goroutine reads them, since
// a read of a terminal cannot be interrupted; after a signal it ends with the process.
func (r *qRun) putLines(ctx context.Context, target mqi.OD, in io.Reader) error {
	terminal := isTerminal(in)
	lines := make(chan qLine)
	go readLines(ctx, in, lines)
	for !r.limited() {
		if terminal {
			fmt.Fprint(r.env.Stderr, ">")
		}
		var line qLine
		select {
		case line = <-lines:
		case <-ctx.Done():
			return ctx.Err()
		}
		if errors.Is(line.err, io.EOF) {
			return nil
		}
		if line.err != nil {
			return fmt.Errorf("read messages: %w", line.err)
		}
		end, err := r.line(ctx, target, line.text, terminal)
		if err != nil || end {
			return err
		}
	}
	return nil
}

func readLines(ctx context.Context, in io.Reader, lines chan<- qLine) {
	b := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(b)
		select {
		case lines <- qLine{text, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line without its end; io.EOF only where nothing is left.
func readLine(b *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := b.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > qLineMax:
			return "", fmt.Errorf("a line is longer than %d bytes", qLineMax)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
		return strings.TrimSuffix(string(line[:len(line)-1]), "\r"), nil
	}
}

// line carries out one line of the input.
func (r *qRun) line(ctx context.Context, target mqi.OD, text string, terminal bool) (end bool, err error) {
	if r.noCommands || text == "" || text[0] != '#' && text != "?" {
		return false, r.putText(ctx, target, text)
	}
	if text == "?" {
		_, err := io.WriteString(r.env.Stderr, qUsage)
		return false, err
	}
	if text == "#end" {
		return true, nil
	}
	c, err := parseQCommand(text)
	if err != nil {
		if terminal {
			fmt.Fprintf(r.env.Stderr, "q: %v\n", err)
			return false, nil
		}
		return false, usagef("q: %w", err)
	}
	return false, r.repeat(ctx, target, c)
}

// repeat puts the messages of a # command.
func (r *qRun) repeat(ctx context.Context, target mqi.OD, c qCommand) error {
	if c.commit > 0 {
		before := r.every
		r.every = c.commit
		defer func() { r.every = before }()
	}
	for range c.times {
		if r.limited() {
			break
		}
		size := c.size
		if size < 0 {
			size = 1 + rand.IntN(-size)
		}
		if err := r.putText(ctx, target, c.body(size)); err != nil {
			return err
		}
		if c.delay > 0 {
			select {
			case <-time.After(c.delay):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if c.commit > 0 {
		return r.flush(ctx)
	}
	return nil
}

// putText puts one message of our own.
func (r *qRun) putText(ctx context.Context, target mqi.OD, text string) error {
	md := mqi.NewMD()
	md.Format, md.Persistence, md.Priority, md.MsgType = "MQSTR", r.persistence, r.priority, r.msgType
	md.ReplyToQ = r.replyTo
	if r.expiry > 0 {
		md.Expiry = r.expiry
	}
	switch r.match.kind {
	case 'm':
		md.MsgId = r.match.id
	case 'c':
		md.CorrelId = r.match.id
	case 'g':
		md.GroupId, md.MsgFlags = r.match.id, mqi.MQMF_MSG_IN_GROUP
	}
	pmo := mqi.PMO{Options: mqi.MQPMO_FAIL_IF_QUIESCING | r.putSyncpoint(r.persistence) | r.putContext()}
	if r.match.kind != 'm' {
		pmo.Options |= mqi.MQPMO_NEW_MSG_ID
	}
	if _, err := r.put(ctx, target, &mqengine.Message{MD: md, Body: []byte(text)}, pmo); err != nil {
		return err
	}
	return r.count(ctx)
}

func (r *qRun) put(ctx context.Context, target mqi.OD, msg *mqengine.Message, pmo mqi.PMO) (qmgr.PutResult, error) {
	if ctx.Err() != nil {
		return qmgr.PutResult{}, ctx.Err()
	}
	var res qmgr.PutResult
	var err error
	if r.put1 {
		res, err = r.conn.Put1(ctx, target, msg, pmo)
	} else {
		res, err = r.conn.Put(ctx, r.out, msg, pmo)
	}
	if err == nil {
		r.say(2, "put %X to %s at %s", res.MsgId[:], res.ResolvedQName, res.ResolvedQMgrName)
	}
	return res, err
}

// isTerminal reports whether a person types the input.
func isTerminal(in io.Reader) bool {
	f, ok := in.(*os.File)
	if !ok {
		return false
	}
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
