package transport

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// frameHeader is the length of a frame's length.
const frameHeader = 4

// firstChunk is how much is allocated on the word of a length alone; more only
// as the bytes arrive, so that lengths without contents cost nothing.
const firstChunk = 64 << 10

// readFrame reads one frame. io.EOF only between frames.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	head, err := r.Peek(frameHeader)
	if err != nil {
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	length := binary.BigEndian.Uint32(head)
	if uint64(length) > uint64(limit) {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLong, length, limit)
	}
	if _, err := r.Discard(frameHeader); err != nil {
		return nil, err
	}
	n := int(length)
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
