package main

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// qOptions are the options of one run of q.
type qOptions struct {
	data    string
	qmgr    string
	input   string // -I or -i
	browse  bool   // -i
	output  string // -o or -O
	bind    int32  // 0, or MQOO_BIND_ON_OPEN for -O
	text    string // -M: one message instead of the lines of standard input
	hasText bool
	file    string // -f: lines of this file instead

	wait     int32 // milliseconds, MQWI_UNLIMITED
	commit   int   // -p: after this many messages; 0: no syncpoint
	ifPers   bool  // -p negative: syncpoint for persistent messages only
	limit    int   // -L; 0: none
	priority int32 // -P; -1: the queue's, or the message's own when it is moved
	expiry   int32 // -y; 0: unlimited
	replyTo  string
	quiet    bool
	progress bool // --progress: tell how far a long run is, also where no terminal is
	verbose  int

	persistence int32 // -ap, -an, -aq
	msgType     int32
	exclusive   bool // -aX
	noCommands  bool // -ax: a line that begins with # is a message
	context     byte // -C: a i A I n; 0: default
	match       qIdentifier
	put1        bool
	maxLength   int32 // -=: -1 for any
	truncate    bool
	separators  string
	exit        byte // -V: z, c; 0: the reason code

	help bool
}

// qIdentifier is -g: get, or put, by an identifier.
type qIdentifier struct {
	kind byte // m c g; 0: none
	put  bool
	id   mqi.MsgId
}

const qUsage = `Usage: q [options], each letter with its value glued to it or behind a blank
  -m QM       queue manager; the only one that runs if it is left out
  -I Q        get from this queue          -i Q  browse it
  -o Q        put to this queue (QM/Q: at that queue manager)
  -O Q        the same, bound on open
  -w SEC      wait for messages; negative: for ever
  -p N        commit after N messages; -N: only persistent ones under syncpoint
  -L N        stop after N messages        -q    do not print messages
  -M TEXT     put one message              -f F  put the lines of a file
  -P N        priority                     -y N  expiry in tenths of a second
  -a LETTERS  p n q persistence, d R r t type, x no # commands, X exclusive
  -C LETTER   context: a pass all, i pass identity, A set all, I set identity, n none
  -g [p][x]mID or c or g   by message, correlation or group identifier; x: in hex
  -r Q        reply queue                  -1    MQPUT1
  -=N         longest message              -v1 to -v5   say more; -v2 prints the MsgId
  -$ C        character between QM and Q   -Vz -Vc      exit 0, or 0 4 8
  --data DIR  data folder                  --progress  tell how far a long run is
With -I and -o messages are moved, with -i and -o copied. With the same queue for both
the move ends at the depth seen at the start, and stops if a message comes back.
Lines: #100 puts 100 messages "#100"; #100/1024 of that size; #!100 TEXT puts TEXT; #end ends; ? helps.
`

// qDashes are what word processors make of a minus sign.
const qDashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"

// parseQ reads q's command line. Errors are one line for a person.
func parseQ(args []string) (*qOptions, error) {
	o := &qOptions{priority: -1, persistence: mqi.MQPER_PERSISTENCE_AS_Q_DEF, msgType: mqi.MQMT_DATAGRAM, maxLength: -1, separators: `/#\,`}
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if i := strings.IndexAny(word, qDashes); i == 0 {
			return nil, fmt.Errorf("%q begins with a long dash (%U); type a plain minus sign", word, []rune(word)[0])
		}
		if name, ok := strings.CutPrefix(word, "--"); ok {
			rest, err := o.long(name, args)
			if err != nil {
				return nil, err
			}
			args = rest
			continue
		}
		if len(word) < 2 || word[0] != '-' {
			return nil, fmt.Errorf("%q is not an option; every word begins with -", word)
		}
		letter, value := word[1], word[2:]
		if value == "" && strings.IndexByte(qNeedsValue, letter) >= 0 && len(args) > 0 && isQValue(letter, args[0]) {
			value, args = args[0], args[1:]
		}
		if err := o.set(letter, value); err != nil {
			return nil, err
		}
	}
	return o, o.check()
}

// qNeedsValue are the letters whose value may stand behind a blank.
const qNeedsValue = "IioOmwpPLMfyraCgV$"

// isQValue reports whether the next word is the value of the letter before it:
// another option is not, but a negative number is.
func isQValue(letter byte, word string) bool {
	if letter == 'M' || !strings.HasPrefix(word, "-") {
		return true
	}
	_, err := strconv.Atoi(word)
	return err == nil && strings.IndexByte("wpPLy", letter) >= 0
}

func (o *qOptions) long(name string, args []string) ([]string, error) {
	switch key, value, glued := strings.Cut(name, "="); {
	case key == "help":
		o.help = true
	case key == "progress":
		o.progress = true
	case key == "data" && glued:
		o.data = value
	case key == "data" && len(args) > 0:
		o.data, args = args[0], args[1:]
	case key == "data":
		return nil, fmt.Errorf("--data needs a folder")
	default:
		return nil, fmt.Errorf("--%s is not an option; see q -?", key)
	}
	return args, nil
}

