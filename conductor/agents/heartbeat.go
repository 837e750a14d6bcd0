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

const heartbeatSince = 22

// statusMessage is an argument with the output of a failed program. It is not used, so no content of it may cost a
// heartbeat.
const statusMessage = "agent_status_message"

// heartbeatArgs is every argument of a heartbeat with the microversion it
// came with.
func heartbeatArgs() map[string]int {
	return map[string]int{
		"callback_url":    22,
		"agent_token":     22,
		"agent_version":   36,
		"agent_verify_ca": 68,
		"agent_status":    72,
		statusMessage:     72,
	}
}

// beat answers POST /v1/heartbeat/{node} with 202 and no body.
func (s *Server) beat(w http.ResponseWriter, r *http.Request) error {
	minor, err := begin(w, r, heartbeatSince)
	if err != nil {
		return err
	}
	raw, err := nodeapi.ReadBody(w, r, nodeapi.BodyLimit)
	if err != nil {
		return err
	}
	args, err := decodeArgs(raw, r, minor)
	if err != nil {
		return err
	}
	ref := below(r, agentapi.HeartbeatPath)
	if args["callback_url"] == "" {
		return badRequest("Missing mandatory parameter: callback_url")
	}
	uuid, err := s.nodeUUID(r, ref)
	if err != nil {
		return err
	}
	if err := checkHeartbeat(args); err != nil {
		return s.unlessUnknown(r, uuid, ref, err)
	}
	hb := agentapi.Heartbeat{
		CallbackURL:   args["callback_url"],
		AgentToken:    args["agent_token"],
		AgentVersion:  args["agent_version"],
		AgentVerifyCA: args["agent_verify_ca"],
	}
	if err := hb.Validate(); err != nil {
		return s.unlessUnknown(r, uuid, ref, badRequest("%v", err))
	}
	if hb.CallbackPath() != "" && !s.callbackPath {
		return badRequest("heartbeat: callback_url %q has a path, which is taken only with --agent-callback-path",
			hb.CallbackURL)
	}
	if err := s.conductor.Heartbeat(r.Context(), uuid, hb); err != nil {
		if errors.Is(err, node.ErrNotFound) {
			return noNode(ref)
		}
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// unlessUnknown returns the error for a wrong heartbeat. As in Ironic, an unknown node is reported first.
func (s *Server) unlessUnknown(r *http.Request, uuid, ref string, wrong error) error {
	if _, err := s.conductor.Node(r.Context(), uuid); errors.Is(err, node.ErrNotFound) {
		return noNode(ref)
	}
	return wrong
}

// checkHeartbeat refuses missing arguments, in Ironic's order.
func checkHeartbeat(args map[string]string) error {
	if args["agent_token"] == "" {
		return badRequest("Agent token is required for heartbeat processing.")
	}
	switch args["agent_status"] {
	case "", "start", "end", "error":
	default:
		return badRequest("Agent status is invalid. Valid states are start,end,error.")
	}
	if args["agent_version"] == "" {
		return badRequest("Agent did not transmit a version, and a version is required. Please update the agent being used.")
	}
	return nil
}

// nodeUUID is the UUID of the node a path names; a UUID is taken as it is,
// because heartbeats are many and a read for each would be for nothing.
func (s *Server) nodeUUID(r *http.Request, ref string) (string, error) {
	if isUUID(ref) {
		return strings.ToLower(ref), nil
	}
	if ref == "" || strings.Contains(ref, "/") { // it cannot be part of a name
		return "", nodeapi.Routing(http.StatusNotFound, "")
	}
	n, err := s.conductor.Node(r.Context(), ref)
	if errors.Is(err, node.ErrNotFound) {
		return "", noNode(ref)
	}
	return n.UUID, err
}

// decodeArgs reads the arguments, all of them texts, from body and query.
func decodeArgs(raw []byte, r *http.Request, minor int) (map[string]string, error) {
	var body map[string]*string
	if raw != nil {
		if err := json.Unmarshal(raw, &body); err != nil {
			return nil, badRequest("Invalid JSON in the request body: %v", err)
		}
	}
	args := make(map[string]string, len(body))
	known := heartbeatArgs()
	take := func(name, value string) error {
		since, ok := known[name]
		if !ok {
			return badRequest("Unexpected arguments: %s", name)
		}
		if minor < since {
			return badRequest("Field %q not recognised", name)
		}
		if _, twice := args[name]; twice {
			return badRequest("Expected one value for %s", name)
		}
		if name != statusMessage {
			if err := nodeapi.CheckText(value); err != nil {
				return badRequest("%s: %v", name, err)
			}
		}
		args[name] = value
		return nil
	}
	for name, value := range body {
		if value == nil {
			value = new(string)
		}
		if err := take(name, *value); err != nil {
			return nil, err
		}
	}
	for name, values := range r.URL.Query() {
		if err := take(name, strings.Join(values, ",")); err != nil {
			return nil, err
		}
	}
	return args, nil
}
