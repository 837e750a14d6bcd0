package redfish

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

const otherSystemPath = rootPath + "/Systems/HGX_Baseboard_0"

// documentEdits change documents on their way out, by the path of the resource.
var documentEdits = []struct {
	deviation Deviation
	path      string
	edit      func(doc map[string]any)
}{
	{ExpandFalse, rootPath, func(doc map[string]any) {
		if features, ok := doc["ProtocolFeaturesSupported"].(map[string]any); ok {
			features["ExpandQuery"] = false
		}
	}},
	{CoresAsText, systemPath + "/Processors/1", func(doc map[string]any) {
		for _, key := range []string{"TotalCores", "TotalThreads"} {
			if n, ok := doc[key].(float64); ok {
				doc[key] = strconv.Itoa(int(n))
			}
		}
	}},
	{KindsMixed, systemPath, func(doc map[string]any) {
		doc["AssetTag"], doc["@odata.etag"] = 12345, 87422082150
		if boot, ok := doc["Boot"].(map[string]any); ok {
			boot["BootNext"] = 0
		}
		if memory, ok := doc["MemorySummary"].(map[string]any); ok {
			memory["TotalSystemMemoryGiB"] = fmt.Sprint(memory["TotalSystemMemoryGiB"])
		}
	}},
	{ProcessorsMissing, systemPath, func(doc map[string]any) { delete(doc, "Processors") }},
	{MemberMissing, systemPath + "/EthernetInterfaces", addMissing},
	{MemberMissing, systemPath + "/Processors", addMissing},
	{VendorEmpty, systemPath, func(doc map[string]any) { doc["Manufacturer"], doc["Model"] = "", "" }},
	{BootInSettings, systemPath, func(doc map[string]any) {
		doc["@Redfish.Settings"] = map[string]any{"@odata.type": "#Settings.v1_2_2.Settings",
			"SettingsObject": map[string]any{"@odata.id": systemSettingsPath}}
	}},
	{TwoSystems, rootPath + "/Systems", func(doc map[string]any) { addMember(doc, otherSystemPath) }},
}

// addMissing lists a member that does not exist.
func addMissing(doc map[string]any) {
	if at, ok := doc["@odata.id"].(string); ok {
		addMember(doc, at+"/Missing")
	}
}

func addMember(doc map[string]any, path string) {
	members, _ := doc["Members"].([]any)
	members = append(members, map[string]any{"@odata.id": path})
	doc["Members"], doc["Members@odata.count"] = members, len(members)
}

// edit changes a document as this controller does.
func (s *Server) edit(path string, body []byte) ([]byte, error) {
	for _, e := range documentEdits {
		if e.path != path || !s.personality.has(e.deviation) {
			continue
		}
		var doc map[string]any
		if err := json.Unmarshal(body, &doc); err != nil {
			return nil, err
		}
		e.edit(doc)
		var err error
		if body, err = encode(doc); err != nil {
			return nil, err
		}
	}
	return body, nil
}

// baseboard is a system without power and boot override, as boards of accelerators have.
type baseboard struct {
	common
	SystemType   string
	Manufacturer string
	UUID         string
	Status       status
}

func (s *Server) getBaseboard(*http.Request) (reply, error) {
	return ok(baseboard{
		common:     head(otherSystemPath, "ComputerSystem.v1_20_0.ComputerSystem", "Baseboard"),
		SystemType: "Physical", UUID: s.chassisUUID(), Status: enabled(),
	})
}