// set takes one option.
func (o *qOptions) set(letter byte, value string) error {
	if value == "" && strings.IndexByte("IioOmwPLfyrCgV$=", letter) >= 0 {
		return fmt.Errorf("-%c needs a value", letter)
	}
	switch letter {
	case 'I', 'i':
		if o.input != "" {
			return fmt.Errorf("one -I or -i is enough, there are %s and %s", o.input, value)
		}
		o.input, o.browse = value, letter == 'i'
	case 'o', 'O':
		if o.output != "" {
			return fmt.Errorf("several output queues (%s, %s) come with a later release", o.output, value)
		}
		o.output = value
		if letter == 'O' {
			o.bind = mqi.MQOO_BIND_ON_OPEN
		}
	case 'm':
		o.qmgr = value
	case 'M':
		o.text, o.hasText = value, true
	case 'f':
		o.file = value
	case 'r':
		o.replyTo = value
	case 'q':
		o.quiet = true
	case '1':
		o.put1 = true
	case '$':
		o.separators = value
	case 's', 'l': // output goes to standard output anyway; there is no library to choose
	case '?', 'h':
		o.help = true
	default:
		return o.setMore(letter, value)
	}
	return nil
}

func (o *qOptions) setMore(letter byte, value string) (err error) {
	switch letter {
	case 'a':
		return o.attributes(value)
	case 'C':
		if len(value) != 1 || !strings.Contains("aiAIn", value) {
			return fmt.Errorf("-C is one of a i A I n, not %q", value)
		}
		o.context = value[0]
	case 'g':
		return o.identifier(value)
	case 'V':
		if value != "z" && value != "c" {
			return fmt.Errorf("-V is z or c, not %q", value)
		}
		o.exit = value[0]
	case 'v':
		o.verbose = 1
		if value != "" {
			o.verbose, err = qNumber('v', value, 1, 5)
		}
		return err
	case '=':
		o.truncate = !strings.HasPrefix(value, "n")
		n, err := qNumber('=', strings.TrimPrefix(value, "n"), 0, math.MaxInt32)
		o.maxLength = int32(n)
		return err
	default:
		return o.number(letter, value)
	}
	return nil
}

// number takes the options whose value is one.
func (o *qOptions) number(letter byte, value string) error {
	switch letter {
	case 'w':
		n, err := qNumber('w', value, math.MinInt32, math.MaxInt32)
		o.wait = mqi.MQWI_UNLIMITED
		if n >= 0 && n <= math.MaxInt32/1000 {
			o.wait = int32(n) * 1000
		}
		return err
	case 'p':
		if value == "" {
			return nil
		}
		n, err := qNumber('p', value, -10000, 10000)
		o.commit, o.ifPers = max(n, -n), n < 0
		return err
	case 'P':
		n, err := qNumber('P', value, -1, 9)
		o.priority = int32(n)
		return err
	case 'L':
		n, err := qNumber('L', value, 1, math.MaxInt32)
		o.limit = n
		return err
	case 'y':
		n, err := qNumber('y', value, 1, 999_999_999)
		o.expiry = int32(n)
		return err
	}
	return fmt.Errorf("-%c is not an option of this version; see q -?", letter)
}

func qNumber(letter byte, value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("-%c takes a number from %d to %d, not %q", letter, least, most, value)
	}
	return n, nil
}

func (o *qOptions) attributes(letters string) error {
	for _, a := range letters {
		switch a {
		case 'p':
			o.persistence = mqi.MQPER_PERSISTENT
		case 'n':
			o.persistence = mqi.MQPER_NOT_PERSISTENT
		case 'q':
			o.persistence = mqi.MQPER_PERSISTENCE_AS_Q_DEF
		case 'd':
			o.msgType = mqi.MQMT_DATAGRAM
		case 'R':
			o.msgType = mqi.MQMT_REQUEST
		case 'r':
			o.msgType = mqi.MQMT_REPLY
		case 't':
			o.msgType = mqi.MQMT_REPORT
		case 'x':
			o.noCommands = true
		case 'X':
			o.exclusive = true
		case 'f', 'F', 'a', 'A': // asynchronous put and read ahead change nothing here
		default:
			return fmt.Errorf("-a%c is not an attribute of this version; see q -?", a)
		}
	}
	return nil
}

// identifier reads -g: letters, then m, c or g with the identifier.
func (o *qOptions) identifier(value string) error {
	inHex := false
	for i, c := range []byte(value) {
		switch c {
		case 'p':
			o.match.put = true
		case 'x':
			inHex = true
		case 'm', 'c', 'g':
			o.match.kind = c
			return o.match.set(value[i+1:], inHex)
		default:
			return fmt.Errorf("-g%s: m, c or g comes before the identifier", value)
		}
	}
	return fmt.Errorf("-g%s: m, c or g with an identifier is missing", value)
}

func (g *qIdentifier) set(text string, inHex bool) error {
	id := []byte(text)
	if inHex {
		var err error
		if id, err = hex.DecodeString(text); err != nil {
			return fmt.Errorf("-g: %q is not hexadecimal: %w", text, err)
		}
	}
	if len(id) == 0 || len(id) > len(g.id) {
		return fmt.Errorf("-g: an identifier has 1 to %d bytes, not %d", len(g.id), len(id))
	}
	copy(g.id[:], id)
	return nil
}

func (o *qOptions) check() error {
	switch {
	case o.help:
		return nil
	case o.input == "" && o.output == "":
		return fmt.Errorf("name a queue with -I, -i or -o; see q -?")
	case o.hasText && o.file != "":
		return fmt.Errorf("-M and -f exclude each other")
	case o.input != "" && (o.hasText || o.file != ""):
		return fmt.Errorf("-M and -f put messages of their own, -%s gets them", map[bool]string{true: "i", false: "I"}[o.browse])
	case o.browse && o.match.put:
		return fmt.Errorf("-gp puts by identifier, -i only browses")
	}
	return nil
}

// target splits QM/Q.
func (o *qOptions) target() mqi.OD {
	for _, sep := range o.separators {
		if qm, q, ok := strings.Cut(o.output, string(sep)); ok {
			return mqi.OD{ObjectName: q, ObjectQMgrName: qm}
		}
	}
	return mqi.OD{ObjectName: o.output}
}
