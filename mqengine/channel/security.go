package channel

import "github.com/situationd/situationd/mqengine/object"

// Security is what TLS agreed on a link, and who is at its other end by the
// word of a certificate that was found good. Nil stands for a link without TLS.
type Security struct {
	Version, Suite uint16
	Peer, Issuer   object.DN // blank: the other end showed no certificate
}

// Protocol is the version as SECPROT of CHSTATUS shows it.
func (s *Security) Protocol() string {
	switch {
	case s == nil:
		return "NONE"
	case s.Version == object.TLS12:
		return "TLSV12"
	default:
		return "TLSV13"
	}
}

// Fault is a refusal with the message that MQ has for it. A blank one is none.
type Fault struct{ ID, Text string }

// Judge reports what is wrong with a link for a channel with this SSLCIPH and
// SSLPEER. certificate: the other end must show one.
func (s *Security) Judge(cipherSpec, peerName string, certificate bool) Fault {
	switch {
	case cipherSpec == "" && s == nil:
		return Fault{}
	case cipherSpec == "":
		return Fault{"AMQ9635E", "the other end uses TLS, but the channel has no CipherSpec here (SSLCIPH is blank)"}
	case s == nil:
		return Fault{"AMQ9639E", "the other end uses no TLS, but the channel has SSLCIPH(" + cipherSpec + ") here"}
	}
	spec, err := object.ParseCipherSpec(cipherSpec)
	switch {
	case err != nil:
		return Fault{"AMQ9635E", err.Error()}
	case !spec.Allows(s.Version, s.Suite):
		return Fault{"AMQ9631E", "the CipherSpec negotiated, " + object.CipherSuiteName(s.Suite) + ", is not that of the channel, " + cipherSpec}
	case certificate && len(s.Peer) == 0:
		return Fault{"AMQ9637E", "the other end shows no certificate"}
	case peerName == "":
		return Fault{}
	}
	pattern, err := object.ParsePeerName(peerName)
	switch {
	case err != nil:
		return Fault{"AMQ9640E", err.Error()}
	case len(s.Peer) == 0:
		return Fault{"AMQ9637E", "the other end shows no certificate, but SSLPEER has to be compared with one"}
	case !pattern.Matches(s.Peer):
		return Fault{"AMQ9636E", "the certificate of '" + s.Peer.String() + "' does not match SSLPEER(" + peerName + ")"}
	}
	return Fault{}
}
