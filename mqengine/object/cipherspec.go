package object

import (
	"fmt"
	"slices"
	"strings"
)

// Versions of TLS as the protocol numbers them.
const (
	TLS12 = 0x0303
	TLS13 = 0x0304
)

// CipherSpec is what an SSLCIPH asks of a link.
type CipherSpec struct {
	Name     string
	Min, Max uint16 // versions of TLS
	// Suite is the cipher suite of TLS 1.2 that must be agreed, 0 for any. With TLS 1.3 the
	// library chooses among its three suites, so a name of one of them asks for the version.
	Suite uint16
}

// cipherSpecs are those that Go's TLS has; the older ones of MQ, without forward
// secrecy or authenticated encryption, are not among them.
var cipherSpecs = []CipherSpec{
	{"ANY", TLS12, TLS13, 0},
	{"ANY_TLS12", TLS12, TLS12, 0},
	{"ANY_TLS12_OR_HIGHER", TLS12, TLS13, 0},
	{"ANY_TLS13", TLS13, TLS13, 0},
	{"ANY_TLS13_OR_HIGHER", TLS13, TLS13, 0},
	{"TLS_AES_128_GCM_SHA256", TLS13, TLS13, 0},
	{"TLS_AES_256_GCM_SHA384", TLS13, TLS13, 0},
	{"TLS_CHACHA20_POLY1305_SHA256", TLS13, TLS13, 0},
	{"ECDHE_ECDSA_AES_128_GCM_SHA256", TLS12, TLS12, 0xc02b},
	{"ECDHE_ECDSA_AES_256_GCM_SHA384", TLS12, TLS12, 0xc02c},
	{"ECDHE_RSA_AES_128_GCM_SHA256", TLS12, TLS12, 0xc02f},
	{"ECDHE_RSA_AES_256_GCM_SHA384", TLS12, TLS12, 0xc030},
}

// ParseCipherSpec finds the CipherSpec of an SSLCIPH that is not blank.
func ParseCipherSpec(name string) (CipherSpec, error) {
	names := make([]string, 0, len(cipherSpecs))
	for _, c := range cipherSpecs {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return CipherSpec{}, fmt.Errorf("SSLCIPH(%.64s) is not supported; use one of %s", name, strings.Join(names, ", "))
}

// Suites are the cipher suites of TLS 1.2 that a link of this CipherSpec may
// use; nil if it is for TLS 1.3 only.
func (c CipherSpec) Suites() (ids []uint16) {
	if c.Min > TLS12 {
		return nil
	}
	if c.Suite != 0 {
		return []uint16{c.Suite}
	}
	for _, o := range cipherSpecs {
		if o.Suite != 0 {
			ids = append(ids, o.Suite)
		}
	}
	return ids
}

// Allows reports whether a link on which this was agreed does.
func (c CipherSpec) Allows(version, suite uint16) bool {
	return version >= c.Min && version <= c.Max && (version != TLS12 || slices.Contains(c.Suites(), suite))
}

// CipherSuiteName is MQ's name of an agreed cipher suite.
func CipherSuiteName(suite uint16) string {
	switch suite {
	case 0x1301:
		return "TLS_AES_128_GCM_SHA256"
	case 0x1302:
		return "TLS_AES_256_GCM_SHA384"
	case 0x1303:
		return "TLS_CHACHA20_POLY1305_SHA256"
	}
	for _, c := range cipherSpecs {
		if c.Suite == suite {
			return c.Name
		}
	}
	return fmt.Sprintf("%04X", suite)
}
