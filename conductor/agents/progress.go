package agents

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// progress answers POST /ferrite/v1/agents/{uuid}/progress with 202 and no
// body. The last word of the path may be left out.
func (s *Server) progress(w http.ResponseWriter, r *http.Request) error {
	uuid := strings.TrimSuffix(below(r, agentapi.ProgressPath), agentapi.ProgressSuffix)
	if !isUUID(uuid) {
		return nodeapi.Routing(http.StatusNotFound, "")
	}
	raw, err := nodeapi.ReadBody(w, r, nodeapi.BodyLimit)
	if err != nil {
		return err
	}
	var p agentapi.Progress
	if err := json.Unmarshal(raw, &p); raw == nil || err != nil {
		return badRequest("Progress is not a JSON object: %v", err)
	}
	if err := p.Validate(); err != nil {
		return badRequest("%v", err)
	}
	err = s.conductor.Progress(r.Context(), strings.ToLower(uuid), p)
	if errors.Is(err, node.ErrNotFound) {
		return noNode(uuid)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
