package situations

import "fmt"

// renames are the new names by the old ones. A name that is still in use is not
// an old one.
func renames(rules *RuleSet) map[string]string {
	var out map[string]string
	for _, s := range rules.Situations {
		if s.RenamedFrom == "" || s.RenamedFrom == s.Name {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[s.RenamedFrom] = s.Name
	}
	return out
}

// newName is what a situation is called now.
func newName(renamed map[string]string, name string) string {
	if to, ok := renamed[name]; ok {
		return to
	}
	return name
}

// rename notes that an item goes on under another situation's name: its record,
// and what the actions hold under the old one.
func (b *batch) rename(k *Key, st *State, name string) error {
	from := *k
	if st.Claim == from.Situation {
		st.Claim = name
	}
	k.Situation = name
	data, err := st.encode()
	if err != nil {
		return fmt.Errorf("situation %s, now %s: %w", from.Situation, name, err)
	}
	b.changes = append(b.changes, ItemChange{Key: from}, ItemChange{Key: *k, Data: data, Was: from.Situation})
	return nil
}

// carry is rename for a state that is in use; its encoding cannot fail, since it
// was read or is written at every tick.
func (b *book) carry(k *Key, st *State, name string) {
	if err := b.owed.rename(k, st, name); err != nil {
		k.Situation = name
	}
}
