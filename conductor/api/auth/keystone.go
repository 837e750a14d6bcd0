package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Keystone identifies the users of OpenStack's tokens. Known answers from memory, without a request to Keystone;
// Identify sends one.
type Keystone interface {
	// URL is shown to callers without a token.
	URL() string
	// Known is an answer that is still believed, without asking.
	Known(token string, expired bool) (Identity, bool)
	// Identify sends the token to Keystone. The error is ErrUnknownToken, or means that Keystone did not answer.
	Identify(ctx context.Context, token string, expired bool) (Identity, error)
	// Project and Domain name the project of services.
	Project() string
	Domain() string
}

// serviceHeader holds the token of a service that passes a user's token on, which may have expired meanwhile
// (keystonemiddleware's service_token_roles).
const serviceHeader = "X-Service-Token"

// serviceRole is the role of services in Keystone.
const serviceRole = "service"

// personas map Keystone's roles as Ironic's secure RBAC does, the most powerful first. of is the role here of a token
// for the system, within the role of a token for a project. A service is an admin only in the project of services.
var personas = []struct {
	name       string
	of, within Role
}{
	{"admin", Admin, Admin},
	{serviceRole, Admin, Operator},
	{"manager", Operator, Admin},
	{"member", Operator, Operator},
	{"reader", Reader, Reader},
}

// ofKeystone is the caller of a token of OpenStack.
func (a *Authenticator) ofKeystone(w http.ResponseWriter, r *http.Request, token string) (*Caller, error) {
	expired := false
	if service := r.Header.Get(serviceHeader); service != "" {
		who, err := a.identity(w, r, service, false)
		if err != nil {
			return nil, err
		}
		if expired = who.Has(serviceRole); !expired {
			return nil, a.challenge(w, "The token in the header "+serviceHeader+" lacks the role "+serviceRole+
				": give that role to the user of the service")
		}
	}
	who, err := a.identity(w, r, token, expired)
	if err != nil {
		return nil, err
	}
	return a.persona(who)
}

// identity identifies a token by Keystone, or by a recent answer of Keystone. A wrong token counts as a failed login
// before Keystone is asked, so that invented tokens do not keep Keystone busy.
func (a *Authenticator) identity(w http.ResponseWriter, r *http.Request, token string, expired bool,
) (Identity, error) {
	if who, ok := a.keystone.Known(token, expired); ok {
		return who, nil
	}
	from := clientaddr.Of(r)
	network := connlimit.Network(from)
	if !a.failures.Take(network, 1) {
		return Identity{}, tooMany(w, from)
	}
	who, err := a.keystone.Identify(r.Context(), token, expired)
	switch {
	case errors.Is(err, ErrUnknownToken):
		return who, a.failed(w, "", from, "The token is unknown, or has expired or was revoked")
	case err != nil:
		a.failures.Return(network, 1)
		if r.Context().Err() == nil {
			a.warnings.Warn("a token could not be checked", "from", from, "err", err)
		}
		w.Header().Set("Retry-After", "5")
		return who, nodeapi.NewFault(http.StatusServiceUnavailable,
			"Keystone cannot be asked for the owner of this token; try again in a few seconds. The conductor's log says why.")
	}
	a.failures.Return(network, 1)
	return who, nil
}

// persona translates an identity into a caller. An admin of a project of administrators is an admin of the whole
// system, as in Ironic before it had scopes.
func (a *Authenticator) persona(who Identity) (*Caller, error) {
	// With the domain: a user of the files, or of another domain, may have the same name.
	c := &Caller{User: who.User + "@" + who.UserDomain, Project: who.ProjectID, Identity: &who}
	home := strings.EqualFold(who.ProjectDomain, a.keystone.Domain())
	switch {
	case who.System:
		c.Project = ""
	case who.ProjectID == "":
		return nil, nodeapi.NewFault(http.StatusForbidden, "Access was denied: the token of %s is for no project and not "+
			"for the system. Name one when you ask Keystone for it (OS_PROJECT_NAME, or OS_SYSTEM_SCOPE=all).", c.User)
	case home && who.Has("admin") && slices.Contains(a.adminProjects, who.Project),
		home && who.Has(serviceRole) && who.Project == a.keystone.Project():
		c.Project, c.Role = "", Admin
		return c, nil
	}
	for _, p := range personas {
		switch {
		case !who.Has(p.name):
		case who.System:
			c.Role = max(c.Role, p.of)
		default:
			c.Role = max(c.Role, p.within)
		}
	}
	if c.Role == nobody && a.policy == nil { // a policy file may give rights to other roles
		return nil, nodeapi.NewFault(http.StatusForbidden, "Access was denied: %s has none of the roles reader, member, "+
			"manager, admin and service in the project, or system, of the token; its roles are %q. Have one given: "+
			"openstack role add.", c.User, strings.Join(who.Roles, ", "))
	}
	return c, nil
}
