package mqengine

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/situationd/situationd/mqengine/channel"
	"github.com/situationd/situationd/mqengine/object"
	"github.com/situationd/situationd/mqengine/qmgr"
	"github.com/situationd/situationd/mqengine/transport"
)

// Files of a key repository, the folder that SSLKEYR of the queue manager names.
const (
	certFile = "cert.pem" // our certificate, then those between it and the authority's
	keyFile  = "key.pem"  // its private key, not encrypted
	caFile   = "ca.pem"   // the authorities whose certificates are believed
	// pemMax bounds each of them.
	pemMax = 1 << 20
)

// keyRepository gives TLS its certificates: those of the folder as they were
// when it was last read, which is at the first use and at REFRESH SECURITY.
type keyRepository struct {
	base string // what a relative SSLKEYR is below

	mu     sync.Mutex
	folder string
	keys   *keys // nil: not read yet
}

// keys are the contents of a key repository.
type keys struct {
	cert tls.Certificate
	cas  *x509.CertPool
}

var errNoKeyRepository = errors.New("the queue manager has no key repository: SSLKEYR is blank")

// use names the folder. What was read of another is forgotten.
func (r *keyRepository) use(folder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if folder != r.folder {
		r.folder, r.keys = folder, nil
	}
}

// refresh reads the folder again. If that fails everything stays as it was.
func (r *keyRepository) refresh() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k, err := r.read()
	if err == nil {
		r.keys = k
	}
	return err
}

// current gives the keys, and reads them if nobody did.
func (r *keyRepository) current() (*keys, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keys == nil {
		k, err := r.read()
		if err != nil {
			return nil, err
		}
		r.keys = k
	}
	return r.keys, nil
}

func (r *keyRepository) read() (*keys, error) {
	if r.folder == "" {
		return nil, errNoKeyRepository
	}
	folder := r.folder
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(r.base, folder)
	}
	var texts [3][]byte
	for i, name := range []string{certFile, keyFile, caFile} {
		var err error
		if texts[i], err = readPEM(filepath.Join(folder, name)); err != nil {
			return nil, keyError(err)
		}
	}
	cert, err := tls.X509KeyPair(texts[0], texts[1])
	if err != nil {
		return nil, keyError(fmt.Errorf("%s and %s: %w", filepath.Join(folder, certFile), keyFile, err))
	}
	cas := x509.NewCertPool()
	if !cas.AppendCertsFromPEM(texts[2]) {
		return nil, keyError(fmt.Errorf("%s: there is no certificate in it", filepath.Join(folder, caFile)))
	}
	return &keys{cert, cas}, nil
}

// readPEM reads a file of bounded length that has at least one block.
func readPEM(path string) (_ []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, pemMax+1))
	switch block, _ := pem.Decode(text); {
	case err != nil:
		return nil, err
	case len(text) > pemMax:
		return nil, fmt.Errorf("%s: longer than %d bytes", path, pemMax)
	case block == nil:
		return nil, fmt.Errorf("%s: no PEM in it", path)
	}
	return text, nil
}

// keyFault is a key repository that cannot be used.
type keyFault struct{ err error }

func (f *keyFault) Error() string { return "the key repository cannot be used: " + f.err.Error() }
func (f *keyFault) Unwrap() error { return f.err }

func keyError(err error) error { return &keyFault{err} }

// listening is what an accepted link is answered with. Whether the caller must
// show a certificate is for the channel to say, which is not known yet; one that
// is shown must be good.
func (r *keyRepository) listening() (*tls.Config, error) {
	k, err := r.current()
	if err != nil {
		return nil, err
	}
	conf := k.config(object.CipherSpec{Min: object.TLS12, Max: object.TLS13})
	conf.ClientAuth = tls.RequestClientCert
	return conf, nil
}

// calling is what a channel of a CipherSpec dials with.
func (r *keyRepository) calling(cipherSpec string) (*tls.Config, error) {
	spec, err := object.ParseCipherSpec(cipherSpec)
	if err != nil {
		return nil, err
	}
	k, err := r.current()
	if err != nil {
		return nil, err
	}
	conf := k.config(spec)
	conf.InsecureSkipVerify = true // as in MQ no host is in a certificate: VerifyConnection checks the rest
	conf.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &k.cert, nil }
	return conf, nil
}

