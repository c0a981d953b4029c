package httpapi

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"golang.org/x/crypto/bcrypt"
)

// writePEM writes the certificate and the key of the library's test server.
func writePEM(t *testing.T, dir string) *x509.Certificate {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return server.Certificate()
}

// TLS and passwords together: who has no password sees nothing, not even by GET,
// and nobody changes anything without one.
func TestServePort_TLSWithUsers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	hash, err := bcrypt.GenerateFromPassword([]byte("open"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	certificate := writePEM(t, dir)
	webConfig := filepath.Join(dir, "web.yml")
	text := "tls_server_config: {cert_file: cert.pem, key_file: key.pem}\nbasic_auth_users: {anna: " + string(hash) + "}\n"
	if err := os.WriteFile(webConfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := CheckWebConfig(webConfig); err != nil {
		t.Fatal(err)
	}
	reloads := 0
	daemon := &fakeDaemon{status: Status{QMgr: "QM2"}, reload: func(string) (string, error) { reloads++; return "ok\n", nil }}
	address := start(t, "tcp", "127.0.0.1:0", func(ctx context.Context, l net.Listener) error {
		return ServePort(ctx, l, webConfig, daemon, http.NotFoundHandler(), hclog.NewNullLogger())
	})
	pool := x509.NewCertPool()
	pool.AddCert(certificate)
	client := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	for _, c := range []struct {
		method, url, body string
		code              int
	}{
		{"GET", "https://" + address + "/api/v1/status", "", 401},
		{"GET", "https://anna:wrong@" + address + "/api/v1/status", "", 401},
		{"GET", "https://anna:open@" + address + "/api/v1/status", "", 200},
		{"POST", "https://" + address + "/-/reload", "", 401},
		{"GET", "https://anna:open@" + address + "/-/reload", "", 405},
		{"POST", "https://anna:open@" + address + "/-/reload", strings.Repeat("x", 1<<20), 200}, // nobody reads what it says
		{"GET", "http://" + address + "/-/healthy", "", 400},                                    // not TLS
	} {
		req, err := http.NewRequest(c.method, c.url, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != c.code {
			t.Errorf("%s %s: %d %s %v", c.method, c.url, answer.StatusCode, said, err)
		}
	}
	if reloads != 1 {
		t.Errorf("%d reloads, want 1", reloads)
	}
}
