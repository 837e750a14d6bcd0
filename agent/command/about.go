package command

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// version describes v1 in GET /.
type version struct {
	ID    string          `json:"id"`
	Links []agentapi.Link `json:"links"`
}

// root answers GET /.
func (s *Server) root(w http.ResponseWriter, r *http.Request) {
	v1 := version{ID: "v1", Links: []agentapi.Link{{Href: base(r) + "/v1", Rel: "self"}}}
	answer(w, http.StatusOK, struct {
		Name           string    `json:"name"`
		Description    string    `json:"description"`
		Versions       []version `json:"versions"`
		DefaultVersion version   `json:"default_version"`
	}{"Ferrite Agent API", "Speaks the protocol of ironic-python-agent", []version{v1}, v1})
}

// v1 answers GET /v1/.
func (s *Server) v1(w http.ResponseWriter, r *http.Request) {
	links := func(name string) []agentapi.Link {
		return []agentapi.Link{{Href: base(r) + "/v1/" + name, Rel: "self"}, {Href: base(r) + "/" + name, Rel: "bookmark"}}
	}
	answer(w, http.StatusOK, struct {
		ID       string          `json:"id"`
		Links    []agentapi.Link `json:"links"`
		Commands []agentapi.Link `json:"commands"`
		Status   []agentapi.Link `json:"status"`
	}{"v1", []agentapi.Link{{Href: base(r) + "/v1", Rel: "self"}}, links("commands"), links("status")})
}
