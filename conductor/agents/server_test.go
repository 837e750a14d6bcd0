package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/outbound/tlspolicy"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

const (
	aNode  = "11111111-2222-4333-8444-555555555555"
	aMAC   = "52:54:00:00:00:01"
	aToken = "0123456789abcdefghijklmnopqrstuvwxyz"
)

// answered is the answer to a request.
type answered struct {
	status int
	body   string
	text   string // of an error
}

// ask sends a request to the handler of its path.
func ask(t *testing.T, s *Server, minor int, method, path, body string) answered {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.RemoteAddr = "10.0.0.9:1234"
	if minor > 0 {
		r.Header.Set(nodeapi.HeaderVersion, nodeapi.Version(minor))
	}
	w := httptest.NewRecorder()
	for prefix, h := range s.Handlers() {
		if !strings.HasPrefix(r.URL.Path, prefix) {
			continue
		}
		err := h(w, r)
		var fault *nodeapi.Fault
		var refusal *node.Refusal
		switch {
		case errors.As(err, &fault):
			return answered{fault.Status, "", fault.Text}
		case errors.As(err, &refusal):
			return answered{http.StatusBadRequest, "", refusal.Reason}
		case err != nil:
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return answered{status: w.Code, body: w.Body.String()}
	}
	t.Fatalf("nobody serves %s", path)
	return answered{}
}

func TestLookup(t *testing.T) {
	c := &scripted{state: node.CleanWait}
	s := NewServer(Options{Conductor: c})
	for _, tc := range []struct {
		name, query string
		minor       int
		status      int
		token       any
	}{
		{"too old", "addresses=" + aMAC, 21, 404, nil},
		{"before tokens", "addresses=" + aMAC, 61, 200, nil},
		{"first", "addresses=52:54:00:00:00:01,junk", 62, 200, aToken},
		{"second", "node_uuid=" + strings.ToUpper(aNode), 115, 200, agentapi.MaskedToken},
		{"nothing asked", "", 62, 400, nil},
		{"no MAC", "addresses=junk", 62, 400, nil},
		{"no UUID", "node_uuid=junk", 62, 400, nil},
		{"unknown argument", "x=1&addresses=" + aMAC, 62, 400, nil},
		{"another node", "node_uuid=11111111-2222-4333-8444-000000000000", 62, 404, nil},
		{"another node, before tokens", "node_uuid=11111111-2222-4333-8444-000000000000", 30, 404, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := ask(t, s, tc.minor, "GET", "/v1/lookup?"+tc.query, "")
			if a.status != tc.status {
				t.Fatalf("status %d, want %d: %s", a.status, tc.status, a.text)
			}
			if a.status == http.StatusNotFound && a.text != "Resource could not be found." {
				t.Errorf("a stranger learns %q", a.text)
			}
			if a.status != http.StatusOK {
				return
			}
			var reply struct {
				Node   map[string]any `json:"node"`
				Config map[string]any `json:"config"`
			}
			if err := json.Unmarshal([]byte(a.body), &reply); err != nil {
				t.Fatal(err)
			}
			if reply.Config["agent_token"] != tc.token || reply.Node["uuid"] != aNode ||
				reply.Config["heartbeat_timeout"] != 300.0 {
				t.Errorf("reply %s", a.body)
			}
			if strings.Contains(a.body, "secret\"") && !strings.Contains(a.body, "agent_secret_token") {
				t.Errorf("a secret is told: %s", a.body)
			}
		})
	}
	if want := "lookup [52:54:00:00:00:01] \"\" from 10.0.0.9"; c.calls[0] != want {
		t.Errorf("the conductor was asked %q, want %q", c.calls[0], want)
	}
	c.state = node.Available
	for _, minor := range []int{30, 62} {
		if a := ask(t, s, minor, "GET", "/v1/lookup?addresses="+aMAC, ""); a.status != http.StatusNotFound {
			t.Errorf("lookup of an available node at 1.%d: %d", minor, a.status)
		}
	}
}

