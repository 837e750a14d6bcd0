package api

import (
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Document is the description of the API in OpenAPI 3.1, as a conductor with agents answers it at
// /ferrite/v1/openapi.json.
func Document() ([]byte, error) {
	unserved := func(http.ResponseWriter, *http.Request) error { return nil }
	return New(Options{Conductor: undescribed{}, Mounts: map[string]rest.Handler{
		agentapi.LookupPath: unserved, agentapi.HeartbeatPath: unserved, agentapi.ContinueInspectionPath: unserved,
		agentapi.AgentsPath: unserved,
	}}).Document()
}

// undescribed is a conductor of which the description of the API says nothing: it answers no request.
type undescribed struct{ Conductor }

// Catalogs are none.
func (undescribed) Catalogs() engine.Catalogs { return engine.Catalogs{} }
