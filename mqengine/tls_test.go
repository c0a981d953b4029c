package mqengine

import (
	"context"
	"crypto/x509/pkix"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/situationd/situationd/mqengine/mqi"
	"github.com/situationd/situationd/mqengine/mqsc"
	"github.com/situationd/situationd/mqengine/transport/tlstest"
)

// tlsPair is a sender's queue manager and a receiver's, with a channel A.B
// between them and remote queue FAR on the sender's.
type tlsPair struct {
	folders  [2]string
	managers [2]*QueueManager
	conns    [2]Conn
}

func newTLSPair(t *testing.T) *tlsPair {
	t.Helper()
	p, data := &tlsPair{}, dataFolder(t)
	for i, name := range []string{"A", "B"} {
		if err := Create(testContext(t), CreateOptions{Data: data, Name: name}); err != nil {
			t.Fatal(err)
		}
		folder, err := Folder(data, name)
		if err != nil {
			t.Fatal(err)
		}
		q, err := Start(testContext(t), Options{Name: name, Folder: folder, Listen: "127.0.0.1:0"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = q.Stop(context.Background()) })
		p.folders[i], p.managers[i], p.conns[i] = folder, q, connectTo(t, q)
	}
	run(t, p.conns[1], "DEFINE QLOCAL(NEAR)")
	run(t, p.conns[0], "DEFINE QLOCAL(B) USAGE(XMITQ)")
	run(t, p.conns[0], "DEFINE QREMOTE(FAR) RNAME(NEAR) RQMNAME(B)")
	return p
}

// channel defines both ends, with attributes of their own.
func (p *tlsPair) channel(t *testing.T, sender, receiver string) {
	t.Helper()
	run(t, p.conns[1], "DEFINE CHANNEL(A.B) CHLTYPE(RCVR) "+receiver)
	run(t, p.conns[0], "DEFINE CHANNEL(A.B) CHLTYPE(SDR) XMITQ(B) SHORTTMR(1) CONNAME('"+connName(p.managers[1].Addr())+"') "+sender)
}

// keys gives one of the two a key repository: relative to its folder.
func (p *tlsPair) keys(t *testing.T, i int, a *tlstest.Authority, name pkix.Name, ends time.Time) {
	t.Helper()
	if err := a.Issue(filepath.Join(p.folders[i], "ssl"), name, ends); err != nil {
		t.Fatal(err)
	}
	run(t, p.conns[i], "ALTER QMGR SSLKEYR('ssl')")
}

func (p *tlsPair) log(i int) string {
	text, _ := os.ReadFile(errorLogName(filepath.Join(p.folders[i], "errors"), 1)) // none yet is empty
	return string(text)
}

