package auth

import "fmt"

// Role orders permissions: each role may do all that the one before it may.
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

// roles maps the names in the users file to roles.
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

// Caller is the sender of a request. It is immutable.
type Caller struct {
	User    string
	Role    Role
	Project string // "" for the whole system
}

// reaches reports whether a role is at least another. No role reaches the zero role.
func (r Role) reaches(least Role) bool { return least != nobody && r >= least }
