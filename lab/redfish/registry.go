package redfish

import (
	"encoding/xml"
	"net/http"
	"slices"
	"strings"
)

// baseRegistryPath is where the registry of our messages is downloaded.
const baseRegistryPath = registryPath + "/Base/" + baseRegistryID + ".json"

const baseRegistryID = "Base." + registryVersion

// registryFile is MessageRegistryFile.v1_1_3.
type registryFile struct {
	common
	Languages []string
	Registry  string
	Location  []registryLocation
}

type registryLocation struct {
	Language string
	URI      string `json:"Uri"`
}

func (s *Server) getRegistryFile(*http.Request) (reply, error) {
	return ok(registryFile{
		common:    head(registryPath+"/Base", "MessageRegistryFile.v1_1_3.MessageRegistryFile", "Base Message Registry File"),
		Languages: []string{"en"}, Registry: "Base." + registryShort,
		Location: []registryLocation{{"en", baseRegistryPath}},
	})
}

// messageRegistry is MessageRegistry.v1_5_0.
type messageRegistry struct {
	Type            string `json:"@odata.type"`
	ID              string `json:"Id"`
	Name            string
	Language        string
	RegistryPrefix  string
	RegistryVersion string
	OwningEntity    string
	Messages        map[string]registryMessage
}

type registryMessage struct {
	Description     string
	Message         string
	Severity        string
	MessageSeverity string
	NumberOfArgs    int
	ParamTypes      []string `json:",omitempty"`
	Resolution      string
}

func (s *Server) getBaseRegistry(*http.Request) (reply, error) {
	registry := messageRegistry{
		Type: "#MessageRegistry.v1_5_0.MessageRegistry",
		ID:   baseRegistryID, Name: "Base Message Registry", Language: "en",
		RegistryPrefix: "Base", RegistryVersion: registryVersion, OwningEntity: "DMTF",
		Messages: map[string]registryMessage{},
	}
	for _, k := range messageKinds() {
		registry.Messages[k.id] = registryMessage{
			Description: k.text, Message: k.text,
			Severity: k.severity, MessageSeverity: k.severity,
			NumberOfArgs: k.arguments(), ParamTypes: slices.Repeat([]string{"string"}, k.arguments()),
			Resolution: k.resolution,
		}
	}
	return ok(registry)
}

// getOData is the OData service document (DSP0266, 8.4.3).
func (s *Server) getOData(*http.Request) (reply, error) {
	type entry struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
		URL  string `json:"url"`
	}
	entries := []entry{{"Service", "Singleton", rootPath + "/"}}
	for _, name := range []string{"Systems", "Managers", "Chassis", "SessionService", "AccountService", "TaskService",
		"UpdateService", "Registries"} {
		entries = append(entries, entry{name, "Singleton", rootPath + "/" + name})
	}
	return ok(struct {
		Context string  `json:"@odata.context"`
		Value   []entry `json:"value"`
	}{rootPath + "/$metadata", entries})
}

// schemaNames are the schema files the resources here refer to.
func schemaNames() []string {
	return strings.Fields("ServiceRoot ComputerSystem Processor Memory EthernetInterface Storage Drive SimpleStorage " +
		"Volume Bios SecureBoot Manager VirtualMedia LogService LogEntry Chassis SessionService Session AccountService " +
		"ManagerAccount Role " +
		"TaskService Task UpdateService SoftwareInventory MessageRegistryFile AttributeRegistry")
}

// edmx is an OData CSDL document that only refers to others (DSP0266, 8.4.2).
type edmx struct {
	XMLName    xml.Name    `xml:"http://docs.oasis-open.org/odata/ns/edmx edmx:Edmx"`
	Prefix     string      `xml:"xmlns:edmx,attr"`
	Version    string      `xml:"Version,attr"`
	References []reference `xml:"edmx:Reference"`
}

type reference struct {
	URI     string  `xml:"Uri,attr"`
	Include include `xml:"edmx:Include"`
}

type include struct {
	Namespace string `xml:"Namespace,attr"`
}

func (s *Server) getMetadata(*http.Request) (reply, error) {
	doc := edmx{Prefix: "http://docs.oasis-open.org/odata/ns/edmx", Version: "4.0"}
	for _, name := range schemaNames() {
		doc.References = append(doc.References,
			reference{"http://redfish.dmtf.org/schemas/v1/" + name + "_v1.xml", include{name}})
	}
	body, err := xml.MarshalIndent(doc, "", " ")
	if err != nil {
		return reply{}, err
	}
	return reply{body: append([]byte(xml.Header), body...), header: http.Header{"Content-Type": {"application/xml"}}}, nil
}
