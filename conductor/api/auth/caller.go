package auth

import "fmt"

// Role is how much somebody may do, each more than the one before.
type Role int

// The roles of the users file are reader, operator and admin: Ironic's reader,
// member and admin, of the system or, with a project, of that project.
const (
	nobody   Role = iota // as the least role of a rule: none will do
	Stranger             // has not authenticated
	Reader
	Operator
	Admin
)

// roles is what the users file calls them.
func roles() map[string]Role {
	return map[string]Role{"reader": Reader, "operator": Operator, "admin": Admin}
}

// ParseRole reads the name of a role.
func ParseRole(name string) (Role, error) {
	if r, ok := roles()[name]; ok {
		return r, nil
	}
	return nobody, fmt.Errorf("role %q: expected reader, operator or admin", name)
}

func (r Role) String() string {
	for name, role := range roles() {
		if role == r {
			return name
		}
	}
	return "stranger"
}

// Caller is who a request comes from. Nobody changes one.
type Caller struct {
	User    string
	Role    Role
	Project string // "" for the whole system
}

// reaches reports whether a role is at least another, which is not nobody.
func (r Role) reaches(least Role) bool { return least != nobody && r >= least }
