package mqengine

import (
	"context"
	"crypto/tls"

	"github.com/situationd/situationd/mqengine/transport"
)

// nowhere is the network of a queue manager that is being created: its channels reach nobody yet.
type nowhere struct{}

var _ transport.Network = nowhere{}

func (nowhere) Dial(context.Context, string) (transport.Link, error) { return nil, errNowhere }

func (nowhere) DialTLS(context.Context, string, *tls.Config) (transport.Link, error) {
	return nil, errNowhere
}

func (nowhere) Listen(string) (transport.Listener, error) { return nil, errNowhere }
