package object

import (
	"strings"
	"testing"
)

func TestPeerNameMatches(t *testing.T) {
	name := DN{{"C", "GB"}, {"ST", "Kent"}, {"O", "Acme, Inc"}, {"OU", "Big"}, {"OU", "Small"}, {"CN", "QM1 test"}, {"SERIALNUMBER", "4C:D0"}}
	for _, tc := range []struct {
		pattern string
		want    bool
	}{
		{"CN=QM1 test", true}, {"CN=qm1 TEST", true}, {"CN=QM1", false}, {"CN=QM1*", true}, {"CN=*test", true}, {"CN=*1 t*", true},
		{"CN=*2*", false}, {"CN=*", true}, {"L=*", false}, {`O="Acme, Inc"`, true}, {`O="acme*"`, true}, {"O=Acme", false},
		{"CN=QM1*,O=Acme*;C=GB", true}, {" CN=QM1 test , C=GB ", true}, {"CN=QM1*,C=DE", false}, {"S=Kent", true}, {"SP=Kent", true},
		{"OU=Big,OU=Small", true}, {"OU=Small,OU=Big", false}, {"OU=Small", true}, {"OU=Big,OU=Big", false}, {"SERIALNUMBER=4C*", true},
		{`CN="OU=Big"`, false},
	} {
		p, err := ParsePeerName(tc.pattern)
		if err != nil {
			t.Errorf("%s: %v", tc.pattern, err)
		} else if p.Matches(name) != tc.want {
			t.Errorf("%s matches: %v", tc.pattern, !tc.want)
		}
	}
	if got, want := name.String(), `SERIALNUMBER=4C:D0,CN=QM1 test,OU=Small,OU=Big,O="Acme, Inc",ST=Kent,C=GB`; got != want {
		t.Errorf("shown as %s, want %s", got, want)
	}
}

func TestPeerNameIsChecked(t *testing.T) {
	for pattern, what := range map[string]string{
		"QM1": "TYPE=value", "cn=QM1": "in capitals", "CN =QM1": "right before", "XX=1": "CN, OU", "CN=": "no value", "CN=A,": "TYPE=value",
		"CN=A*B": "asterisk", "CN=A,CN=B": "twice", "ST=A,S=B": "twice", `CN="A`: "does not end", `CN="A"B`: "more behind", "": "TYPE=value",
	} {
		if _, err := ParsePeerName(pattern); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%q: %v, want something of %q", pattern, err, what)
		}
	}
}

func FuzzParsePeerName(f *testing.F) {
	for _, s := range []string{"CN=QM1*,O=Acme;C=GB", `O="a,b",OU=x`, "CN=*", "CN=a*b", `CN="`} {
		f.Add(s, "QM1")
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		p, err := ParsePeerName(text)
		if err != nil {
			return
		}
		d := DN{{"CN", value}}
		if p.Matches(d) && (len(p) != 1 || p[0].Type != "CN") {
			t.Fatalf("%q matches a name that has only a CN", text)
		}
		// What a pattern without asterisks asks for, it matches.
		own := make(DN, len(p))
		for i, part := range p {
			if strings.Contains(part.Value, "*") {
				return
			}
			own[i] = part
		}
		if !p.Matches(own) {
			t.Fatalf("%q does not match itself", text)
		}
	})
}

func TestCipherSpecs(t *testing.T) {
	for _, tc := range []struct {
		name           string
		version, suite uint16
		want           bool
	}{
		{"ANY_TLS13", TLS13, 0x1302, true}, {"ANY_TLS13", TLS12, 0xc02f, false}, {"ANY_TLS12_OR_HIGHER", TLS12, 0xc030, true},
		{"ANY_TLS12_OR_HIGHER", TLS13, 0x1301, true}, {"ANY_TLS12_OR_HIGHER", TLS12, 0x002f, false}, {"ANY_TLS12", TLS13, 0x1301, false},
		{"ECDHE_RSA_AES_256_GCM_SHA384", TLS12, 0xc030, true}, {"ECDHE_RSA_AES_256_GCM_SHA384", TLS12, 0xc02f, false},
		{"ECDHE_RSA_AES_256_GCM_SHA384", TLS13, 0x1302, false}, {"TLS_AES_256_GCM_SHA384", TLS13, 0x1301, true},
	} {
		c, err := ParseCipherSpec(tc.name)
		if err != nil || c.Allows(tc.version, tc.suite) != tc.want {
			t.Errorf("%s with %04x %04x: allowed %v, %v", tc.name, tc.version, tc.suite, !tc.want, err)
		}
	}
	if _, err := ParseCipherSpec("TLS_RSA_WITH_AES_128_CBC_SHA256"); err == nil || !strings.Contains(err.Error(), "ANY_TLS12_OR_HIGHER") {
		t.Errorf("an old one: %v", err)
	}
}
