package actions

import (
	"slices"
	"strings"
	"time"
)

// Holder is a rule that wants a claimed value.
type Holder struct {
	Owner string    `json:"owner"`
	Value string    `json:"value"`
	Since time.Time `json:"since"`
}

// Claim remembers that an attribute has a value of ours and what was found
// before. Only rules that give back (on_clear: revert, availability) make
// claims, and useq for the CLWLUSEQ that a lowering needs.
type Claim struct {
	Target   Target   `json:"target"`
	Attr     string   `json:"attr"`
	Baseline string   `json:"baseline"` // found before our first change
	Set      string   `json:"set"`      // what we set last
	Holders  []Holder `json:"holders"`  // in the order of their edges
	// Doubt: the change to Set was begun and not yet read back; Prev is what was there.
	Doubt bool   `json:"doubt,omitempty"`
	Prev  string `json:"prev,omitempty"`
	// Foreign: somebody else changed the value since. It is his until the next edge.
	Foreign bool `json:"foreign,omitempty"`
}

type claimKey struct {
	target Target
	attr   string
}

// Claims are all claims of a daemon. The zero value is not usable; use NewClaims.
type Claims struct {
	m     map[claimKey]*Claim
	dirty map[claimKey]struct{}
}

// NewClaims starts from stored claims.
func NewClaims(stored []Claim) *Claims {
	c := &Claims{m: make(map[claimKey]*Claim, len(stored)), dirty: map[claimKey]struct{}{}}
	for i := range stored {
		cl := stored[i]
		c.m[claimKey{cl.Target, cl.Attr}] = &cl
	}
	return c
}

func (c *Claims) get(t Target, attr string) *Claim { return c.m[claimKey{t, attr}] }

// of lists the claims of a target that owner holds, by attribute.
func (c *Claims) of(t Target, owner string) []*Claim {
	var out []*Claim
	for _, attr := range attributesOf(t, nil, c, nil) {
		if cl := c.get(t, attr); cl != nil && cl.holder(owner) >= 0 {
			out = append(out, cl)
		}
	}
	return out
}

// All lists every claim, sorted.
func (c *Claims) All() []Claim {
	out := make([]Claim, 0, len(c.m))
	for _, cl := range c.m {
		out = append(out, cl.clone())
	}
	slices.SortFunc(out, func(a, b Claim) int {
		return strings.Compare(a.Target.QMgr+"\x00"+a.Target.Queue+"\x00"+a.Attr, b.Target.QMgr+"\x00"+b.Target.Queue+"\x00"+b.Attr)
	})
	return out
}

func (cl *Claim) clone() Claim {
	c := *cl
	c.Holders = slices.Clone(cl.Holders)
	return c
}

func (cl *Claim) holder(owner string) int {
	return slices.IndexFunc(cl.Holders, func(h Holder) bool { return h.Owner == owner })
}

// disputes is another holder who wants another value than owner does now: then
// neither of them has it, and the value stays until one of them gives up.
func (cl *Claim) disputes(owner, value string) *Holder {
	for i := range cl.Holders {
		if h := &cl.Holders[i]; h.Owner != owner && h.Value != value {
			return h
		}
	}
	return nil
}

// without is the value that a target has when owner gives its claim back: that
// of the last rule still holding it, else what was found before all.
func (cl *Claim) without(owner string) string {
	for i := len(cl.Holders) - 1; i >= 0; i-- {
		if cl.Holders[i].Owner != owner {
			return cl.Holders[i].Value
		}
	}
	return cl.Baseline
}

func (c *Claims) touch(cl *Claim) { c.dirty[claimKey{cl.Target, cl.Attr}] = struct{}{} }

