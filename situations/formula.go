package situations

// Formula is a compiled, checked expr program.
type Formula struct {
	source string
	lever  Lever
}

// Lever is what a rule turns down when it opens. READY_ELSEWHERE counts the
// instances that are still above ours then.
type Lever struct {
	Verb  Verb // put, rank or priority; empty if the rule has none
	Value int  // of rank and priority
}

// String is the formula as written.
func (f *Formula) String() string { return f.source }
