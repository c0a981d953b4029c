package main

import (
	"crypto/x509/pkix"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/situationd/situationd/mqengine/transport/tlstest"
)

// issue writes the key repository of a queue manager: issue AUTHORITY FOLDER
// COMMONNAME [ORGANIZATION]. Each name of an authority is one of its own; with !
// the certificate has expired.
func issue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || len(args) > 4 {
		ts.Fatalf("usage: issue authority folder commonname [organization]")
	}
	c := ts.Value(crewKey{}).(*crew)
	a := c.authorities[args[0]]
	if a == nil {
		var err error
		a, err = tlstest.NewAuthority(args[0])
		ts.Check(err)
		c.authorities[args[0]] = a
	}
	ends := time.Now().Add(time.Hour)
	if neg {
		ends = time.Now().Add(-time.Hour)
	}
	ts.Check(a.Issue(ts.MkAbs(args[1]), pkix.Name{CommonName: args[2], Organization: args[3:]}, ends))
}
