package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Users lists the users in the conductor's files.
type Users interface{ Listed() nodeapi.Users }

// userResource is the users of the conductor's files. They are read alone: `ferrite user` writes the files.
type userResource struct {
	access
	users Users // nil without logins
}

func (h *userResource) routes() []rest.Route {
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/users",
			Doc:    "the users of the conductor's files: roles, projects, labels and ends of tokens; no secret and no hash",
			Handle: h.list, Wire: rest.Returns(rest.FormOf(nodeapi.Users{}))},
	}
}

func (h *userResource) list(c *rest.Call) error {
	if err := rest.Unexpected(rest.SortedKeys(c.QueryParams()), nil); err != nil {
		return err
	}
	if h.users == nil {
		return c.Marshal(http.StatusOK, nodeapi.Users{Users: []nodeapi.User{}, Ways: []string{}})
	}
	return c.Marshal(http.StatusOK, h.users.Listed())
}
