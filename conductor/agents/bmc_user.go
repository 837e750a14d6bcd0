package agents

import (
	"encoding/json"
	"net/http"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// bmcUser answers POST /ferrite/v1/agents/{uuid}/bmc_user with 202 and no body. Its errors do not quote the body,
// which holds a password.
func (s *Server) bmcUser(w http.ResponseWriter, r *http.Request, uuid string) error {
	raw, err := nodeapi.ReadBody(w, r, nodeapi.BodyLimit)
	if err != nil {
		return err
	}
	if len(nodeapi.CleanJSON(raw)) != len(raw) {
		return badRequest("BMC user: the report holds control characters, which are not allowed")
	}
	var u agentapi.BMCUser
	if err := json.Unmarshal(raw, &u); raw == nil || err != nil {
		return badRequest("The BMC user is not a JSON object of texts")
	}
	if err := u.Validate(); err != nil {
		return badRequest("%v", err)
	}
	if err := s.conductor.TakeBMCUser(r.Context(), uuid, u, clientaddr.Of(r)); err != nil {
		return hide(err)
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
