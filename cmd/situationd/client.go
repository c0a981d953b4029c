package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/mqengine"
)

// clientTimeout bounds one question to a daemon, maxAnswer what it may say.
const (
	clientTimeout = 10 * time.Second
	maxAnswer     = 64 << 20
)

// daemonFlags say which daemon a verb asks.
type daemonFlags struct {
	qmgr, url, data string
}

func (f *daemonFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.qmgr, "qmgr", "", "the queue manager whose daemon is asked (optional if one runs)")
	cmd.Flags().StringVar(&f.url, "url", "", "the daemon's address, http://127.0.0.1:9420")
	cmd.Flags().StringVar(&f.data, "data", "", "the data folder (default SITUATIOND_DATA, else the system's place)")
}

// daemonClient asks one daemon.
type daemonClient struct {
	http *http.Client
	base string
	name string
}

// find picks the daemon that the flags mean.
func (f *daemonFlags) find(env *cliEnv) (*daemonClient, error) {
	if f.url != "" {
		if f.qmgr != "" {
			return nil, usagef("--url and --qmgr name the same thing; give one of them")
		}
		if !strings.HasPrefix(f.url, "http://") && !strings.HasPrefix(f.url, "https://") {
			return nil, usagef("--url is an http or https address, not %q", f.url)
		}
		address, err := url.Parse(f.url)
		if err != nil || address.Host == "" {
			return nil, usagef("--url is an address such as http://127.0.0.1:9420")
		}
		base := strings.TrimSuffix(address.String(), "/")
		return &daemonClient{http: &http.Client{Timeout: clientTimeout}, base: base, name: address.Redacted()}, nil
	}
	data, err := mqengine.DataDir(f.data, env.Getenv, env.UID)
	if err != nil {
		return nil, usagef("%w", err)
	}
	qmgr := f.qmgr
	if qmgr == "" {
		running, err := app.FindDaemons(data)
		switch {
		case err != nil:
			return nil, unreachablef("look for daemons: %w", err)
		case len(running) == 0:
			return nil, unreachablef("no daemon runs under %s", data)
		case len(running) > 1:
			return nil, usagef("several daemons run (%s); name one with --qmgr", strings.Join(running, ", "))
		}
		qmgr = running[0]
	}
	dir, err := app.DaemonDir(data, qmgr)
	if err != nil {
		return nil, usagef("%w", err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return app.DialSocket(ctx, app.SocketPath(dir))
	}}
	return &daemonClient{
		http: &http.Client{Timeout: clientTimeout, Transport: transport},
		base: "http://daemon", name: "of " + qmgr,
	}, nil
}

// get asks for path and reads the JSON answer into value.
func (c *daemonClient) get(ctx context.Context, path string, value any) error {
	return c.ask(ctx, http.MethodGet, path, http.NoBody, value)
}

func (c *daemonClient) ask(ctx context.Context, method, path string, question io.Reader, value any) error {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, question)
	if err != nil {
		return usagef("%w", err)
	}
	answer, err := c.http.Do(req)
	if err != nil {
		return c.unreachable(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return c.unreachable(err)
	}
	if answer.StatusCode != http.StatusOK {
		var problem struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(body, &problem) != nil || problem.Error == "" {
			problem.Error = strings.TrimSpace(answer.Status)
		}
		said := &answered{code: answer.StatusCode, text: problem.Error}
		switch answer.StatusCode {
		case http.StatusUnauthorized, http.StatusForbidden, http.StatusConflict:
			return refusedf("the daemon %s refuses: %w", c.name, said)
		case http.StatusServiceUnavailable:
			return unreachablef("the daemon %s: %w", c.name, said)
		case http.StatusBadRequest:
			if method == http.MethodPost {
				return usagef("%w", said)
			}
		}
		return failedf("the daemon %s: %w", c.name, said)
	}
	if err := json.Unmarshal(body, value); err != nil {
		return failedf("the daemon %s answers something else than expected: %w", c.name, err)
	}
	return nil
}

// answered is what a daemon says instead of doing what was asked.
type answered struct {
	code int
	text string
}

func (a *answered) Error() string { return a.text }

// isStatus reports whether a daemon answered with that code.
func isStatus(err error, code int) bool {
	var said *answered
	return errors.As(err, &said) && said.code == code
}

// within is the same daemon, asked for something that takes longer.
func (c *daemonClient) within(timeout time.Duration) *daemonClient {
	patient := *c.http
	patient.Timeout = timeout
	return &daemonClient{http: &patient, base: c.base, name: c.name}
}

// post asks for a change and reads the JSON answer into value.
func (c *daemonClient) post(ctx context.Context, path string, question, value any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return failedf("%w", err)
	}
	return c.ask(ctx, http.MethodPost, path, bytes.NewReader(body), value)
}

// unreachable is the one line of a daemon that does not answer; the library's
// error repeats the whole request.
func (c *daemonClient) unreachable(err error) error {
	var (
		request *url.Error
		op      *net.OpError
	)
	switch {
	case errors.As(err, &op):
		err = op.Err
	case errors.As(err, &request) && request.Timeout():
		err = fmt.Errorf("nothing came within %v", clientTimeout)
	case errors.As(err, &request):
		err = request.Err
	}
	return unreachablef("the daemon %s does not answer: %w", c.name, err)
}

// checkFormat is the check of every listing's -o.
func checkFormat(verb, format string) error {
	switch format {
	case "table", "json", "jsonl":
		return nil
	default:
		return usagef("%s: -o is table, json or jsonl, not %q", verb, format)
	}
}

func writeJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

func writeJSONLine(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
