package auth

import "slices"

// Met are the names of the rules that a caller meets, sorted: for everything, and beside these for nodes that belong,
// or are lent, to its project. Without a caller these are all rules.
func Met(c *Caller) (always, owner, lessee []string) {
	always, owner, lessee = []string{}, []string{}, []string{}
	const other = "\x00" // no project has this name
	for _, r := range Policy() {
		switch {
		case c == nil || r.Allows(c, other, other):
			always = append(always, r.Name)
			continue
		case r.Allows(c, c.Project, other):
			owner = append(owner, r.Name)
		}
		if r.Allows(c, other, c.Project) {
			lessee = append(lessee, r.Name)
		}
	}
	for _, names := range [][]string{always, owner, lessee} {
		slices.Sort(names)
	}
	return always, owner, lessee
}
