package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// agentRows describes the agents' endpoints for the OpenAPI document. Package agents serves them, mounted beside the
// resources, so these rows have no handlers.
func agentRows(mounts map[string]rest.Handler) []rest.Route {
	const ofAgent = agentapi.AgentsPath + ":node"
	var rows []rest.Route
	for _, r := range []rest.Route{
		{Method: http.MethodGet, Path: agentapi.LookupPath, Since: 22, Doc: "an agent asks which node it is on",
			Wire: rest.Returns(lookupForm(), "addresses", "node_uuid")},
		{Method: http.MethodPost, Path: agentapi.HeartbeatPath + ":node", Since: 22,
			Doc: "an agent says that it is there, and where", Wire: rest.Accepts(http.StatusAccepted, heartbeatForm())},
		{Method: http.MethodPost, Path: agentapi.ContinueInspectionPath, Since: 84,
			Doc: "an agent sends its inspection data; 1.1 is taken too", Wire: rest.Wire{
				Status: http.StatusAccepted, Query: rest.ArgumentsNamed([]string{"node_uuid"}), Takes: inspectionForm(),
				Gives: rest.Schema{
					"anyOf": []rest.Schema{
						lookupForm(), objectWith(rest.Schema{"uuid": rest.Schema{"type": "string", "format": "uuid"},
							"ferrite_bmc_user": rest.FormOf(agentapi.BMCUserRequest{})}, "uuid"),
					},
				},
			}},
		{Method: http.MethodPost, Path: ofAgent + agentapi.ProgressSuffix, Doc: "an agent reports the progress of its step",
			Wire: rest.Accepts(http.StatusAccepted, rest.FormOf(agentapi.Progress{}))},
		{Method: http.MethodPost, Path: ofAgent + agentapi.LogSuffix, Doc: "an agent sends its log, as it is or in gzip",
			Wire: rest.Accepts(http.StatusAccepted, rest.FormOf(agentapi.LogLines{}))},
		{Method: http.MethodPost, Path: ofAgent + agentapi.BMCUserSuffix,
			Doc:  "an agent reports the BMC user that it was asked to make, or why there is none",
			Wire: rest.Accepts(http.StatusAccepted, rest.FormOf(agentapi.BMCUser{}))},
	} {
		for prefix := range mounts {
			if strings.HasPrefix(r.Path, prefix) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// lookupForm is agentapi.LookupReply with two additions: a token for agents that are new enough to get one, and in
// config the properties that only Ironic's own agent reads.
func lookupForm() rest.Schema {
	config := rest.FormOf(agentapi.LookupConfig{})
	properties, _ := config["properties"].(rest.Schema)
	properties["agent_token"] = rest.TextForm(0)
	config["additionalProperties"] = true
	form := objectWith(rest.Schema{"node": rest.FormOf(agentapi.LookupNode{}), "config": config}, "node", "config")
	form[rest.Named] = "lookup"
	return form
}

// heartbeatForm has every argument of a heartbeat. agentapi.Heartbeat has only the arguments that our own agent sends.
func heartbeatForm() rest.Schema {
	since := func(minor int, s rest.Schema) rest.Schema { s["x-since"] = nodeapi.Version(minor); return s }
	text := func() rest.Schema { return rest.Schema{"type": "string"} }
	return objectWith(rest.Schema{
		"callback_url": rest.Schema{"type": "string", "format": "uri"}, "agent_token": text(),
		"agent_version": since(36, text()), "agent_verify_ca": since(68, text()),
		"agent_status": since(72, rest.WordForm("start", "end", "error")), "agent_status_message": since(72, text()),
	}, "callback_url", "agent_token", "agent_version")
}

// inspectionForm has the required parts of agentapi.Inspection. Agents send more than a conductor reads.
func inspectionForm() rest.Schema {
	network := rest.Schema{
		"type": "object", "required": []string{"mac_address"},
		"properties": rest.Schema{"name": rest.Schema{"type": "string"}, "mac_address": rest.Schema{"type": "string"}},
	}
	return rest.Schema{"type": "object", "required": []string{"inventory"}, "properties": rest.Schema{
		"inventory": rest.Schema{"type": "object", "required": []string{"interfaces"}, "properties": rest.Schema{
			"interfaces": rest.Schema{"type": "array", "minItems": 1, "items": network},
		}},
	}}
}
