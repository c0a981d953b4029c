package situations

import (
	"testing"

	"pgregory.net/rapid"
)

const pairRule = `version: 1
situations:
  - name: idle
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS == 0
    actions: [{put: DISABLED}]
    severity: minor
  - name: read
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS > 0
    actions: [{put: ENABLED}]
    severity: minor
`

// Property 19: two situations of one tick with complementary formulas are never
// both true, and never both without a verdict while the other has one.
func TestProperty_ComplementaryNeverBoth(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rules, name := inGroup(rt, pairRule)
		b := newBookBench(t, rules)
		for _, letter := range walkGen(rt, "TFUG") {
			b.tick(letter)
			idle, read := b.book.find(Key{"idle", "QM2", name}), b.book.find(Key{"read", "QM2", name})
			if idle == nil || read == nil {
				continue
			}
			if idle.verdict == True && read.verdict == True || (idle.verdict == Unknown) != (read.verdict == Unknown) {
				rt.Fatalf("idle is %s and read is %s", idle.verdict, read.verdict)
			}
			open := func(it *item) bool { return it.state != nil && it.state.isOpen() }
			if open(idle) && open(read) {
				rt.Fatal("both are open")
			}
		}
	})
}

// Property 14, the runner's part: a situation that is removed, at whatever point,
// leaves no record and no alert, and one intent ends what its actions hold.
func TestProperty_RemovalEndsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rules, name := inGroup(rt, `version: 1
situations:
  - name: idle
    watch: {queue: DCQ1, cluster: C1}
    formula: IPPROCS == 0
    actions: [{put: DISABLED}]
    on_clear: revert
    severity: minor
`)
		b := newBookBench(t, rules)
		for _, letter := range walkGen(rt, "TFUG") {
			b.tick(letter)
		}
		it := b.book.find(Key{"idle", "QM2", name})
		acted := it != nil && it.state != nil && it.state.Acted
		before := len(b.sent)
		b.rules = mustLoad(t, "version: 1\nsituations: []\n")
		if rapid.Bool().Draw(rt, "by restart") {
			b.restart()
		} else {
			b.book.reload(b.rules, b.at)
		}
		b.tick('T')
		b.tick('F')
		if len(b.store) > 0 || len(b.book.alerts()) > 0 {
			rt.Fatalf("left: %d records, %d alerts", len(b.store), len(b.book.alerts()))
		}
		ends := b.sent[before:]
		if acted != (len(ends) == 1) || acted && (ends[0].Edge != EdgeClear || len(ends[0].Actions) != 1 || ends[0].Actions[0].Verb != VerbRevert) {
			rt.Fatalf("acted %v, and the removal sent %+v", acted, ends)
		}
	})
}
