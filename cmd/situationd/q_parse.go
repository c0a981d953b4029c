package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// qDashes are what word processors make of a minus sign.
const qDashes = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"

// qTargetsMax is how many output queues there may be.
const qTargetsMax = 64

// parseQ reads q's command line. Errors are one line for a person.
func parseQ(args []string) (*qOptions, error) {
	o := &qOptions{priority: -1, persistence: -1, maxLength: -1, separators: `/#\,`}
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
		if (value == "" || letter == 'r' && value == "+") && strings.IndexByte(qNeedsValue, letter) >= 0 && len(args) > 0 && isQValue(letter, args[0]) {
			value, args = value+args[0], args[1:]
		} else if value == "" && letter == 'M' {
			return nil, fmt.Errorf("-M needs a value; -M '' puts an empty message")
		}
		if err := o.set(letter, value); err != nil {
			return nil, err
		}
	}
	return o, o.check()
}

// Letters whose value may stand behind a blank, and those that cannot be without one.
const (
	qNeedsValue = "IioOmwWpPLMfFXhHjnyraACgUVdx$"
	qWithout    = "p" // no syncpoint, as 0
)

// isQValue reports whether the next word is the value of the letter before it:
// another option is not, but a negative number is.
func isQValue(letter byte, word string) bool {
	if strings.IndexByte("MhH", letter) >= 0 || !strings.HasPrefix(word, "-") {
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

// set takes one option: places first, then flags, numbers, and what has a syntax of its own.
func (o *qOptions) set(letter byte, value string) error {
	if value == "" && letter != 'M' && strings.IndexByte(qNeedsValue+"=", letter) >= 0 && strings.IndexByte(qWithout, letter) < 0 {
		if letter == 'h' {
			return fmt.Errorf("-h needs a value, the text that messages must have; --help is the help")
		}
		return fmt.Errorf("-%c needs a value", letter)
	}
	for _, take := range []func(byte, string) (bool, error){o.place, o.flag, o.number, o.word} {
		if taken, err := take(letter, value); taken || err != nil {
			return err
		}
	}
	if why := qAbsent[letter]; why != "" {
		return fmt.Errorf("-%c is not an option of this version: %s", letter, why)
	}
	return fmt.Errorf("-%c is not an option of this version; see q -?", letter)
}

// qAbsent are options of MA01 that mean something that is not there.
var qAbsent = map[byte]string{
	'T': "there is no publish/subscribe", 'S': "there is no publish/subscribe",
	'c': "messages are not converted", 'u': "the user is the one who runs the program; -U puts another into the message",
	'Z': "times are in UTC", '*': "a run connects once", '#': "structures have one version",
}

// place takes the options that say where from and where to.
func (o *qOptions) place(letter byte, value string) (bool, error) {
	switch letter {
	case 'I', 'i':
		if o.input != "" {
			return true, fmt.Errorf("one -I or -i is enough, there are %s and %s", o.input, value)
		}
		o.input, o.browse = value, o.browse || letter == 'i'
	case 'o', 'O':
		if len(o.outputs) == qTargetsMax {
			return true, fmt.Errorf("there may be %d output queues", qTargetsMax)
		}
		o.outputs = append(o.outputs, value)
		if letter == 'O' {
			o.bind = mqi.MQOO_BIND_ON_OPEN
		}
	case 'm':
		return true, o.queueManager(value)
	case 'M':
		o.text, o.hasText = value, true
	case 'f':
		o.file = value
	case 'F':
		o.whole = value
	case 'X':
		o.hexFile = value
	case 'r':
		o.replyTo, o.waitReply = strings.TrimPrefix(value, "+"), strings.HasPrefix(value, "+")
		if o.replyTo == "" {
			return true, fmt.Errorf("-r+ needs a queue")
		}
	case '$':
		if len(value) != 1 {
			return true, fmt.Errorf("-$ takes one character, not %q", value)
		}
		o.separators = value
	default:
		return false, nil
	}
	return true, nil
}

// queueManager takes -m: one, or two with a character between them that no name has.
func (o *qOptions) queueManager(value string) error {
	for _, name := range strings.Split(strings.NewReplacer("#", ",", `\`, ",").Replace(value), ",") {
		if name == "" {
			return fmt.Errorf("-m%s: the name of a queue manager is missing", value)
		}
		if len(o.qmgrs) == 2 {
			return fmt.Errorf("two queue managers are enough, there are %s and %s", strings.Join(o.qmgrs, ", "), name)
		}
		o.qmgrs = append(o.qmgrs, name)
	}
	return nil
}

// flag takes the options without a value.
func (o *qOptions) flag(letter byte, value string) (bool, error) {
	switch letter {
	case 'q':
		o.quiet = true
	case '1':
		o.put1 = true
	case 's':
		o.show = true
	case 't':
		o.timings = true
	case 'z':
		o.zeroMsgID = true
	case 'N':
		o.newline = true
	case 'k':
		o.lock = true
	case 'b':
		o.browse = true
	case 'e', 'E':
		o.echo, o.echoQMgr = true, o.echoQMgr || letter == 'E'
	case '?':
		o.help = true
	case 'l': // there is no library to choose
		return true, nil
	case 'R', '!': // no response records, no exit handler: neither is there
	default:
		return false, nil
	}
	if value != "" {
		return true, fmt.Errorf("-%c takes no value, there is %q behind it", letter, value)
	}
	return true, nil
}

// number takes the options whose value is one.
func (o *qOptions) number(letter byte, value string) (taken bool, err error) {
	var n int
	switch letter {
	case 'w':
		n, err = qNumber("-w", value, math.MinInt32, math.MaxInt32)
		o.wait = mqi.MQWI_UNLIMITED
		if n >= 0 && n <= math.MaxInt32/1000 {
			o.wait = int32(n) * 1000
		}
	case 'W':
		o.sleep, err = qNumber("-W", value, 0, qDelayMax*1000)
	case 'p':
		if value == "" {
			return true, nil
		}
		n, err = qNumber("-p", value, -qCommitMax, qCommitMax)
		o.commit, o.ifPers = max(n, -n), n < 0
	case 'P':
		n, err = qNumber("-P", value, -1, 9)
		o.priority = int32(n)
	case 'L':
		o.limit, err = qNumber("-L", value, 1, math.MaxInt32)
	case 'y':
		n, err = qNumber("-y", value, 1, 999_999_999)
		o.expiry = int32(n)
	case '=':
		o.truncate = !strings.HasPrefix(value, "n")
		n, err = qNumber("-=", strings.TrimPrefix(value, "n"), 0, math.MaxInt32)
		o.maxLength = int32(n)
	case 'v':
		o.verbose = 1
		if value != "" {
			o.verbose, err = qNumber("-v", value, 1, 5)
		}
	default:
		return false, nil
	}
	return true, err
}

func qNumber(what, value string, least, most int) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return 0, fmt.Errorf("%s takes a number from %d to %d, not %q", what, least, most, value)
	}
	return n, nil
}
