package examples

import _ "embed" // for the rules below

// Rules is rules.yaml.
//
//go:embed rules.yaml
var Rules []byte
