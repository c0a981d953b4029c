package transport

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// frameHeader is the length of a frame's length.
const frameHeader = 4

const (
	// firstChunk is how much is allocated on the word of a length alone; more only as
	// the bytes arrive, so that lengths without contents cost nothing. What is longer
	// than freeChunk, which is reached on the way, needs a share of the budget.
	firstChunk = 64 << 10
	freeChunk  = 4 * firstChunk
	// leastRate is how many bytes of a frame must arrive in a second, on average.
	leastRate = 512 << 10
)

// readLength reads a frame's length. io.EOF only between frames.
func readLength(r *bufio.Reader, limit int) (int, error) {
	head, err := r.Peek(frameHeader)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return 0, err
	}
	length := binary.BigEndian.Uint32(head)
	if uint64(length) > uint64(limit) {
		return 0, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLong, length, limit)
	}
	_, err = r.Discard(frameHeader)
	return int(length), err
}

// readBody reads the n bytes of a frame. reserve is asked before a long one is
// made room for; it may be nil if the bytes are there.
func readBody(r *bufio.Reader, n int, reserve func(int) error) ([]byte, error) {
	frame := make([]byte, min(n, firstChunk))
	for read := 0; ; {
		if _, err := io.ReadFull(r, frame[read:]); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if len(frame) == n {
			return frame, nil
		}
		read = len(frame)
		if read == freeChunk {
			if err := reserve(n); err != nil {
				return nil, err
			}
		}
		grown := make([]byte, min(n, 4*read))
		copy(grown, frame)
		frame = grown
	}
}

// appendFrame appends the length and the parts.
func appendFrame(b []byte, size int, parts [][]byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func frameSize(parts [][]byte) int {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	return n
}
