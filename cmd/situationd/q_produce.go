package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/mqengine/mqi"
)

// qLineMax is the longest line, and so the longest message: MQ's limit.
const qLineMax = 100 << 20

// produce puts a message for each line of its input, or the one that is given.
func (r *qRun) produce(ctx context.Context) error {
	r.settleContext()
	if err := r.openReplyQueue(ctx); err != nil {
		return err
	}
	if err := r.openOutputs(ctx); err != nil {
		return err
	}
	switch {
	case r.hasText:
		return r.putGiven(ctx)
	case r.whole != "":
		return r.putFile(ctx, r.whole, func(b []byte) ([]byte, error) { return b, nil })
	case r.hexFile != "":
		return r.putFile(ctx, r.hexFile, fromHex)
	case r.file != "":
		f, err := os.Open(r.file)
		if err != nil {
			return usagef("q: %w", err)
		}
		defer f.Close()
		return r.putLines(ctx, f, false)
	}
	return r.putLines(ctx, r.env.Stdin, isTerminal(r.env.Stdin))
}

// putGiven puts the message of -M, or does the # command that it is.
func (r *qRun) putGiven(ctx context.Context) error {
	if r.text == "?" {
		return r.putText(ctx, r.text)
	}
	err := r.line(ctx, r.text, func(context.Context) (string, error) { return "", errInputEnds })
	if errors.Is(err, errInputEnds) {
		return nil
	}
	return err
}

// putFile puts a whole file as one message.
func (r *qRun) putFile(ctx context.Context, name string, decode func([]byte) ([]byte, error)) error {
	f, err := os.Open(name)
	if err != nil {
		return usagef("q: %w", err)
	}
	defer f.Close()
	body, err := io.ReadAll(io.LimitReader(f, 3*qLineMax+1))
	if err == nil {
		body, err = decode(body)
	}
	if err == nil && len(body) > qLineMax {
		err = fmt.Errorf("it is longer than %d bytes", qLineMax)
	}
	if err != nil {
		return usagef("q: %s: %w", name, err)
	}
	return r.putBody(ctx, body)
}

// fromHex reads pairs of hexadecimal digits, with blanks and ends of lines between them.
func fromHex(text []byte) ([]byte, error) {
	digits := bytes.Join(bytes.Fields(text), nil)
	body := make([]byte, hex.DecodedLen(len(digits)))
	_, err := hex.Decode(body, digits)
	return body, err
}

// qLine is one line of the input, or why there are no more.
type qLine struct {
	text string
	err  error
}

// errInputEnds is the end of the lines: of the input, or #end.
var errInputEnds = errors.New("the input ends")

// putLines puts lines until the input ends or #end. A goroutine reads them, since
// a read of a terminal cannot be interrupted; after a signal it ends with the process.
func (r *qRun) putLines(ctx context.Context, in io.Reader, terminal bool) error {
	lines := make(chan qLine)
	go readLines(ctx, in, lines)
	next := func(ctx context.Context) (string, error) {
		if terminal {
			fmt.Fprint(r.env.Stderr, ">")
		}
		select {
		case line := <-lines:
			if errors.Is(line.err, io.EOF) {
				return "", errInputEnds
			}
			if line.err != nil {
				return "", fmt.Errorf("read messages: %w", line.err)
			}
			return line.text, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	for !r.limited() {
		text, err := next(ctx)
		if err == nil {
			err = r.line(ctx, text, next)
		}
		var wrong *exitError
		switch {
		case errors.Is(err, errInputEnds):
			return nil
		case terminal && errors.As(err, &wrong) && wrong.Code == exitUsage:
			fmt.Fprintln(r.env.Stderr, wrong.Err) // a person types it again
		case err != nil:
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
func (r *qRun) line(ctx context.Context, text string, next func(context.Context) (string, error)) error {
	switch {
	case r.noCommands || text == "" || text[0] != '#' && text != "?":
		return r.putText(ctx, text)
	case text == "?":
		_, err := io.WriteString(r.env.Stderr, qUsage)
		return err
	case text == "#end":
		return errInputEnds
	case strings.HasPrefix(text, "#p"):
		return r.editProperties(ctx, strings.TrimSpace(text[2:]), next)
	}
	c, err := parseQCommand(text)
	if err != nil {
		return usagef("q: %w", err)
	}
	return r.repeat(ctx, c)
}

// repeat puts the messages of a # command.
func (r *qRun) repeat(ctx context.Context, c qCommand) error {
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
		body := c.body(size)
		if c.random {
			fmt.Fprintf(r.env.Stderr, "[Chk.%d]\n", checksum(body))
		}
		if r.filter != "" && !bytes.Contains(body, []byte(r.filter)) {
			continue
		}
		if err := r.putBody(ctx, body); err != nil {
			return err
		}
		if err := r.pause(ctx, c.delay); err != nil {
			return err
		}
	}
	if c.commit > 0 {
		return r.flush(ctx)
	}
	return nil
}

// putText puts a line.
func (r *qRun) putText(ctx context.Context, text string) error {
	if r.filter != "" && !strings.Contains(text, r.filter) {
		return nil
	}
	if r.newline {
		text += "\n"
	}
	return r.putBody(ctx, []byte(text))
}

// putBody puts one message of our own, and waits for the reply with -r+.
func (r *qRun) putBody(ctx context.Context, body []byte) error {
	md := mqi.NewMD()
	md.Format = "MQSTR"
	r.dress(&md)
	var options int32
	if r.put.msg == nil {
		options = mqi.MQPMO_NEW_MSG_ID
	}
	res, err := r.putAll(ctx, &mqengine.Message{MD: md, Props: r.properties, Body: body}, options)
	if err != nil {
		return err
	}
	if err := r.count(ctx); err != nil {
		return err
	}
	if r.waitReply {
		return r.await(ctx, res)
	}
	return nil
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
