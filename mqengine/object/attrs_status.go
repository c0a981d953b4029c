package object

// statusAttrs are what status displays show.
var statusAttrs = []Attr{}
