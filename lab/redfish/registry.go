package redfish

import (
	"net/http"
	"slices"
)

// registryMessage is a message of MessageRegistry.v1_5_0.
type registryMessage struct {
	Description     string
	Message         string
	Severity        string
	MessageSeverity string
	NumberOfArgs    int
	ParamTypes      []string `json:",omitempty"`
	Resolution      string
}

// registryMessages are the messages of this controller by their ids.
func registryMessages() map[string]registryMessage {
	all := map[string]registryMessage{}
	for _, k := range messageKinds() {
		all[k.id] = registryMessage{
			Description: k.text, Message: k.text,
			Severity: k.severity, MessageSeverity: k.severity,
			NumberOfArgs: k.arguments(), ParamTypes: slices.Repeat([]string{"string"}, k.arguments()),
			Resolution: k.resolution,
		}
	}
	return all
}

// getMetadata is an OData CSDL document that only refers to others (DSP0266, 8.4.2).
func (s *Server) getMetadata(*http.Request) (reply, error) {
	body, err := files.ReadFile("tree/metadata.xml")
	return reply{body: body, header: http.Header{"Content-Type": {"application/xml"}}}, err
}
