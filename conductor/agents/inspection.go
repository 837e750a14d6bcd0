package agents

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/clientaddr"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// inspectionSince is when the endpoint came. Exactly 1.1 is taken too:
// ironic-python-agent sends its data without a version header.
const inspectionSince = 84

// continueInspection answers POST /v1/continue_inspection?node_uuid=.
func (s *Server) continueInspection(w http.ResponseWriter, r *http.Request) error {
	minor, err := begin(w, r, nodeapi.MinMinor)
	if err != nil {
		return err
	}
	if minor < inspectionSince && minor != nodeapi.MinMinor {
		return notFound()
	}
	uuid := strings.ToLower(r.URL.Query().Get("node_uuid"))
	if uuid != "" && !isUUID(uuid) {
		return badRequest("Expected UUID for node_uuid: %s", uuid)
	}
	raw, err := nodeapi.ReadBody(w, r, nodeapi.InspectionLimit)
	if err != nil {
		return err
	}
	n, request, err := s.takeIn(r, uuid, raw)
	if err != nil {
		return err
	}
	if minor == nodeapi.MinMinor {
		return answer(w, http.StatusAccepted, agentapi.InspectionReply{UUID: n.UUID, BMCUser: request})
	}
	// Lookup alone gives the token out, once; here there is none.
	return s.answerLookup(w, r, agentapi.LookupNode{
		UUID: n.UUID, Properties: n.Properties, InstanceInfo: n.InstanceInfo, DriverInternalInfo: n.DriverInternalInfo,
	}, nil)
}

// takeIn decodes the data and gives it to the conductor, when it is its turn.
func (s *Server) takeIn(r *http.Request, uuid string, raw []byte) (node.Node, *agentapi.BMCUserRequest, error) {
	select {
	case s.decoding <- struct{}{}:
	case <-r.Context().Done():
		return node.Node{}, nil, r.Context().Err()
	}
	defer func() { <-s.decoding }()
	// A serial number that its firmware pads with NUL must not keep a machine from being inspected. Characters that the
	// store, rules and logs cannot hold are left out.
	raw = nodeapi.CleanJSON(raw)
	data, err := decodeInspection(raw)
	if err != nil {
		return node.Node{}, nil, err
	}
	var request *agentapi.BMCUserRequest
	n, err := s.conductor.ContinueInspection(r.Context(), uuid, data, raw, callerOf(r))
	if errors.Is(err, node.ErrNotFound) && uuid == "" {
		n, request, err = s.discover(r, data, raw)
	}
	return n, request, hide(err)
}

// discover passes the inspection of a machine without a waiting node to the conductor, unless its address sends too
// many of them.
func (s *Server) discover(r *http.Request, data agentapi.Inspection,
	raw []byte) (node.Node, *agentapi.BMCUserRequest, error) {
	from := clientaddr.Of(r)
	if !s.unknown.Allowed(from, 1) {
		return node.Node{}, nil, nodeapi.NewFault(http.StatusServiceUnavailable,
			"Too many unknown machines at %s; try again in a minute", from)
	}
	n, request, err := s.conductor.Discover(r.Context(), data, raw, from)
	if err == nil {
		s.unknown.Count(from, 1)
	}
	return n, request, err
}

func decodeInspection(raw []byte) (agentapi.Inspection, error) {
	var data agentapi.Inspection
	var top map[string]json.RawMessage
	if err := json.Unmarshal(raw, &top); raw == nil || err != nil {
		return data, badRequest("Inspection data is not a JSON object: %v", err)
	}
	if len(top["inventory"]) == 0 {
		return data, badRequest("Invalid inspection data: 'inventory' is a required property")
	}
	odd, err := agentapi.Decode(raw, &data)
	if err != nil {
		return data, badRequest("Invalid inspection data: %v", err)
	}
	data.Odd = odd
	if err := data.Validate(); err != nil {
		return data, badRequest("Invalid inspection data: %v", err)
	}
	return data, nil
}
