package auth

import (
	"maps"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Listed lists the users of the conductor's files, without any secret or hash.
func (a *Authenticator) Listed() nodeapi.Users {
	l := nodeapi.Users{Users: []nodeapi.User{}, Ways: []string{}, Roles: a.users != nil}
	hashes := map[string][]byte{}
	if a.passwords != nil {
		l.Ways, hashes = append(l.Ways, "basic"), a.passwords.Get().hashes
	}
	if a.tokens {
		l.Ways = append(l.Ways, "token")
	}
	if a.keystone != nil {
		l.Ways = append(l.Ways, "keystone")
	}
	if a.users == nil {
		for _, name := range slices.Sorted(maps.Keys(hashes)) {
			l.Users = append(l.Users, nodeapi.User{Name: name, Role: Admin.String(), Password: true,
				Tokens: []nodeapi.UserToken{}})
		}
		return l
	}
	for _, u := range a.users.Get().listed {
		w := nodeapi.User{Name: u.Name, Role: u.Role, Project: u.Project, Password: hashes[u.Name] != nil,
			Tokens: []nodeapi.UserToken{}}
		for _, t := range u.Tokens {
			w.Tokens = append(w.Tokens, nodeapi.UserToken{Label: t.Label, Expires: t.Expires,
				Expired: t.Expires != nil && !a.now().Before(*t.Expires)})
		}
		l.Users = append(l.Users, w)
	}
	slices.SortFunc(l.Users, func(x, y nodeapi.User) int { return strings.Compare(x.Name, y.Name) })
	return l
}