func (k *keys) config(spec object.CipherSpec) *tls.Config {
	return &tls.Config{
		Certificates: []tls.Certificate{k.cert}, MinVersion: spec.Min, MaxVersion: spec.Max, CipherSuites: spec.Suites(),
		SessionTicketsDisabled: true, // every link shows its certificates
		VerifyConnection:       k.verify,
	}
}

// verify checks the other end's certificate against our authorities.
func (k *keys) verify(cs tls.ConnectionState) error {
	if len(cs.PeerCertificates) == 0 {
		return nil // SSLCAUTH decides
	}
	between := x509.NewCertPool()
	for _, c := range cs.PeerCertificates[1:] {
		between.AddCert(c)
	}
	leaf := cs.PeerCertificates[0]
	_, err := leaf.Verify(x509.VerifyOptions{Roots: k.cas, Intermediates: between, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
	if err != nil {
		return &badCertificate{distinguishedName(leaf.Subject).String(), err}
	}
	return nil
}

// badCertificate is one that the other end showed.
type badCertificate struct {
	name string
	err  error
}

func (b *badCertificate) Error() string {
	return fmt.Sprintf("the certificate of '%s': %v", b.name, b.err)
}
func (b *badCertificate) Unwrap() error { return b.err }

// linkFault is the message that a failed link gets in the error log; blank for an ordinary one.
func linkFault(err error) string {
	var fault *keyFault
	var bad *badCertificate
	switch {
	case errors.As(err, &fault), errors.Is(err, errNoKeyRepository):
		return "AMQ9657E"
	case errors.As(err, &bad):
		return "AMQ9633E"
	case errors.Is(err, transport.ErrHandshake):
		return "AMQ9638E"
	}
	return ""
}

// security is what the machine has to know of a link.
func security(link transport.Link) *channel.Security {
	state := link.TLS()
	if state == nil {
		return nil
	}
	s := &channel.Security{Version: state.Version, Suite: state.CipherSuite}
	if len(state.PeerCertificates) > 0 {
		leaf := state.PeerCertificates[0]
		s.Peer = append(distinguishedName(leaf.Subject), object.DNPart{Type: "SERIALNUMBER", Value: serialNumber(leaf)})
		s.Issuer = distinguishedName(leaf.Issuer)
	}
	return s
}

func serialNumber(c *x509.Certificate) string {
	var pairs []string
	for _, b := range c.SerialNumber.Bytes() {
		pairs = append(pairs, fmt.Sprintf("%02X", b))
	}
	return strings.Join(pairs, ":")
}

// dnWords are MQ's words for the attributes of a name.
var dnWords = map[string]string{
	"2.5.4.3": "CN", "2.5.4.6": "C", "2.5.4.7": "L", "2.5.4.8": "ST", "2.5.4.9": "STREET", "2.5.4.10": "O", "2.5.4.11": "OU",
	"2.5.4.12": "T", "2.5.4.17": "PC", "2.5.4.46": "DNQ", "0.9.2342.19200300.100.1.1": "UID", "0.9.2342.19200300.100.1.25": "DC",
	"1.2.840.113549.1.9.1": "MAIL", "1.2.840.113549.1.9.2": "UNSTRUCTUREDNAME", "1.2.840.113549.1.9.8": "UNSTRUCTUREDADDRESS",
}

func distinguishedName(name pkix.Name) (d object.DN) {
	for _, part := range name.Names {
		if word := dnWords[part.Type.String()]; word != "" {
			d = append(d, object.DNPart{Type: word, Value: fmt.Sprint(part.Value)})
		}
	}
	return d
}

// changeKeys carries out what the machine wants with the key repository. Files
// are read by a goroutine of their own, whose result the machine gets.
func (l *links) changeKeys(c qmgr.KeyChange) {
	l.keys.use(c.Folder)
	if c.Folder == "" && c.Refresh == 0 {
		return
	}
	l.wg.Go(func() {
		answer := qmgr.KeysRead{Refresh: c.Refresh}
		if err := l.keys.refresh(); err != nil {
			answer.Reason = err.Error()
			l.log("AMQ9657E", "The key repository could not be opened: %v.", err)
		}
		l.mailbox.post(item{event: answer})
	})
}
