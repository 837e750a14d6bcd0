package recorded_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/lab/recorded"
	"github.com/ferrite-metal/ferrite/lab/recorded/recordedtest"
	"github.com/ferrite-metal/ferrite/lab/redfish"
)

const system = "/redfish/v1/Systems/1"

// newBMC serves the small tree.
func newBMC(t *testing.T) *recorded.Server {
	t.Helper()
	return recordedtest.New(t, recordedtest.Small(),
		recorded.Config{Username: "admin", Password: "right", PowerDelay: time.Second})
}

// ask sends a request with the right credentials and a header, and answers status and document.
func ask(t *testing.T, s *recorded.Server, method, path, body string, header ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.SetBasicAuth("admin", "right")
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	doc := map[string]any{}
	if text, err := io.ReadAll(w.Body); err != nil || len(text) > 0 && json.Unmarshal(text, &doc) != nil {
		t.Fatalf("%s %s answers %q, %v", method, path, text, err)
	}
	return w.Code, doc
}

// TestRefusals: a recorded BMC refuses all requests that it cannot carry out.
func TestRefusals(t *testing.T) {
	s := newBMC(t)
	reset := system + "/Actions/ComputerSystem.Reset"
	for name, tc := range map[string]struct {
		method, path, body string
		header             []string
		status             int
	}{
		"the service root, for all": {"GET", "/redfish/v1/", "", []string{"Authorization", "none"}, 200},
		"no credentials":            {"GET", system, "", []string{"Authorization", "none"}, 401},
		"a wrong login":             {"POST", "/redfish/v1/SessionService/Sessions", `{"UserName": "admin"}`, nil, 401},
		"small letters":             {"GET", "/redfish/v1/systems/1/BIOS", "", nil, 200},
		"nothing there":             {"GET", "/redfish/v1/Nothing", "", nil, 404},
		"no JSON":                   {"PATCH", system, "{", nil, 400},
		"an old ETag":               {"PATCH", system, "{}", []string{"If-Match", `"old"`}, 412},
		"a device it does not have": {"PATCH", system, `{"Boot": {"BootSourceOverrideTarget": "Usb"}}`, nil, 400},
		"a reset it does not offer": {"POST", reset, `{"ResetType": "PowerCycle"}`, nil, 400},
		"no reset":                  {"POST", reset, `{}`, nil, 400},
		"an action of nothing":      {"POST", "/redfish/v1/Managers/2/Actions/Manager.Reset", "{}", nil, 404},
		"an action it cannot do":    {"POST", system + "/Actions/Oem.Explode", "{}", nil, 400},
		"a deletion":                {"DELETE", system, "", nil, 405},
		"a method":                  {"PUT", system, "{}", nil, 405},
		"no medium": {"POST", "/redfish/v1/Managers/1/VirtualMedia/1/Actions/VirtualMedia.InsertMedia", "{}", nil,
			400},
	} {
		if status, doc := ask(t, s, tc.method, tc.path, tc.body, tc.header...); status != tc.status {
			t.Errorf("%s: %d %v, want %d", name, status, doc, tc.status)
		}
	}
	if got := s.Refusals(); len(got) == 0 || len(s.Refusals()) != 0 {
		t.Errorf("refusals are %v, and then some again", got)
	}
}

// TestStart: power follows a reset after a while; the start uses up an override, and makes settings
// come true.
func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBMC(t)
		for path, body := range map[string]string{
			system: `{"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}`,
			system + "/Bios/Settings": `{"Attributes": {"Turbo": "Disabled"}, ` +
				`"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}`,
			system + "/SecureBoot": `{"SecureBootEnable": true}`,
		} {
			if status, doc := ask(t, s, "PATCH", path, body); status != http.StatusOK {
				t.Fatalf("%s: %d %v", path, status, doc)
			}
		}
		look := func(path, key string) any {
			_, doc := ask(t, s, "GET", path, "")
			return doc[key]
		}
		if got := look(system+"/Bios", "Attributes").(map[string]any)["Turbo"]; got != "Enabled" {
			t.Errorf("before the start Turbo is %v", got)
		}
		if status, _ := ask(t, s, "POST", system+"/Actions/ComputerSystem.Reset",
			`{"ResetType": "ForceOff"}`); status != 204 {
			t.Fatalf("off: %d", status)
		}
		if got := look(system, "PowerState"); got != "On" {
			t.Errorf("at once the power is %v", got)
		}
		time.Sleep(time.Second)
		if got := look(system, "PowerState"); got != "Off" {
			t.Errorf("a second later the power is %v", got)
		}
		ask(t, s, "POST", system+"/Actions/ComputerSystem.Reset", `{"ResetType": "On"}`)
		time.Sleep(time.Second)
		bios, _ := look(system+"/Bios", "Attributes").(map[string]any)
		boot, _ := look(system, "Boot").(map[string]any)
		if bios["Turbo"] != "Disabled" || boot["BootSourceOverrideEnabled"] != "Disabled" ||
			boot["BootSourceOverrideMode"] != "UEFI" || look(system+"/SecureBoot", "SecureBootCurrentBoot") != "Enabled" {
			t.Errorf("after the start: Turbo %v, boot %v, secure boot %v", bios["Turbo"], boot,
				look(system+"/SecureBoot", "SecureBootCurrentBoot"))
		}
		if _, stray := look(system+"/Bios", "@Redfish.SettingsApplyTime").(map[string]any); stray {
			t.Error("the time of application has become a property of the BIOS")
		}
		ask(t, s, "PATCH", system+"/Bios/Settings", `{"Attributes": {"Turbo": "Enabled"}}`)
		ask(t, s, "POST", system+"/Actions/ComputerSystem.Reset", `{"ResetType": "ForceRestart"}`)
		if got := look(system+"/Bios", "Attributes").(map[string]any)["Turbo"]; got != "Enabled" {
			t.Errorf("after a restart Turbo is %v", got)
		}
	})
}