func authority(t *testing.T) *tlstest.Authority {
	t.Helper()
	a, err := tlstest.NewAuthority("CA")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// command runs an MQSC command that may be refused.
func command(t *testing.T, c Conn, text string) mqsc.Result {
	t.Helper()
	cmd, bad := mqsc.Parse(text)
	if bad != nil {
		t.Fatal(bad)
	}
	res, err := c.Command(testContext(t), cmd)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}

// value is one attribute of the first record of a display; blank if there is none.
func value(t *testing.T, c Conn, text, key string) string {
	t.Helper()
	for _, r := range command(t, c, text).Responses {
		for _, f := range r.Fields {
			if f.Key == key {
				return strings.Join(f.Values, ",")
			}
		}
	}
	return ""
}

func TestTLS_BothEndsSecured_Runs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, sender, receiver, protocol, cipher string }{
		{"any", "SSLCIPH(ANY_TLS12_OR_HIGHER) SSLPEER('CN=B*,O=\"Acme, Inc\"')", "SSLCIPH(ANY_TLS13) SSLPEER('OU=Queues,CN=A')", "TLSV13", "TLS_"},
		{"named for 1.2", "SSLCIPH(ECDHE_ECDSA_AES_256_GCM_SHA384)", "SSLCIPH(ECDHE_ECDSA_AES_256_GCM_SHA384)", "TLSV12", "ECDHE_ECDSA_AES_256_GCM_SHA384"},
		{"named for 1.3", "SSLCIPH(TLS_AES_256_GCM_SHA384)", "SSLCIPH(ANY) SSLCAUTH(OPTIONAL)", "TLSV13", "TLS_"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, ca := newTLSPair(t), authority(t)
			p.keys(t, 0, ca, pkix.Name{CommonName: "A", OrganizationalUnit: []string{"Queues"}, Organization: []string{"Acme"}}, time.Now().Add(time.Hour))
			p.keys(t, 1, ca, pkix.Name{CommonName: "B1", Organization: []string{"Acme, Inc"}, Country: []string{"GB"}}, time.Now().Add(time.Hour))
			p.channel(t, tc.sender, tc.receiver)
			if res := run(t, p.conns[0], "PING CHANNEL(A.B)"); res.Responses[0].ID != "AMQ8020I" {
				t.Errorf("PING: %v", res.Responses)
			}
			run(t, p.conns[0], "START CHANNEL(A.B)")
			put(t, p.conns[0], open(t, p.conns[0], "FAR", mqi.MQOO_OUTPUT), "secret", mqi.MQPMO_NO_SYNCPOINT)
			in := open(t, p.conns[1], "NEAR", mqi.MQOO_INPUT_SHARED)
			m, err := p.conns[1].Get(testContext(t), in, mqi.NewMD(), mqi.GMO{Options: mqi.MQGMO_WAIT, WaitInterval: 10000, MaxLength: -1})
			if err != nil || string(m.Body) != "secret" {
				t.Fatalf("got %+v, %v; logs %s %s", m, err, p.log(0), p.log(1))
			}
			show := "DISPLAY CHSTATUS(A.B) ALL"
			if got := value(t, p.conns[0], show, "SECPROT"); got != tc.protocol {
				t.Errorf("SECPROT(%s), want %s", got, tc.protocol)
			}
			if got := value(t, p.conns[1], show, "SSLCIPH"); !strings.HasPrefix(got, tc.cipher) {
				t.Errorf("SSLCIPH(%s), want %s", got, tc.cipher)
			}
			if got, want := value(t, p.conns[0], show, "SSLPEER"), `SERIALNUMBER=03,CN=B1,O="Acme, Inc",C=GB`; got != want {
				t.Errorf("SSLPEER(%s), want %s", got, want)
			}
			if got, want := value(t, p.conns[1], show, "SSLCERTI"), "CN=CA,O=Test"; got != want {
				t.Errorf("SSLCERTI(%s), want %s", got, want)
			}
		})
	}
}

