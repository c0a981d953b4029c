package storetest

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/situationd/situationd/mqengine/store"
)

// Contents is a Visitor that keeps what it sees. Headers must have been made by Header.
type Contents struct {
	Records  map[string]string
	Messages map[[2]uint64]string
	Named    map[store.BodyID]bool
	Order    []string // one line per visit
}

// NewContents makes an empty one.
func NewContents() *Contents {
	return &Contents{Records: map[string]string{}, Messages: map[[2]uint64]string{}, Named: map[store.BodyID]bool{}}
}

// Header makes a header that names a body, 0 for none.
func Header(id store.BodyID, text string) []byte {
	return append(binary.BigEndian.AppendUint64(nil, uint64(id)), text...)
}

// SetBody writes a body with its bytes.
func SetBody(u *store.Unit, id store.BodyID, body []byte) {
	u.SetBody(id)
	u.Ops[len(u.Ops)-1].Value = body
}

// Record keeps a record.
func (c *Contents) Record(key string, value []byte) error {
	c.Records[key] = string(value)
	c.Order = append(c.Order, fmt.Sprintf("r %q %s", key, value))
	return nil
}

// Message keeps a header.
func (c *Contents) Message(queue uint32, seq uint64, header []byte) (store.BodyID, error) {
	if len(header) < 8 {
		return 0, errors.New("header too short")
	}
	id := store.BodyID(binary.BigEndian.Uint64(header))
	c.Messages[[2]uint64{uint64(queue), seq}] = string(header)
	if id != 0 {
		c.Named[id] = true
	}
	c.Order = append(c.Order, fmt.Sprintf("m %d %d %s", queue, seq, header[8:]))
	return id, nil
}
