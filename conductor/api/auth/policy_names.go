package auth

import (
	"maps"
	"slices"
)

// otherProject stands for a project that is not the caller's: no project has this name.
const otherProject = "\x00"

// Met are the names of the rules that a caller meets, sorted: for everything, and beside these for nodes that belong,
// or are lent, to its project. Without a caller these are all rules.
func (r Rules) Met(c *Caller) (always, owner, lessee []string) {
	always, owner, lessee = []string{}, []string{}, []string{}
	named := map[string]*Rule{}
	for _, rule := range r {
		named[rule.Name] = rule
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		switch rule := named[name]; {
		case c == nil || rule.Allows(c, otherProject, otherProject):
			always = append(always, name)
		default:
			if rule.Allows(c, c.Project, otherProject) {
				owner = append(owner, name)
			}
			if rule.Allows(c, otherProject, c.Project) {
				lessee = append(lessee, name)
			}
		}
	}
	return always, owner, lessee
}
