package auth

import (
	"fmt"
	"slices"
	"strings"
)

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
	// Identity is of a token of OpenStack; nil for users of the files.
	Identity *Identity
}

// is reports whether two callers have the same rights.
func (c *Caller) is(other *Caller) bool {
	same := c.User == other.User && c.Role == other.Role && c.Project == other.Project
	if c.Identity == nil || other.Identity == nil {
		return same && c.Identity == other.Identity
	}
	return same && slices.Equal(c.Identity.Roles, other.Identity.Roles)
}

// reaches reports whether a role is at least another. No role reaches the zero role.
func (r Role) reaches(least Role) bool { return least != nobody && r >= least }

// implied are the roles of OpenStack that a role stands for, in Keystone's order: each implies the next ones.
func (r Role) implied() []string {
	switch all := []string{"admin", "manager", "member", "reader"}; r {
	case Admin:
		return all
	case Operator:
		return all[2:]
	case Reader:
		return all[3:]
	case nobody, Stranger:
	}
	return nil
}

// Has reports whether the caller has a role of OpenStack: of its token, or the ones that its role here stands for.
func (c *Caller) Has(role string) bool {
	roles := c.Role.implied()
	if c.Identity != nil {
		roles = c.Identity.Roles
	}
	return slices.ContainsFunc(roles, func(has string) bool { return strings.EqualFold(has, role) })
}

// Attribute is a credential of the caller, by its name in rules of oslo.policy (oslopolicy.Attributes).
func (c *Caller) Attribute(name string) (value string, has bool) {
	var of Identity
	if c.Identity != nil {
		of = *c.Identity
	}
	switch name {
	case "project_id":
		value = c.Project
	case "project_name":
		value = of.Project
	case "project_domain_id":
		value = of.ProjectDomainID
	case "user_id":
		if value = c.User; c.Identity != nil {
			value = of.UserID
		}
	case "user_domain_id":
		value = of.UserDomainID
	case "system_scope":
		if c.Project == "" {
			value = "all"
		}
	case "is_admin":
		value = pythonBool(c.Project == "" && c.Role == Admin)
	case "is_public_api":
		value = pythonBool(false)
	}
	return value, value != ""
}

// pythonBool is a truth value as rules have it.
func pythonBool(is bool) string {
	if is {
		return "True"
	}
	return "False"
}
