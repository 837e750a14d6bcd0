package agents

import (
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// progress answers POST /ferrite/v1/agents/{uuid}/progress with 202 and no
// body.
func (s *Server) progress(w http.ResponseWriter, r *http.Request, uuid string) error {
	raw, err := nodeapi.ReadBody(w, r, nodeapi.BodyLimit)
	if err != nil {
		return err
	}
	if len(nodeapi.CleanJSON(raw)) != len(raw) {
		return badRequest("progress: the report holds control characters, which are not allowed")
	}
	var p agentapi.Progress
	if err := json.Unmarshal(raw, &p); raw == nil || err != nil {
		return badRequest("Progress is not a JSON object: %v", err)
	}
	if err := p.Validate(); err != nil {
		return badRequest("%v", err)
	}
	for _, text := range []string{p.Step, p.Stage} { // operators see both
		if err := nodeapi.CheckLine(text); err != nil {
			return badRequest("progress: %v", err)
		}
	}
	err = s.conductor.Progress(r.Context(), uuid, p)
	if errors.Is(err, node.ErrNotFound) {
		return noNode(uuid)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}
