package object

import (
	"fmt"
	"strings"
)

// Conflict is two attributes that do not go together. ID is the AMQ message
// that MQ answers with, Code the MQRCCF number, 0 if there is none.
type Conflict struct {
	ID   string
	Code int
	Text string
}

func (e *Conflict) Error() string { return e.ID + ": " + e.Text }

// Validate checks the attributes of the object against each other. The error is a *Conflict.
func (o *Object) Validate() error {
	switch {
	case o.kind == QMgr:
		return o.validateQMgr()
	case o.kind.IsQueue():
		return o.validateQueue()
	case o.kind.IsChannel():
		return o.validateChannel()
	}
	return nil
}

// both reports whether two name attributes are set.
func (o *Object) both(a, b string) bool {
	return o.Has(a) && o.Has(b) && o.Str(a) != "" && o.Str(b) != ""
}

func (o *Object) clustered() bool {
	return o.Has("CLUSTER") && (o.Str("CLUSTER") != "" || o.Str("CLUSNL") != "")
}

var errBothClusters = &Conflict{ID: "AMQ8433E", Text: "You are not allowed to set both the CLUSTER and CLUSNL fields."}

func (o *Object) validateQMgr() error {
	if o.both("REPOS", "REPOSNL") {
		return &Conflict{ID: "AMQ8432E", Text: "You are not allowed to set both the REPOS and REPOSNL fields."}
	}
	return nil
}

func (o *Object) validateQueue() error {
	if o.both("CLUSTER", "CLUSNL") {
		return errBothClusters
	}
	if o.kind != QLocal && o.kind != QModel {
		return nil
	}
	if o.clustered() && o.Str("USAGE") == "XMITQ" {
		return &Conflict{ID: "AMQ8442E", Code: 3090, Text: "USAGE cannot be set to XMITQ because either the CLUSTER or CLUSNL field is set (3090)."}
	}
	if o.clustered() && reserved(o.Name) {
		return &Conflict{ID: "AMQ8442E", Code: 3090, Text: fmt.Sprintf("Queue %s is reserved and cannot be in a cluster (3090).", o.Name)}
	}
	if hi, lo := o.Int("QDEPTHHI"), o.Int("QDEPTHLO"); hi < lo {
		return &Conflict{ID: "AMQ8425E", Text: fmt.Sprintf("QDEPTHHI(%d) is below QDEPTHLO(%d).", hi, lo)}
	}
	return nil
}

// reserved names hold the repository's own traffic or are made per connection.
func reserved(name string) bool {
	return strings.HasPrefix(name, "SYSTEM.CLUSTER.") || strings.HasPrefix(name, "SYSTEM.ADMIN.COMMAND.") ||
		strings.HasPrefix(name, "SYSTEM.CHANNEL.")
}

func (o *Object) validateChannel() error {
	if o.both("CLUSTER", "CLUSNL") {
		return errBothClusters
	}
	if err := o.validateTLS(); err != nil {
		return err
	}
	// SYSTEM.DEF.* are templates and name no partner.
	if strings.HasPrefix(o.Name, "SYSTEM.DEF.") {
		return nil
	}
	switch o.kind {
	case Sender:
		if o.Str("XMITQ") == "" {
			return &Conflict{ID: "AMQ8421E", Text: "A required keyword was not specified: XMITQ, the transmission queue of the sender channel."}
		}
		fallthrough
	case ClusSdr:
		if o.Str("CONNAME") == "" {
			return &Conflict{ID: "AMQ8421E", Text: "A required keyword was not specified: CONNAME, the address of the partner."}
		}
	case ClusRcvr:
		if o.clustered() && o.Str("CONNAME") == "" {
			return &Conflict{ID: "AMQ8421E", Text: "A required keyword was not specified: CONNAME, the address that the cluster learns."}
		}
	default: // no other kind needs a partner
	}
	return nil
}

// validateTLS checks what a channel asks of TLS when it is said, as MQ does.
func (o *Object) validateTLS() error {
	if spec := o.Str("SSLCIPH"); spec != "" {
		if _, err := ParseCipherSpec(spec); err != nil {
			return &Conflict{ID: "AMQ8242E", Text: "SSLCIPH definition wrong: " + err.Error() + "."}
		}
	}
	if peer := o.Str("SSLPEER"); peer != "" {
		if _, err := ParsePeerName(peer); err != nil {
			return &Conflict{ID: "AMQ9640E", Text: "SSL invalid peer name: " + err.Error() + "."}
		}
	}
	return nil
}
