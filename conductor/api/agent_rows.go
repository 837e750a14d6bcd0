package api

import (
	"net/http"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// agentRows describes what agents call, for the document of the API: package
// agents answers it, mounted beside the resources. They have no handlers.
func agentRows(mounts map[string]Handler) []route {
	const ofAgent = agentapi.AgentsPath + ":node"
	var rows []route
	for _, r := range []route{
		{method: http.MethodGet, path: agentapi.LookupPath, since: 22, doc: "an agent asks which node it is on", wire: gives(lookupForm(), "addresses", "node_uuid")},
		{method: http.MethodPost, path: agentapi.HeartbeatPath + ":node", since: 22, doc: "an agent says that it is there, and where", wire: takes(http.StatusAccepted, heartbeatForm())},
		{method: http.MethodPost, path: agentapi.ContinueInspectionPath, since: 84, doc: "an agent tells what it has found; 1.1 is taken too", wire: wire{
			status: http.StatusAccepted, query: argumentsNamed([]string{"node_uuid"}), takes: inspectionForm(),
			gives: schema{"anyOf": []schema{lookupForm(), objectWith(schema{"uuid": schema{"type": "string", "format": "uuid"}}, "uuid")}},
		}},
		{method: http.MethodPost, path: ofAgent + agentapi.ProgressSuffix, doc: "an agent tells how far its step is", wire: takes(http.StatusAccepted, formOf(agentapi.Progress{}))},
		{method: http.MethodPost, path: ofAgent + agentapi.LogSuffix, doc: "an agent sends its log, as it is or in gzip", wire: takes(http.StatusAccepted, formOf(agentapi.LogLines{}))},
	} {
		for prefix := range mounts {
			if strings.HasPrefix(r.path, prefix) {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// lookupForm is agentapi.LookupReply, with a token for whom is new enough to be
// told one, and in config what only Ironic's own agent reads.
func lookupForm() schema {
	config := formOf(agentapi.LookupConfig{})
	properties, _ := config["properties"].(schema)
	properties["agent_token"] = textForm(0)
	config["additionalProperties"] = true
	form := objectWith(schema{"node": formOf(agentapi.LookupNode{}), "config": config}, "node", "config")
	form[named] = "lookup"
	return form
}

// heartbeatForm is every argument of a heartbeat; agentapi.Heartbeat is what our
// own agent says of them.
func heartbeatForm() schema {
	since := func(minor int, s schema) schema { s["x-since"] = nodeapi.Version(minor); return s }
	text := func() schema { return schema{"type": "string"} }
	return objectWith(schema{
		"callback_url": schema{"type": "string", "format": "uri"}, "agent_token": text(), "agent_version": since(36, text()), "agent_verify_ca": since(68, text()),
		"agent_status": since(72, wordForm("start", "end", "error")), "agent_status_message": since(72, text()),
	}, "callback_url", "agent_token", "agent_version")
}

// inspectionForm is agentapi.Inspection as far as it must be: agents tell more
// than a conductor reads.
func inspectionForm() schema {
	network := schema{"type": "object", "required": []string{"mac_address"}, "properties": schema{"name": schema{"type": "string"}, "mac_address": schema{"type": "string"}}}
	return schema{"type": "object", "required": []string{"inventory"}, "properties": schema{
		"inventory": schema{"type": "object", "required": []string{"interfaces"}, "properties": schema{
			"interfaces": schema{"type": "array", "minItems": 1, "items": network},
		}},
	}}
}