// TestLookupTellsWhatIsAllowed: an agent may run an image's programs, and write an image of a format, only if the
// answer to its lookup allows it. The agent reads that nowhere else.
func TestLookupTellsWhatIsAllowed(t *testing.T) {
	for _, allowed := range []bool{false, true} {
		formats := map[bool][]string{true: {"raw"}}[allowed]
		s := NewServer(Options{Conductor: &scripted{state: node.CleanWait}, BIOSBootloader: allowed, ImageFormats: formats})
		var reply agentapi.LookupReply
		if err := json.Unmarshal([]byte(ask(t, s, 62, "GET", "/v1/lookup?addresses="+aMAC, "").body), &reply); err != nil {
			t.Fatal(err)
		}
		if reply.Config.EnableBIOSBootloaderInstall != allowed {
			t.Errorf("allowed is %t, the agent reads %t", allowed, reply.Config.EnableBIOSBootloaderInstall)
		}
		if got := fmt.Sprint(reply.Config.PermittedImageFormats); got != map[bool]string{true: "[raw]",
			false: "[raw qcow2]"}[allowed] {
			t.Errorf("permitted are %q, the agent reads %s", formats, got)
		}
	}
}

// TestLookupOfPeers: ironic-python-agent reads its rules for containers and TLS in the answer to its lookup.
func TestLookupOfPeers(t *testing.T) {
	policy, err := tlspolicy.Parse("1.2", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384, AES128-SHA", "1.2")
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(Options{Conductor: &scripted{state: node.CleanWait}, TLS: policy,
		Containers: Containers{Allowed: []string{"registry/burnin:1"}, StepsFile: "/steps.yaml", Runner: "podman"}})
	var reply struct{ Config map[string]any }
	if err := json.Unmarshal([]byte(ask(t, s, 62, "GET", "/v1/lookup?addresses="+aMAC, "").body), &reply); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"tls_min_version": "1.2", "tls_cipher_suites": "ECDHE-RSA-AES256-GCM-SHA384:AES128-SHA",
		"agent_containers": map[string]any{"allow_arbitrary_containers": false, "runner": "podman",
			"allowed_containers": []any{"registry/burnin:1"}, "container_steps_file": "/steps.yaml", "pull_options": []any{},
			"run_options": []any{}}}
	for key, value := range want {
		if diff := cmp.Diff(value, reply.Config[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

func TestHeartbeat(t *testing.T) {
	for _, tc := range []struct {
		name, path, body string
		minor, status    int
		text             string
	}{
		{"good", aNode, `{"callback_url":"https://h:9999","agent_token":"` + aToken + `","agent_version":"9"}`, 68, 202, ""},
		{"by name", "n1", `{"callback_url":"https://h:9999","agent_token":"` + aToken + `","agent_version":"9"}`,
			68, 202, ""},
		{"in the query", aNode + "?callback_url=http://h&agent_token=" + aToken + "&agent_version=9", "", 68, 202, ""},
		{"too old", aNode, `{}`, 21, 404, "Resource could not be found."},
		{"empty", aNode, `{}`, 68, 400, "Missing mandatory parameter: callback_url"},
		{"no token", aNode, `{"callback_url":"http://h/"}`, 68, 400, "Agent token is required for heartbeat processing."},
		{"no version", aNode, `{"callback_url":"http://h/","agent_token":"x"}`, 68, 400,
			"Agent did not transmit a version, and a version is required. Please update the agent being used."},
		{"wrong token", aNode, `{"callback_url":"http://h/","agent_token":"x","agent_version":"9"}`, 68, 400,
			"Invalid or missing agent token received."},
		{"version too early", aNode, `{"callback_url":"http://h/","agent_token":"x","agent_version":"9"}`, 35, 400,
			`Field "agent_version" not recognised`},
		{"bad status", aNode, `{"callback_url":"http://h/","agent_token":"x","agent_version":"9","agent_status":"zz"}`, 72,
			400, "Agent status is invalid. Valid states are start,end,error."},
		{"unknown argument", aNode, `{"callback_url":"http://h/","agent_token":"x","bogus":"1"}`, 68, 400,
			"Unexpected arguments: bogus"},
		{"unknown node", "nobody", `{"callback_url":"http://h/","agent_token":"x","agent_version":"9"}`, 68, 404,
			"Node nobody could not be found."},
		{"no name", "a%00b", `{"callback_url":"http://h/","agent_token":"x","agent_version":"9"}`, 68, 400,
			"Malformed request URI: the path: the control character U+0000 is not allowed, at byte 15; leave it out"},
		{"unknown UUID", "11111111-2222-4333-8444-000000000000",
			`{"callback_url":"http://h/","agent_token":"x","agent_version":"9"}`, 68, 404,
			"Node 11111111-2222-4333-8444-000000000000 could not be found."},
		{"unknown UUID, no token", "11111111-2222-4333-8444-000000000000", `{"callback_url":"http://h/"}`, 68, 404,
			"Node 11111111-2222-4333-8444-000000000000 could not be found."},
		{"no URL", aNode, `{"callback_url":"h","agent_token":"x","agent_version":"9"}`, 68, 400,
			`heartbeat: callback_url "h" is not an http(s) URL`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &scripted{state: node.CleanWait}
			a := ask(t, NewServer(Options{Conductor: c}), tc.minor, "POST", "/v1/heartbeat/"+tc.path, tc.body)
			if diff := cmp.Diff(answered{tc.status, "", tc.text}, a, cmp.AllowUnexported(answered{})); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRecordedHeartbeats: heartbeats that real agents sent are accepted.
func TestRecordedHeartbeats(t *testing.T) {
	for _, name := range []string{"heartbeat.json", "heartbeat-tls.json"} {
		raw, err := os.ReadFile("../../proto/agentapi/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		c := &scripted{state: node.CleanWait}
		ask(t, NewServer(Options{Conductor: c}), 68, "POST", "/v1/heartbeat/"+aNode, string(raw))
		if len(c.calls) != 1 {
			t.Errorf("%s did not come through: %v", name, c.calls)
		}
	}
}

func TestContinueInspection(t *testing.T) {
	recorded, err := os.ReadFile("../../proto/agentapi/testdata/inspection.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, query, body string
		minor, status     int
	}{
		{"as the agent sends it", "", string(recorded), 0, 202},
		{"newer", "?node_uuid=" + aNode, string(recorded), 84, 202},
		{"between", "", string(recorded), 83, 404},
		{"bad node", "?node_uuid=x", string(recorded), 0, 400},
		{"no inventory", "", `{"root_disk":null}`, 0, 400},
		{"no interfaces", "", `{"inventory":{"interfaces":[]}}`, 0, 400},
		{"no MAC", "", `{"inventory":{"interfaces":[{"name":"eth0"}]}}`, 0, 400},
		{"disks without end", "", `{"inventory":{"interfaces":[{"mac_address":"` + aMAC + `"}],"disks":[` +
			strings.Repeat("{},", 100_000) + `{}]}}`, 0, 400},
		{"a mode that is more", "", `{"inventory":{"interfaces":[{"mac_address":"` + aMAC +
			`"}],"boot":{"current_boot_mode":"uefi,trusted:true"}}}`, 0, 400},
		{"odd kinds", "", `{"inventory":{"interfaces":[{"mac_address":7},{"mac_address":"` + aMAC + `"}],"disks":[{"size":"1"}],` +
			`"cpu":{"count":"8"},"memory":[]},"root_disk":"sda","pci_devices":{}}`, 0, 202},
		{"one odd address", "", `{"inventory":{"interfaces":[{"name":"a","mac_address":"N/A"},{"mac_address":"` + aMAC +
			`"}]}}`, 0, 202},
		{"empty", "", ``, 0, 400},
		{"list", "", `[]`, 0, 400},
		{"cut short", "", string(recorded[:len(recorded)/2]), 0, 400},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &scripted{state: node.InspectWait}
			a := ask(t, NewServer(Options{Conductor: c}), tc.minor, "POST", "/v1/continue_inspection"+tc.query, tc.body)
			if a.status != tc.status || a.status == 202 && !strings.Contains(a.body, aNode) {
				t.Errorf("status %d, want %d: %s%s", a.status, tc.status, a.text, a.body)
			}
			if strings.Contains(a.body, "secret\"") {
				t.Errorf("a secret is told: %s", a.body)
			}
		})
	}
}

// TestDiscovery: inspection data without a waiting node are from an unknown machine, and are accepted at a bounded
// rate.
func TestDiscovery(t *testing.T) {
	body := `{"inventory":{"interfaces":[{"mac_address":"` + aMAC + `"}]}}`
	now := time.Unix(0, 0)
	off := &scripted{nobody: true}
	if a := ask(t, NewServer(Options{Conductor: off}), 0, "POST", "/v1/continue_inspection", body); a.status != 404 ||
		strings.Contains(a.text, "secret") {
		t.Errorf("switched off: %d %s", a.status, a.text)
	}
	c := &scripted{nobody: true, discovers: true}
	s := NewServer(Options{Conductor: c, Now: func() time.Time { return now }})
	if a := ask(t, s, 84, "POST", "/v1/continue_inspection?node_uuid="+aNode, body); a.status != 404 || len(c.calls) != 1 {
		t.Errorf("of a node that does not wait: %d, calls %v", a.status, c.calls)
	}
	var got []int
	for range unknownBurst + 1 {
		got = append(got, ask(t, s, 0, "POST", "/v1/continue_inspection", body).status)
	}
	now = now.Add(time.Minute)
	got = append(got, ask(t, s, 0, "POST", "/v1/continue_inspection", body).status)
	want := append(slices.Repeat([]int{202}, unknownBurst), 503, 202)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	c.nobody = false // known machines are not held up by unknown ones at the same address
	if a := ask(t, s, 0, "POST", "/v1/continue_inspection", body); a.status != 202 {
		t.Errorf("a known machine: %d", a.status)
	}
}

func TestProgress(t *testing.T) {
	c := &scripted{}
	s := NewServer(Options{Conductor: c})
	for path, want := range map[string]int{aNode: 202, aNode + "/progress": 202, "nobody": 404, "": 404} {
		if a := ask(t, s, 0, "POST", "/ferrite/v1/agents/"+path,
			`{"agent_token":"x","step":"deploy.write_image","done":5,"total":10}`); a.status != want {
			t.Errorf("%q: %d, want %d", path, a.status, want)
		}
	}
	if want := "progress " + aNode + " deploy.write_image 5 of 10"; len(c.calls) != 2 || c.calls[0] != want {
		t.Errorf("the conductor was told %q, want twice %q", c.calls, want)
	}
	if a := ask(t, s, 0, "POST", "/ferrite/v1/agents/"+aNode, `{"done":-5}`); a.status != 400 {
		t.Errorf("negative bytes: %d", a.status)
	}
}

// TestLimiter: a caller with too many failures waits; a caller without failures never does.
func TestLimiter(t *testing.T) {
	now := time.Unix(0, 0)
	c := &scripted{state: node.CleanWait}
	s := NewServer(Options{Conductor: c, FailureRate: 1, FailureBurst: 3, Now: func() time.Time { return now }})
	good := `{"callback_url":"https://h:9999","agent_token":"` + aToken + `","agent_version":"9"}`
	for range 50 {
		if a := ask(t, s, 68, "POST", "/v1/heartbeat/"+aNode, good); a.status != 202 {
			t.Fatalf("a good heartbeat: %d %s", a.status, a.text)
		}
	}
	var got []int
	for range 5 {
		got = append(got, ask(t, s, 68, "POST", "/v1/heartbeat/"+aNode, `{}`).status)
	}
	got = append(got, ask(t, s, 68, "POST", "/v1/heartbeat/"+aNode, good).status)
	now = now.Add(2 * time.Second)
	got = append(got, ask(t, s, 68, "POST", "/v1/heartbeat/"+aNode, good).status)
	if diff := cmp.Diff([]int{400, 400, 400, 503, 503, 503, 202}, got); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
}

func TestMethods(t *testing.T) {
	s := NewServer(Options{Conductor: &scripted{}})
	for path, method := range map[string]string{"/v1/lookup": "POST", "/v1/heartbeat/" + aNode: "GET",
		"/v1/continue_inspection": "GET", "/ferrite/v1/agents/" + aNode: "GET"} {
		if a := ask(t, s, 84, method, path, ""); a.status != http.StatusMethodNotAllowed {
			t.Errorf("%s %s: %d", method, path, a.status)
		}
	}
}

// TestInspectionsTakeTurns: only some of many inspections are decoded at a time. A caller that goes away meanwhile is
// not waited for.
func TestInspectionsTakeTurns(t *testing.T) {
	c := &scripted{state: node.InspectWait}
	s := NewServer(Options{Conductor: c})
	for range maxDecoding {
		s.decoding <- struct{}{}
	}
	ctx, gone := context.WithCancel(t.Context())
	gone()
	r := httptest.NewRequestWithContext(ctx, "POST", "/v1/continue_inspection",
		strings.NewReader(`{"inventory":{"interfaces":[{"mac_address":"`+aMAC+`"}]}}`))
	if err := s.continueInspection(httptest.NewRecorder(), r); !errors.Is(err, context.Canceled) || len(c.calls) != 0 {
		t.Errorf("without a place: %v, calls %v", err, c.calls)
	}
	<-s.decoding
	r = httptest.NewRequestWithContext(t.Context(), "POST", "/v1/continue_inspection",
		strings.NewReader(`{"inventory":{"interfaces":[{"mac_address":"`+aMAC+`"}]}}`))
	if err := s.continueInspection(httptest.NewRecorder(), r); err != nil || len(c.calls) != 1 ||
		len(s.decoding) != maxDecoding-1 {
		t.Errorf("with one: %v, calls %v, %d places taken", err, c.calls, len(s.decoding))
	}
}