// hold notes that owner sets an attribute from prev to value: a new claim, or
// one more turn of an old one. The value is in doubt until settle.
func (c *Claims) hold(t Target, attr, owner, prev, value string, now time.Time) {
	k := claimKey{t, attr}
	cl := c.m[k]
	if cl == nil {
		cl = &Claim{Target: t, Attr: attr, Baseline: prev}
		c.m[k] = cl
	}
	if i := cl.holder(owner); i >= 0 {
		cl.Holders = slices.Delete(cl.Holders, i, i+1)
	}
	cl.Holders = append(cl.Holders, Holder{Owner: owner, Value: value, Since: now})
	cl.begin(prev, value)
	c.touch(cl)
}

// join lets owner hold a value that another rule of ours has set already.
func (c *Claims) join(t Target, attr, owner string, now time.Time) {
	cl := c.get(t, attr)
	if cl == nil || cl.holder(owner) >= 0 {
		return
	}
	cl.Holders = append(cl.Holders, Holder{Owner: owner, Value: cl.Set, Since: now})
	c.touch(cl)
}

// explain notes a change of ours that makes no claim itself: it must not look like a person's.
func (c *Claims) explain(t Target, attr, prev, value string) {
	if cl := c.get(t, attr); cl != nil && !cl.Foreign {
		cl.begin(prev, value)
		c.touch(cl)
	}
}

func (cl *Claim) begin(prev, value string) {
	cl.Prev, cl.Set, cl.Doubt, cl.Foreign = prev, value, true, false
}

// settle ends the doubt: the value was read back, or it is known that the
// change was not made (value is then what is there).
func (c *Claims) settle(t Target, attr, value string) {
	if cl := c.get(t, attr); cl != nil && cl.Doubt {
		c.accept(cl, value)
	}
}

// accept takes a value as ours. A claim that nobody holds any more, or whose
// only holder has what was found before, claims nothing.
func (c *Claims) accept(cl *Claim, value string) {
	cl.Set, cl.Prev, cl.Doubt = value, "", false
	c.touch(cl)
	if len(cl.Holders) == 0 || len(cl.Holders) == 1 && value == cl.Baseline {
		delete(c.m, claimKey{cl.Target, cl.Attr})
	}
}

// release takes owner out of a claim whose value went back, or stays with the others.
func (c *Claims) release(t Target, attr, owner string) {
	cl := c.get(t, attr)
	if cl == nil {
		return
	}
	if i := cl.holder(owner); i >= 0 {
		cl.Holders = slices.Delete(cl.Holders, i, i+1)
	}
	c.touch(cl)
	if len(cl.Holders) == 0 && !cl.Doubt {
		delete(c.m, claimKey{t, attr})
	}
}

// drop forgets a claim: the value is somebody else's, or the queue is gone.
func (c *Claims) drop(t Target, attr string) {
	if cl := c.get(t, attr); cl != nil {
		c.touch(cl)
		delete(c.m, claimKey{t, attr})
	}
}

// observe judges a claimed attribute by a sample that was asked for while
// nothing of ours ran on the target. ours says that a program of ours ran since
// the last sample: then a change is explained by it.
func (c *Claims) observe(t Target, attr, value string, ours bool) {
	cl := c.get(t, attr)
	if cl == nil || cl.Foreign {
		return
	}
	switch {
	case cl.Doubt && (value == cl.Set || value == cl.Prev), ours:
		if cl.Doubt || cl.Set != value {
			c.accept(cl, value)
		}
	case value != cl.Set:
		cl.Foreign, cl.Doubt, cl.Prev = true, false, ""
		c.touch(cl)
	}
}

// flush hands over what changed since the last flush: claims to store and keys to delete.
func (c *Claims) flush() (put []Claim, del []Claim) {
	for k := range c.dirty {
		if cl := c.m[k]; cl != nil {
			put = append(put, cl.clone())
		} else {
			del = append(del, Claim{Target: k.target, Attr: k.attr})
		}
	}
	clear(c.dirty)
	return put, del
}

// redo marks claims as not stored after all.
func (c *Claims) redo(put, del []Claim) {
	for _, list := range [][]Claim{put, del} {
		for i := range list {
			c.dirty[claimKey{list[i].Target, list[i].Attr}] = struct{}{}
		}
	}
}