// Whatever does not fit: the sender goes into retry, both logs have one clear line, and nothing arrives.
func TestTLS_EndsThatDoNotFit_Retry(t *testing.T) {
	t.Parallel()
	good, gone := time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	for _, tc := range []struct {
		name, sender, receiver string
		with                   string // what of the world is different
		atSender, atReceiver   string // what the logs have
	}{
		{"plain sender", "", "SSLCIPH(ANY)", "", "the other end uses no TLS, but the channel has SSLCIPH(ANY) here", "AMQ9639E"},
		{"plain receiver", "SSLCIPH(ANY)", "", "", "the channel has no CipherSpec here (SSLCIPH is blank)", "AMQ9635E"},
		{"peer name at the receiver", "SSLCIPH(ANY)", "SSLCIPH(ANY) SSLPEER('CN=C')", "", "does not match SSLPEER(CN=C)", "AMQ9636E"},
		{"peer name at the sender", "SSLCIPH(ANY) SSLPEER('CN=C')", "SSLCIPH(ANY)", "", "AMQ9636E", ""},
		{"versions", "SSLCIPH(ANY_TLS12)", "SSLCIPH(ANY_TLS13)", "", "is not that of the channel, ANY_TLS13", "AMQ9631E"},
		{"cipher suites", "SSLCIPH(ECDHE_ECDSA_AES_128_GCM_SHA256)", "SSLCIPH(ECDHE_ECDSA_AES_256_GCM_SHA384)", "", "ECDHE_ECDSA_AES_128_GCM_SHA256, is not that", "AMQ9631E"},
		{"other authority", "SSLCIPH(ANY)", "SSLCIPH(ANY)", "stranger", "AMQ9633E", ""},
		{"expired at the receiver", "SSLCIPH(ANY)", "SSLCIPH(ANY)", "B expired", "certificate has expired", ""},
		{"expired at the sender", "SSLCIPH(ANY_TLS13)", "SSLCIPH(ANY)", "A expired", "the other end says: tls: bad certificate", "AMQ9633E"},
		{"no keys at the receiver", "SSLCIPH(ANY)", "SSLCIPH(ANY)", "B without", "AMQ9638E", "AMQ9657E"},
		{"no keys at the sender", "SSLCIPH(ANY)", "SSLCIPH(ANY)", "A without", "AMQ9657E", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, ca := newTLSPair(t), authority(t)
			for i, name := range []string{"A", "B"} {
				ends, by := good, ca
				switch tc.with {
				case name + " without":
					continue
				case name + " expired":
					ends = gone
				case "stranger":
					by = authority(t)
				}
				p.keys(t, i, by, pkix.Name{CommonName: name}, ends)
			}
			defer func() {
				if t.Failed() {
					t.Logf("logs of A\n%s\nof B\n%s", p.log(0), p.log(1))
				}
			}()
			p.channel(t, tc.sender, tc.receiver)
			run(t, p.conns[0], "START CHANNEL(A.B)")
			put(t, p.conns[0], open(t, p.conns[0], "FAR", mqi.MQOO_OUTPUT), "secret", mqi.MQPMO_NO_SYNCPOINT)
			eventually(t, "RETRYING, and both logs tell why", func() bool {
				return value(t, p.conns[0], "DISPLAY CHSTATUS(A.B)", "STATUS") == "RETRYING" &&
					strings.Contains(p.log(0), tc.atSender) && strings.Contains(p.log(1), tc.atReceiver)
			})
			if d := value(t, p.conns[1], "DISPLAY QSTATUS(NEAR)", "CURDEPTH"); d != "0" {
				t.Errorf("%s messages arrived", d)
			}
		})
	}
}

// REFRESH SECURITY TYPE(SSL) reads the files again: a certificate that is not
// believed any more ends the channel, and a bad file leaves everything as it was.
func TestTLS_Refresh_TakesNewKeys(t *testing.T) {
	t.Parallel()
	p, ca := newTLSPair(t), authority(t)
	p.keys(t, 0, ca, pkix.Name{CommonName: "A"}, time.Now().Add(time.Hour))
	p.keys(t, 1, ca, pkix.Name{CommonName: "B"}, time.Now().Add(time.Hour))
	p.channel(t, "SSLCIPH(ANY)", "SSLCIPH(ANY)")
	run(t, p.conns[0], "START CHANNEL(A.B)")
	status := func() string { return value(t, p.conns[0], "DISPLAY CHSTATUS(A.B)", "STATUS") }
	eventually(t, "RUNNING", func() bool { return status() == "RUNNING" })
	if err := os.WriteFile(filepath.Join(p.folders[0], "ssl", "cert.pem"), []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	res := command(t, p.conns[0], "REFRESH SECURITY TYPE(SSL)")
	if !res.Failed || res.Responses[0].ID != "AMQ9657E" || !strings.Contains(res.Responses[0].Text, "cert.pem: no PEM in it") {
		t.Errorf("a bad file: %+v", res)
	}
	if status() != "RUNNING" {
		t.Errorf("a bad file ended the channel: %s", status())
	}
	// A new certificate: the channel connects again with it.
	p.keys(t, 0, ca, pkix.Name{CommonName: "A2"}, time.Now().Add(time.Hour))
	run(t, p.conns[0], "REFRESH SECURITY(*) TYPE(SSL)")
	eventually(t, "B sees the new certificate", func() bool {
		return strings.Contains(value(t, p.conns[1], "DISPLAY CHSTATUS(A.B) SSLPEER", "SSLPEER"), "CN=A2")
	})
	// B now believes another authority only.
	p.keys(t, 1, authority(t), pkix.Name{CommonName: "B"}, time.Now().Add(time.Hour))
	run(t, p.conns[1], "REFRESH SECURITY TYPE(SSL)")
	eventually(t, "the old channel has ended", func() bool {
		return status() == "RETRYING" && value(t, p.conns[1], "DISPLAY CHSTATUS(A.B)", "STATUS") == ""
	})
}
