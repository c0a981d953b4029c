package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/situationd/situationd/mqengine/mqi"
)

// Longest values of the fields of a message descriptor.
const (
	qUserMax       = 12
	qFormatMax     = 8
	qIdentityMax   = 32
	qOriginMax     = 4
	qAccountingMax = 32
)

// word takes the options whose value has a syntax of its own.
func (o *qOptions) word(letter byte, value string) (bool, error) {
	switch letter {
	case 'a':
		return true, o.attributes(value)
	case 'A':
		return true, o.contextData(value)
	case 'C':
		if len(value) != 1 || !strings.Contains("aiAIn", value) {
			return true, fmt.Errorf("-C is one of a i A I n, not %q", value)
		}
		o.context = value[0]
	case 'd':
		return true, o.details(value)
	case 'g':
		return true, o.identifier(value)
	case 'h':
		o.filter = value
	case 'H':
		o.selector = value
	case 'j':
		if value != "NONE" {
			o.format = value
		}
		o.hasFormat = true
		return true, qFits("-j", value, qFormatMax)
	case 'n':
		return true, o.reports(value)
	case 'U':
		if strings.HasPrefix(value, "+") {
			return true, fmt.Errorf("-U+ opens as another user; here a program is the user who runs it, -U puts another into the message")
		}
		o.user, o.hasUser = strings.Trim(value, "'"), true
		return true, qFits("-U", o.user, qUserMax)
	case 'V':
		if value != "z" && value != "c" {
			return true, fmt.Errorf("-V is z or c, not %q", value)
		}
		o.exit = value[0]
	case 'x':
		return true, o.connection(value)
	default:
		return false, nil
	}
	return true, nil
}

func qFits(what, value string, most int) error {
	if len(value) > most {
		return fmt.Errorf("%s takes at most %d characters, %q has %d", what, most, value, len(value))
	}
	return nil
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
		case 's':
			o.segment = true
		case 'c':
			o.complete = true
		case 'x':
			o.noCommands = true
		case 'X':
			o.exclusive = true
		case 'D':
			o.close = mqi.MQCO_DELETE
		case 'P':
			o.close = mqi.MQCO_DELETE_PURGE
		case 'f', 'F', 'a', 'A', 'C': // asynchronous put and read ahead change nothing here
		case 'i', 'o': // several queues are put to one by one anyway
		default:
			return fmt.Errorf("-a%c is not an attribute of this version; see q -?", a)
		}
	}
	return nil
}

// contextData reads -A: a letter and the text of a context field.
func (o *qOptions) contextData(value string) error {
	text := value[1:]
	switch value[0] {
	case 'i':
		o.identity = text
		return qFits("-Ai", text, qIdentityMax)
	case 'o':
		o.origin = text
		return qFits("-Ao", text, qOriginMax)
	case 'a':
		o.accounting = text
		return qFits("-Aa", text, qAccountingMax)
	}
	return fmt.Errorf("-A begins with i, a or o, not %q", value)
}

func (o *qOptions) details(letters string) error {
	o.detail.level = 1
	for _, a := range letters {
		switch a {
		case 'd':
			o.detail.md = true
		case 'h':
			o.detail.hex = true
		case 'n':
			o.detail.noBody = true
		case 'a':
			o.detail.properties = true
		case 'l':
			o.detail.length = true
		case '1', '2', '3':
			o.detail.level = int(a - '0')
		default:
			return fmt.Errorf("-d%c is not a detail of this version; see q -?", a)
		}
	}
	return nil
}

func (o *qOptions) connection(letters string) error {
	for _, a := range letters {
		switch a {
		case 'q':
			o.goOn = true
		case 'N':
			o.noDisc = true
		case 'f', 's', 'i', 'b', 'n': // there is one kind of connection
		default:
			return fmt.Errorf("-x%c is not an option of a connection in this version; see q -?", a)
		}
	}
	return nil
}

// qReports are the words of -n, of those with a common beginning the longest first.
var qReports = []struct {
	word   string
	report int32
}{
	{"cafd", mqi.MQRO_COA_WITH_FULL_DATA}, {"cad", mqi.MQRO_COA_WITH_DATA}, {"ca", mqi.MQRO_COA},
	{"cdfd", mqi.MQRO_COD_WITH_FULL_DATA}, {"cdd", mqi.MQRO_COD_WITH_DATA}, {"cd", mqi.MQRO_COD},
	{"copym", mqi.MQRO_COPY_MSG_ID_TO_CORREL_ID},
	{"efd", mqi.MQRO_EXCEPTION_WITH_FULL_DATA}, {"ed", mqi.MQRO_EXCEPTION_WITH_DATA}, {"e", mqi.MQRO_EXCEPTION},
	{"xfd", mqi.MQRO_EXPIRATION_WITH_FULL_DATA}, {"xd", mqi.MQRO_EXPIRATION_WITH_DATA}, {"x", mqi.MQRO_EXPIRATION},
	{"pan", mqi.MQRO_PAN}, {"nan", mqi.MQRO_NAN}, {"newm", mqi.MQRO_NEW_MSG_ID},
	{"passm", mqi.MQRO_PASS_MSG_ID}, {"passc", mqi.MQRO_PASS_CORREL_ID}, {"passd", mqi.MQRO_PASS_DISCARD_AND_EXPIRY},
	{"disc", mqi.MQRO_DISCARD_MSG},
}

// reports reads -n: words of reports, with or without something between them.
func (o *qOptions) reports(words string) error {
next:
	for rest := strings.TrimLeft(words, " ,+"); rest != ""; rest = strings.TrimLeft(rest, " ,+") {
		for _, r := range qReports {
			if after, ok := strings.CutPrefix(rest, r.word); ok {
				o.report |= r.report
				rest = after
				continue next
			}
		}
		return fmt.Errorf("-n%s: %q is no report option; see q -?", words, rest)
	}
	return nil
}

// qNewSession is the correlation identifier that begins a session with CICS.
const qNewSession = "AMQ!NEW_SESSION_CORRELID"

// identifier reads -g: letters, then m, c or g with the identifier.
func (o *qOptions) identifier(value string) error {
	ids, inHex := &o.get, false
	for i, c := range []byte(value) {
		switch c {
		case 'p':
			ids = &o.put
		case 'x':
			inHex = true
		case 'C':
			if ids != &o.put || i+1 < len(value) {
				return fmt.Errorf("-g%s: the session of CICS is -gpC", value)
			}
			return ids.set('c', qNewSession, false)
		case 'm', 'c', 'g':
			return ids.set(c, value[i+1:], inHex)
		default:
			return fmt.Errorf("-g%s: m, c or g comes before the identifier", value)
		}
	}
	return fmt.Errorf("-g%s: m, c or g with an identifier is missing", value)
}

// set takes one identifier: text is filled up with blanks, bytes with zeros.
func (g *qIdentifiers) set(kind byte, text string, inHex bool) error {
	id := new(mqi.MsgId)
	value := []byte(text)
	if inHex {
		var err error
		if value, err = hex.DecodeString(text); err != nil {
			return fmt.Errorf("-g: %q is not hexadecimal: %w", text, err)
		}
	}
	if len(value) == 0 || len(value) > len(id) {
		return fmt.Errorf("-g: an identifier has 1 to %d bytes, not %d", len(id), len(value))
	}
	n := copy(id[:], value)
	for ; !inHex && n < len(id); n++ {
		id[n] = ' '
	}
	switch kind {
	case 'm':
		g.msg = id
	case 'c':
		g.correl = id
	case 'g':
		g.group = id
	}
	return nil
}
