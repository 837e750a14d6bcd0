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

// registryMessages are the messages of the Base registry by their ids.
func registryMessages() map[messageID]registryMessage {
	all := map[messageID]registryMessage{}
	for id, m := range messages() {
		if !id.vendors() {
			all[id] = registryMessage{Description: m.Text, Message: m.Text, Severity: m.Severity, MessageSeverity: m.Severity,
				NumberOfArgs: m.arguments(), ParamTypes: slices.Repeat([]string{"string"}, m.arguments()),
				Resolution: m.Resolution}
		}
	}
	return all
}

// getMetadata is an OData CSDL document that only refers to others (DSP0266, 8.4.2).
func (s *Server) getMetadata(*http.Request) (reply, error) {
	body, err := files.ReadFile("tree/metadata.xml")
	return reply{body: body, header: http.Header{"Content-Type": {"application/xml"}}}, err
}
