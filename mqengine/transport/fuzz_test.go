package transport

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"runtime"
	"testing"
)

// Any bytes give frames within the limit, then one error; frames that were
// written are read again.
// readFrame reads one frame without a budget.
func readFrame(r *bufio.Reader, limit int) ([]byte, error) {
	n, err := readLength(r, limit)
	if err != nil {
		return nil, err
	}
	return readBody(r, n, func(int) error { return nil })
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0, 0, 0, 0})
	f.Add([]byte{0, 0, 0, 3, 1, 2, 3, 0, 0})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add(appendFrame(appendFrame(nil, 4, [][]byte{[]byte("ab"), []byte("cd")}), 0, nil))
	f.Add([]byte{0, 15, 255, 255, 1})
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 20
		r := bufio.NewReaderSize(bytes.NewReader(in), 16)
		var out []byte
		for {
			frame, err := readFrame(r, limit)
			if err != nil {
				if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, ErrTooLong) {
					t.Fatalf("unexpected error %v", err)
				}
				break
			}
			out = appendFrame(out, len(frame), [][]byte{frame})
		}
		if !bytes.HasPrefix(in, out) {
			t.Errorf("%d bytes were read that are not the input", len(out))
		}
	})
}

func FuzzReadPreface(f *testing.F) {
	f.Add(appendPreface(nil, ProtocolChannel))
	f.Add(appendPreface(nil, ProtocolLocal))
	f.Add([]byte("GET / HTTP/1.1\r\n"))
	f.Add([]byte("SITDC\x00\x00\x02"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		err := readPreface(r, ProtocolChannel)
		good := bytes.HasPrefix(in, appendPreface(nil, ProtocolChannel))
		if good != (err == nil) {
			t.Errorf("%q: %v", in, err)
		}
		if len(in)-r.Len() > prefaceLen {
			t.Errorf("%d bytes were taken", len(in)-r.Len())
		}
	})
}

// A length without contents must not cost its memory.
func TestReadFrame_LengthWithoutContents_CostsLittle(t *testing.T) {
	in := append([]byte{0x3f, 0xff, 0xff, 0xff}, make([]byte, 100)...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		if _, err := readFrame(bufio.NewReaderSize(bytes.NewReader(in), 16), 1<<30); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("read: %v", err)
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 100*(2*firstChunk) {
		t.Errorf("%d bytes were allocated", used)
	}
}
