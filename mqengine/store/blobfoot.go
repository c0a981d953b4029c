package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// The foot of a blob file, as the database writes it: a masked sum of all that follows, and magic at the end.
const (
	blobFootLen = 38
	crcMask     = 0xa282ead8
)

var errBlobFoot = errors.New("the end of the file was changed or is missing")

// checkBlobFoot looks at the end of a blob file before the database does: it
// panics in goroutines of its own where that is damaged.
func checkBlobFoot(f vfs.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < blobFootLen {
		return &damageError{errBlobFoot}
	}
	var b [blobFootLen]byte
	if _, err := f.ReadAt(b[:], info.Size()-blobFootLen); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	sum := crc32.Checksum(b[4:], castagnoli)
	if binary.LittleEndian.Uint32(b[:]) != bits.RotateLeft32(sum, -15)+crcMask {
		return &damageError{errBlobFoot}
	}
	return nil
}
