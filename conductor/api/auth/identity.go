package auth

import (
	"errors"
	"slices"
	"time"
)

// ErrUnknownToken is of a token that Keystone does not know, or no longer: it has expired or was revoked.
var ErrUnknownToken = errors.New("the token is unknown, or it has expired or was revoked")

// Identity is the user and the scope of a token.
type Identity struct {
	User, UserDomain string // names
	// The same as IDs of Keystone, for rules of a policy file.
	UserID, UserDomainID, ProjectDomainID string
	// ProjectID is "" for a token of no project.
	ProjectID, Project, ProjectDomain string
	System                            bool     // the token is for the whole cloud: system_scope:all
	Roles                             []string // names, in Keystone's order
	Expires                           time.Time
}

// Has reports whether an identity has a role.
func (i Identity) Has(role string) bool { return slices.Contains(i.Roles, role) }
