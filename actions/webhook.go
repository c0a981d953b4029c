package actions

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Webhooks posts notices over HTTP. It implements Hooks.
type Webhooks struct{ client *http.Client }

// NewWebhooks makes a Webhooks. It follows no redirection: the address that was
// written is the one that gets the notice.
func NewWebhooks() *Webhooks {
	return &Webhooks{client: &http.Client{
		Timeout:       10 * time.Minute, // the attempt's own deadline comes first
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Post hands over a document. An answer other than 2xx is an error.
func (w *Webhooks) Post(ctx context.Context, address, id string, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "situationd")
	req.Header.Set("Idempotency-Key", id)
	answer, err := w.client.Do(req)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, outputKept))
	if answer.StatusCode/100 == 2 {
		return nil
	}
	if err != nil {
		said = nil
	}
	return fmt.Errorf("webhook: %s", tail(answer.Status, strings.TrimSpace(strings.ToValidUTF8(string(said), "?"))))
}
