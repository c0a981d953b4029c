package repository

import (
	"fmt"
	"math"
	"time"

	"github.com/situationd/situationd/mqengine/internal/wire"
	"github.com/situationd/situationd/mqengine/object"
)

// Op is what a command between repositories asks.
type Op byte

// The commands.
const (
	OpPublish   Op = iota + 1 // Records are news
	OpSubscribe               // tell me of Names, now and when they change
	OpAnswer                  // to OpSubscribe: this is all there is of Names
	OpRequest                 // from a full repository: tell me everything
	OpTold                    // Count records of mine are all there are: which others do you have?
)

// Command is one command between two repositories, about one cluster.
type Command struct {
	Op       Op
	Cluster  string
	FromQMID string
	FromQMgr string
	Full     bool // the sender is a full repository of the cluster
	Names    []string
	Records  []*Record
	Count    int // OpTold
}

const (
	commandVersion = 1
	// MaxCommand is the longest command that is written; more is split.
	MaxCommand = 256 << 10
	// maxAccepted leaves room for a later version that writes longer ones.
	maxAccepted = 4 << 20
)

func (c *Command) head(b []byte) []byte {
	b = append(b, commandVersion, byte(c.Op))
	b = wire.AppendString(b, c.Cluster)
	b = wire.AppendString(b, c.FromQMID)
	b = wire.AppendString(b, c.FromQMgr)
	return wire.AppendBool(b, c.Full)
}

// encode gives the command as one payload or several. The records of a long
// answer go ahead as news, so that no name is answered before they are all there.
func (c *Command) encode(now time.Time) [][]byte {
	var names, records [][]byte
	size := 0
	for _, n := range c.Names {
		names = append(names, wire.AppendString(nil, n))
		size += len(n) + 1
	}
	for _, r := range c.Records {
		b := r.append(nil, now)
		records = append(records, b)
		size += len(b)
	}
	if size <= MaxCommand {
		b := joined(joined(c.head(nil), names), records)
		if c.Op == OpTold {
			b = wire.AppendUint(b, uint64(c.Count))
		}
		return [][]byte{b}
	}
	var out [][]byte
	news := *c
	if c.Op == OpAnswer {
		news.Op = OpPublish
	}
	for _, part := range parts(records) {
		out = append(out, joined(joined(news.head(nil), nil), part))
	}
	for _, part := range parts(names) {
		out = append(out, joined(joined(c.head(nil), part), nil))
	}
	return out
}

// parts cuts a list into pieces that fit into one command each.
func parts(items [][]byte) [][][]byte {
	var out [][][]byte
	size := 0
	for i, it := range items {
		if i == 0 || size+len(it) > MaxCommand {
			out = append(out, nil)
			size = 0
		}
		out[len(out)-1] = append(out[len(out)-1], it)
		size += len(it)
	}
	return out
}

func joined(b []byte, items [][]byte) []byte {
	b = wire.AppendUint(b, uint64(len(items)))
	for _, it := range items {
		b = append(b, it...)
	}
	return b
}

// Decode reads a command. It accepts anything and allocates no more than a small multiple of b.
func Decode(b []byte, now time.Time) (*Command, error) {
	if len(b) > maxAccepted {
		return nil, fmt.Errorf("repository: command of %d bytes, %d are allowed", len(b), maxAccepted)
	}
	r := wire.NewReader(b)
	if v := r.Byte(); r.Err() == nil && v != commandVersion {
		return nil, fmt.Errorf("repository: command of version %d, this program reads %d", v, commandVersion)
	}
	c := &Command{Op: Op(r.Byte()), Cluster: r.String(), FromQMID: r.String(), FromQMgr: r.String(), Full: r.Bool()}
	if r.Err() == nil && (c.Op < OpPublish || c.Op > OpTold) {
		return nil, fmt.Errorf("repository: command %d is unknown", c.Op)
	}
	if r.Err() == nil {
		for _, err := range []error{object.CheckQueueName(c.Cluster), object.CheckQMID(c.FromQMID), object.CheckQueueName(c.FromQMgr)} {
			if err != nil {
				return nil, fmt.Errorf("repository: command: %w", err)
			}
		}
	}
	for range r.Count(1) {
		n := r.Bytes()
		if err := object.CheckQueueName(string(n)); err != nil {
			return nil, fmt.Errorf("repository: command: %w", err)
		}
		c.Names = append(c.Names, string(n))
	}
	for range r.Count(leastRecord) {
		rec, err := readRecord(r, now)
		if err != nil {
			return nil, err
		}
		if rec.Cluster != c.Cluster {
			return nil, fmt.Errorf("repository: record of cluster %s in a command of %s", rec.Cluster, c.Cluster)
		}
		c.Records = append(c.Records, rec)
	}
	if c.Op == OpTold {
		c.Count = int(min(r.Uint(), math.MaxInt32))
	}
	if err := r.Done(); err != nil {
		return nil, fmt.Errorf("repository: %w", err)
	}
	return c, nil
}

// leastRecord is the least that an encoded record takes.
const leastRecord = 12
