package kube_test

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// TestOpenAPI compares the description for kubectl explain with a golden file, and its protobuf form with its JSON
// form.
func TestOpenAPI(t *testing.T) {
	s := start(t)
	text := s.ok(http.StatusOK, "GET /openapi/v2", "")
	var v2 map[string]any
	if err := json.Unmarshal([]byte(text), &v2); err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(v2, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, filepath.Join("testdata", "openapi-v2.json"), string(pretty)+"\n")

	for asked, answered := range map[string]string{
		"application/com.github.proto-openapi.spec.v2@v1.0+protobuf":                  "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
		"application/com.github.proto-openapi.spec.v2.v1.0+protobuf,application/json": "application/com.github.proto-openapi.spec.v2.v1.0+protobuf",
		"application/json": "application/json",
	} {
		if w := s.send("GET /openapi/v2\nAccept: "+asked, ""); w.Code != http.StatusOK ||
			w.Header().Get("Content-Type") != answered {
			t.Errorf("%s: %d, %s", asked, w.Code, w.Header().Get("Content-Type"))
		}
	}
	binary := s.ok(http.StatusOK, "GET /openapi/v2\nAccept: application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
		"")
	var d openapi_v2.Document
	if err := proto.Unmarshal([]byte(binary), &d); err != nil {
		t.Fatal(err)
	}
	if n := len(d.GetDefinitions().GetAdditionalProperties()); n != len(hostapi.Kinds())+1 {
		t.Errorf("%d definitions in protobuf", n)
	}
}

// TestOpenAPIv3: each group has its kinds, and every reference leads somewhere.
func TestOpenAPIv3(t *testing.T) {
	s := start(t)
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal([]byte(s.ok(http.StatusOK, "GET /openapi/v3", "")), &index); err != nil {
		t.Fatal(err)
	}
	for group, kinds := range map[string][]string{"api/v1": {"Secret", "Namespace"}, "apis/metal3.io/v1alpha1": {
		"BareMetalHost", "HardwareData", "DataImage", "HostFirmwareSettings", "FirmwareSchema", "HostFirmwareComponents",
		"HostUpdatePolicy", "HostClaim", "HostDeployPolicy", "BMCEventSubscription", "PreprovisioningImage",
		"HostNetworkAttachment", "BareMetalSwitch",
	}} {
		text := s.ok(http.StatusOK, "GET "+index.Paths[group].ServerRelativeURL, "")
		var v3 struct {
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal([]byte(text), &v3); err != nil {
			t.Fatal(err)
		}
		if len(v3.Components.Schemas) != len(kinds)+1 {
			t.Errorf("%s has %d schemas", group, len(v3.Components.Schemas))
		}
		for _, kind := range kinds {
			if !strings.Contains(text, `"kind":"`+kind+`"`) {
				t.Errorf("%s lacks %s", group, kind)
			}
		}
		for _, rest := range strings.Split(text, `"$ref":"#/components/schemas/`)[1:] {
			if name, _, _ := strings.Cut(rest, `"`); v3.Components.Schemas[name] == nil {
				t.Errorf("%s refers to %s, which is not there", group, name)
			}
		}
	}
}

// TestEveryFieldIsExplained: kubectl explain has a sentence on each.
func TestEveryFieldIsExplained(t *testing.T) {
	for _, k := range hostapi.Kinds() {
		explained(t, k.Kind, hostapi.SchemaOf(k, "meta"))
	}
	explained(t, "metadata", hostapi.MetaSchema())
}

func explained(t *testing.T, path string, s map[string]any) {
	t.Helper()
	properties, _ := s["properties"].(map[string]any)
	for name, v := range properties {
		p, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s.%s is a %s", path, name, reflect.TypeOf(v))
		}
		if text, _ := p["description"].(string); p["$ref"] == nil && !strings.HasSuffix(text, ".") {
			t.Errorf("%s.%s is explained by %q", path, name, text)
		}
		explained(t, path+"."+name, p)
		if items, ok := p["items"].(map[string]any); ok {
			explained(t, path+"."+name+"[]", items)
		}
	}
}
