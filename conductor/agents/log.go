package agents

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// log answers POST /ferrite/v1/agents/{uuid}/log with 202 and no body.
func (s *Server) log(w http.ResponseWriter, r *http.Request, uuid string) error {
	if err := unpack(w, r); err != nil {
		return err
	}
	raw, err := nodeapi.ReadBody(w, r, agentapi.MaxLogBody)
	if err != nil {
		return err
	}
	var l agentapi.LogLines
	if err := json.Unmarshal(raw, &l); raw == nil || err != nil {
		return badRequest("The log is not a JSON object: %v", err)
	}
	if err := l.Validate(); err != nil {
		return badRequest("%v", err)
	}
	if err := s.conductor.CheckToken(r.Context(), uuid, l.AgentToken); err != nil {
		if errors.Is(err, node.ErrNotFound) {
			return noNode(uuid)
		}
		return err
	}
	if !s.logged.Allowed(uuid, float64(len(raw))) {
		w.Header().Set("Retry-After", "10")
		return nodeapi.NewFault(http.StatusTooManyRequests, "Node %s logs more than is taken; try again in a few seconds",
			uuid)
	}
	if err := s.logs.Append(uuid, node.BootName(l.AgentToken), l.First, l.Lines); err != nil {
		return err
	}
	s.logged.Count(uuid, float64(len(raw)))
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// unpack makes the body of a packed request what it is unpacked. Both are
// bounded: here by what comes over the wire, and by who reads on by what
// comes out.
func unpack(w http.ResponseWriter, r *http.Request) error {
	switch r.Header.Get("Content-Encoding") {
	case "":
		return nil
	case "gzip":
	default:
		return nodeapi.NewFault(http.StatusUnsupportedMediaType, "Content-Encoding %q: expected gzip or none",
			r.Header.Get("Content-Encoding"))
	}
	z, err := gzip.NewReader(http.MaxBytesReader(w, r.Body, agentapi.MaxLogBody))
	if err != nil {
		return badRequest("The request body is not packed as it says: %v", err)
	}
	r.Body = io.NopCloser(z)
	return nil
}
