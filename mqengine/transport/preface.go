package transport

import (
	"fmt"
	"io"
)

// framingVersion is the version of preface and framing, not of what the frames
// say: that is the business of the protocol above.
const framingVersion = 1

// prefaceLen is the length of the preface: four letters, the protocol, a zero, and the version.
const prefaceLen = 8

const magic = "SITD"

func appendPreface(b []byte, p Protocol) []byte {
	b = append(b, magic...)
	return append(b, byte(p), 0, framingVersion>>8, framingVersion&0xff)
}

// readPreface takes the other side's preface off r. It gives up at the first
// byte that is wrong, so that a foreign caller who sends less than a preface and
// waits is refused as well.
func readPreface(r io.Reader, want Protocol) error {
	var got [prefaceLen]byte
	for i := range got {
		if _, err := io.ReadFull(r, got[i:i+1]); err != nil {
			if i > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if i < len(magic) && got[i] != magic[i] {
			return ErrForeign
		}
	}
	if version := int(got[6])<<8 | int(got[7]); version != framingVersion || got[5] != 0 {
		return fmt.Errorf("%w: theirs is %d, this program's is %d", ErrVersion, version, framingVersion)
	}
	if got[4] != byte(want) {
		return fmt.Errorf("%w: it speaks %s, expected was %s", ErrForeign, Protocol(got[4]), want)
	}
	return nil
}

// String names the protocol for a person.
func (p Protocol) String() string {
	switch p {
	case ProtocolChannel:
		return "message channel"
	case ProtocolLocal:
		return "local application"
	}
	return fmt.Sprintf("protocol %#02x", byte(p))
}
