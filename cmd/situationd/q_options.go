package main

import (
	"fmt"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// qOptions are the options of one run of q.
type qOptions struct {
	data    string
	qmgrs   []string // -m: the queue manager, and with a second one that of the output
	input   string   // -I or -i
	browse  bool     // -i, or -b
	lock    bool     // -k: each browsed message is locked
	outputs []string // -o or -O
	bind    int32    // 0, or MQOO_BIND_ON_OPEN for -O
	text    string   // -M: one message instead of the lines of standard input
	hasText bool
	file    string // -f: lines of this file instead
	whole   string // -F: this file is one message, or gets what is read
	hexFile string // -X: this file has one message in hexadecimal
	newline bool   // -N: a line keeps its end

	wait     int32 // milliseconds, MQWI_UNLIMITED
	sleep    int   // -W: milliseconds before each get
	commit   int   // -p: after this many messages; 0: no syncpoint
	ifPers   bool  // -p negative: syncpoint for persistent messages only
	limit    int   // -L; 0: none
	priority int32 // -P; -1: the queue's, or the message's own when it is moved
	expiry   int32 // -y; 0: unlimited, or the message's own when it is moved
	quiet    bool
	show     bool // -s: print what is put, too
	timings  bool // -t
	progress bool // --progress: tell how far a long run is, also where no terminal is
	verbose  int
	detail   qDetail // -d

	replyTo   string // -r
	waitReply bool   // -r+: wait for the reply to each message
	echo      bool   // -e: put what was got to its reply queue
	echoQMgr  bool   // -E: and name this queue manager in it
	filter    string // -h: only messages with this text in them
	selector  string // -H

	persistence int32  // -ap, -an, -aq; -1: the queue's, or the message's own when it is moved
	msgType     int32  // 0: datagram, request with -r, or the message's own when it is moved
	format      string // -j
	hasFormat   bool
	report      int32 // -n
	zeroMsgID   bool  // -z
	exclusive   bool  // -aX
	noCommands  bool  // -ax: a line that begins with # is a message
	complete    bool  // -ac: get whole messages of segments
	segment     bool  // -as: the queue manager may cut what is put
	close       int32 // -aD, -aP: MQCO_* of the queue at the end
	context     byte  // -C: a i A I n; 0: default
	user        string
	hasUser     bool   // -U
	identity    string // -Ai
	origin      string // -Ao
	accounting  string // -Aa
	get, put    qIdentifiers
	put1        bool
	maxLength   int32 // -=: -1 for any
	truncate    bool
	separators  string
	exit        byte // -V: z, c; 0: the reason code
	goOn        bool // -xq: calls do not fail because the queue manager ends
	noDisc      bool // -xN: end without MQDISC

	help bool
}

// qIdentifiers are -g: get, or put, by identifiers; nil: any, or what the queue manager makes.
type qIdentifiers struct{ msg, correl, group *mqi.MsgId }

// qDetail is -d: what is printed of a message.
type qDetail struct {
	md         bool // d
	hex        bool // h
	noBody     bool // n
	properties bool // a
	length     bool // l
	level      int  // 1 to 3
}

const qUsage = `Usage: q [options], each letter with its value glued to it or behind a blank
Where from and where to
  -m QM       queue manager; the only one that runs if it is left out. A second -m, or QM1,QM2:
              the queue manager of the output. Each has its own unit of work
  -I Q        get from this queue          -i Q  browse it (-b -I Q is the same)
  -o Q        put to this queue (QM/Q: at that queue manager); may be repeated
  -O Q        the same, bound on open      -$ C  character between QM and Q
  -M TEXT     put one message              -f F  put the lines of a file
  -F F        put a file as one message, or write what is got into it
  -X F        put a file of hexadecimal digits as one message
  -N          a line keeps its end         -1    MQPUT1
How much and how
  -w SEC      wait for messages; negative: for ever      -W MS  sleep before each get
  -p N        commit after N messages; -N: only persistent ones under syncpoint
  -L N        stop after N messages        -=N   cut longer messages; -=nN: refuse them
  -h TEXT     only messages that contain it; others stay where they are
  -H COND     only messages that the selection string picks
  -g xmID     by message, -g c by correlation, -g g by group identifier; x: ID is in hex
  -g pxmID    put with that identifier; -g pC: the one of a new CICS session
  -k          lock each message that is browsed
Requests and replies
  -r Q        reply queue: requests        -r +Q   wait for the reply to each, a minute without -w
  -e          echo each message to its reply queue       -E  the same, naming this queue manager in it
  -n WORDS    reports: ca cad cafd cd cdd cdfd e ed efd x xd xfd pan nan newm passm copym passc disc passd
What a message is
  -a LETTERS  p n q persistence, d R r t type, s may be cut, c whole messages of segments, x no # commands,
              X exclusive, D delete the queue at the end, P purge and delete it, i o f F a A C as in MA01
  -P N        priority                     -y N  expiry in tenths of a second
  -j FORMAT   format name                  -z    new MsgId for each put
  -C LETTER   context: a pass all, i pass identity, A set all, I set identity, n none
  -U USER     user identifier              -A iTEXT  identity data, aTEXT accounting token, oTEXT origin data
What is said
  -q          do not print messages        -s    print those that are put, too
  -d LETTERS  d MQMD, h in hex, n no message, l length, a properties, 1 2 3 how much
  -v1 to -v5  say more; -v2 prints the MsgId             -t  how long it took
  -V z        exit 0, -V c exit 0 4 8      --progress  tell how far a long run is
  -x LETTERS  q go on while the queue manager ends, N no MQDISC; f s i b n as in MA01
  --data DIR  data folder
With -I and -o messages are moved, with -i and -o copied. With the same queue for both
the move ends at the depth seen at the start, and stops if a message comes back.
A move, an echo and a put to several queues are under syncpoint: -p 1 unless -p says more.
Lines: #100 puts 100 messages "#100"; #100/1024 of that size, #100/-1024 of up to that; #100/0/2 every
2 seconds; #100/0/0/10 commits every 10; #!100 TEXT puts TEXT; #c100/1024 with random content and a
checksum; #p NAME=VALUE sets a property of the messages that follow, #p alone edits them; #end ends; ? helps.
`

func (o *qOptions) check() error {
	if o.help {
		return nil
	}
	if o.input == "" && len(o.outputs) == 0 {
		return fmt.Errorf("name a queue with -I, -i or -o; see q -?")
	}
	if len(o.qmgrs) > 1 && (o.input == "" || len(o.outputs) == 0) {
		return fmt.Errorf("a second queue manager is that of the output: it needs -I or -i, and -o")
	}
	if err := o.checkSource(); err != nil {
		return err
	}
	return o.checkInput()
}

// checkSource looks at where messages to put come from.
func (o *qOptions) checkSource() error {
	var given []string
	for _, s := range []struct {
		letter string
		there  bool
	}{{"-M", o.hasText}, {"-f", o.file != ""}, {"-F", o.whole != "" && o.input == ""}, {"-X", o.hexFile != ""}} {
		if s.there {
			given = append(given, s.letter)
		}
	}
	switch {
	case len(given) > 1:
		return fmt.Errorf("%s exclude each other", strings.Join(given, " and "))
	case len(given) == 1 && o.input != "":
		return fmt.Errorf("%s puts messages of its own, -%s gets them", given[0], o.inputLetter())
	case o.whole != "" && o.input != "" && len(o.outputs) > 0:
		return fmt.Errorf("-F writes what is got into a file; leave out -o")
	case o.waitReply && o.input != "":
		return fmt.Errorf("-r+ waits for the replies to messages of its own; leave out -%s", o.inputLetter())
	case o.input == "" && (o.context == 'a' || o.context == 'i'):
		return fmt.Errorf("-C%c passes the context of messages that are got; use it with -I", o.context)
	}
	return nil
}

// checkInput looks at options that need a queue to get from, or one to put to.
func (o *qOptions) checkInput() error {
	gets := o.input != "" && !o.browse
	switch {
	case o.browse && o.put.any() && len(o.outputs) == 0:
		return fmt.Errorf("-gp puts by identifier, -i only browses")
	case o.selector != "" && o.input == "":
		return fmt.Errorf("-H selects messages of an input queue; use it with -I or -i")
	case o.get.any() && o.input == "":
		return fmt.Errorf("-g gets by identifier, use it with -I or -i; -gp puts with one")
	case o.echo && !gets:
		return fmt.Errorf("-e and -E echo messages that are got; use them with -I")
	case o.lock && !o.browse:
		return fmt.Errorf("-k locks messages that are browsed; use it with -i")
	case o.filter != "" && o.complete:
		return fmt.Errorf("-h looks at messages one by one, -ac puts segments together")
	}
	return nil
}

func (o *qOptions) inputLetter() string {
	if o.browse {
		return "i"
	}
	return "I"
}

func (g *qIdentifiers) any() bool { return g.msg != nil || g.correl != nil || g.group != nil }

// target splits QM/Q.
func (o *qOptions) target(name string) mqi.OD {
	for _, sep := range o.separators {
		if qm, q, ok := strings.Cut(name, string(sep)); ok {
			return mqi.OD{ObjectName: q, ObjectQMgrName: qm}
		}
	}
	return mqi.OD{ObjectName: name}
}
