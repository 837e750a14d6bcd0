package agents

import (
	"bytes"
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
	done, err := s.unpack(w, r)
	if err != nil {
		return err
	}
	defer done()
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

// unpack replaces the body of a compressed request with its decompressed text. Both are bounded: the packed body here,
// the text by its reader. A text may be a thousand times as long as its packed body. Limits on bodies count only the
// latter, so few are unpacked at a time. The packed body is read before, so that a slow client blocks no others.
func (s *Server) unpack(w http.ResponseWriter, r *http.Request) (done func(), err error) {
	switch r.Header.Get("Content-Encoding") {
	case "":
		return func() {}, nil
	case "gzip":
	default:
		return nil, nodeapi.NewFault(http.StatusUnsupportedMediaType, "Content-Encoding %q: expected gzip or none",
			r.Header.Get("Content-Encoding"))
	}
	packed, err := nodeapi.ReadBytes(w, r, agentapi.MaxLogBody)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, badRequest("The request body is not packed as it says: %v", err)
	}
	r.Body = io.NopCloser(z)
	select {
	case s.unpacking <- struct{}{}:
		return func() { <-s.unpacking }, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}
