package keystone

import (
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/auth"
)

// described is the body of GET /v3/auth/tokens, as far as it is read.
type described struct {
	User    named  `json:"user"`
	Project *named `json:"project"`
	System  struct {
		All bool `json:"all"`
	} `json:"system"`
	Roles []struct {
		Name string `json:"name"`
	} `json:"roles"`
	Expires time.Time `json:"expires_at"`
}

type named struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Domain struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"domain"`
}

func (d *described) identity() auth.Identity {
	i := auth.Identity{User: d.User.Name, UserDomain: d.User.Domain.Name, System: d.System.All,
		Expires: d.Expires, UserID: d.User.ID, UserDomainID: d.User.Domain.ID}
	if d.Project != nil {
		i.ProjectID, i.Project, i.ProjectDomain = d.Project.ID, d.Project.Name, d.Project.Domain.Name
		i.ProjectDomainID = d.Project.Domain.ID
	}
	for _, r := range d.Roles {
		i.Roles = append(i.Roles, r.Name)
	}
	return i
}