// TestDeviations: each deviation refuses the requests that its vendor refuses, and accepts the others.
func TestDeviations(t *testing.T) {
	const media = "/redfish/v1/Managers/1/VirtualMedia/1/Actions/VirtualMedia."
	const reset = system + "/Actions/ComputerSystem.Reset"
	boot := func(members string) string { return `{"Boot": {` + members + `}}` }
	target, enabled := `"BootSourceOverrideTarget": "Pxe"`, `"BootSourceOverrideEnabled": "Once"`
	mode := `"BootSourceOverrideMode": "UEFI"`
	for deviation, tc := range map[redfish.Deviation]struct {
		method, path, refused, taken string
		refusedHeader, takenHeader   []string
		status                       int
	}{
		redfish.ETagsWeakRefused:   {"PATCH", system, "{}", "{}", []string{"If-Match", `W/"x"`}, nil, 412},
		redfish.ETagsQuotedRefused: {"PATCH", system, "{}", "{}", []string{"If-Match", `"x"`}, nil, 412},
		redfish.ETagsNeverMatch:    {"PATCH", system, "{}", "{}", []string{"If-Match", `*`}, nil, 412},
		redfish.ETagsRequired:      {"PATCH", system, "{}", "{}", nil, []string{"If-Match", "*"}, 428},
		redfish.ETagsNotForActions: {"POST", reset, `{"ResetType": "On"}`, `{"ResetType": "On"}`,
			[]string{"If-Match", "*"}, nil, 412},
		redfish.IdentityRefused: {"GET", "/redfish/v1/Registries/AnvilBios/1", "", "",
			[]string{"Accept-Encoding", "identity"},
			[]string{"Accept-Encoding", "gzip"}, 406},
		redfish.MediaWantsCredentials: {"POST", media + "InsertMedia", `{"Image": "http://a/b"}`,
			`{"Image": "http://a/b", "UserName": "none", "Password": "none"}`, nil, nil, 400},
		redfish.MediaWantsProtocol: {"POST", media + "InsertMedia", `{"Image": "http://a/b"}`,
			`{"Image": "http://a/b", "TransferProtocolType": "HTTP"}`, nil, nil, 400},
		redfish.MediaRefusesFlags: {"POST", media + "InsertMedia", `{"Image": "http://a/b", "Inserted": true}`,
			`{"Image": "http://a/b"}`, nil, nil, 400},
		redfish.EjectWantsBody:      {"POST", media + "EjectMedia", "", "{}", nil, nil, 415},
		redfish.AlreadyThereRefused: {"POST", reset, `{"ResetType": "On"}`, `{"ResetType": "ForceOff"}`, nil, nil, 409},
		redfish.ContinuousRefused: {"PATCH", system, boot(`"BootSourceOverrideEnabled": "Continuous"`),
			boot(enabled), nil, nil,
			400},
		redfish.NoContinuous: {"PATCH", system, boot(`"BootSourceOverrideEnabled": "Continuous"`), boot(enabled),
			nil, nil, 400},
		redfish.ModeRefusedAlong: {"PATCH", system, boot(target + "," + mode), boot(target), nil, nil, 400},
	} {
		s := recordedtest.New(t, recordedtest.Small(), recorded.Config{Username: "admin", Password: "right",
			Deviations: []redfish.Deviation{deviation}})
		if status, doc := ask(t, s, tc.method, tc.path, tc.refused, tc.refusedHeader...); status != tc.status {
			t.Errorf("%s: %d %v, want %d", deviation, status, doc, tc.status)
		}
		if status, doc := ask(t, s, tc.method, tc.path, tc.taken, tc.takenHeader...); status >= 300 {
			t.Errorf("%s: what it takes is answered %d %v", deviation, status, doc)
		}
	}
}

// TestShownDeviations: documents and ETags as vendors have them.
func TestShownDeviations(t *testing.T) {
	tree, err := recorded.Load(recordedtest.Archive(t, recordedtest.Small()))
	if err != nil {
		t.Fatal(err)
	}
	look := func(d redfish.Deviation, path string) (map[string]any, string) {
		s := recorded.New(recorded.Config{Tree: tree, Deviations: []redfish.Deviation{d}})
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
		var doc map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		return doc, w.Header().Get("Etag")
	}
	if _, tag := look(redfish.ETagsWeak, system); !strings.HasPrefix(tag, `W/"`) {
		t.Errorf("a weak ETag is %s", tag)
	}
	if _, tag := look(redfish.ETagsUnquoted, system); tag == "" || strings.Contains(tag, `"`) {
		t.Errorf("an ETag without quotes is %s", tag)
	}
	if doc, _ := look(redfish.ExpandFalse,
		"/redfish/v1"); doc["ProtocolFeaturesSupported"].(map[string]any)["ExpandQuery"] != false {
		t.Errorf("the features are %v", doc["ProtocolFeaturesSupported"])
	}
	if doc, _ := look(redfish.NoContinuous, system); strings.Contains(fmt.Sprint(doc["Boot"]), "Continuous") {
		t.Errorf("the boot override is %v", doc["Boot"])
	}
}
