package situations

// Formula is a compiled, checked expr program.
type Formula struct{ source string }
