package api_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// withPolicy has the rules of a file in place of rows of the policy.
func withPolicy(t testing.TB, text string) func(*api.Options) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := auth.OpenPolicyFile(path, "", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *api.Options) { o.Policy = p }
}

// TestPolicyFileEverywhere: with every rule for the owner of a node alone, no route lets in another project, or the
// system. A handler that does not ask with the record would: before it, such a rule is only conceivable. The same if
// all may see all nodes.
func TestPolicyFileEverywhere(t *testing.T) {
	for _, seen := range []string{"project_id:%(owner)s", `"@"`} {
		var text strings.Builder
		for _, rule := range auth.Policy() {
			switch {
			case rule.Public():
			case rule.Name == "baremetal:node:get":
				fmt.Fprintf(&text, "%q: %s\n", rule.Name, seen)
			default:
				fmt.Fprintf(&text, "%q: project_id:%%(owner)s\n", rule.Name)
			}
		}
		everywhere(t, newGuardedConductor(t, withPolicy(t, text.String())))
	}
}

// everywhere asks each route as an admin of another project, and of the system.
func everywhere(t *testing.T, g *guardedConductor) {
	t.Helper()
	rules := auth.NewRules(nil)
	e := g.estate()
	for _, key := range api.New(api.Options{Conductor: g.Engine}).Routes() {
		method, route, _ := strings.Cut(key, " ")
		if rules[key].Public() || rules[key].Name == "baremetal:node:get" {
			continue
		}
		for _, who := range []string{"admin " + other, "admin "} {
			r := g.as(who, method, e.path(route), e.body(key))
			nothing := r.status == http.StatusMethodNotAllowed || strings.HasPrefix(r.text(), "Missing mandatory parameter")
			if e.verdict(r) == "y" && !nothing {
				t.Errorf("%s as %q: %d %s", key, who, r.status, r.body)
			}
		}
	}
	for _, key := range []string{"GET /v1/nodes/{}", "GET /v1/ports/{}", "GET /v1/allocations/{}", "GET /v1/runbooks/{}",
		"PATCH /v1/nodes/{}"} {
		method, route, _ := strings.Cut(key, " ")
		if r := g.as("reader "+owner, method, e.path(route), e.body(key)); r.status != http.StatusOK {
			t.Errorf("%s as its owner: %d %s", key, r.status, r.body)
		}
	}
}

// TestStepRules: a rule for a step decides where the step is requested, and where a project's runbook is written and
// used. A runbook of the system is approved.
func TestStepRules(t *testing.T) {
	g := newGuardedConductor(t, withPolicy(t, `
"baremetal:step:execute:bios.factory_reset": "role:admin and project_id:%(node.owner)s"
"baremetal:runbook:use": "@"
"baremetal:runbook:create": "role:member"
"baremetal:runbook:update": "role:member"
`))
	e := g.estate()
	g.provision(e.node, "manage")
	const book = `{"name":"CUSTOM_B%d","steps":[{"interface":"%s","step":"%s","args":{},"order":1}]}`
	clean := func(step string) string {
		return `{"target":"clean","clean_steps":[{"interface":"bios","step":"` + step + `"}]}`
	}
	states := "/v1/nodes/" + e.node + "/states/provision"
	for _, tc := range []struct {
		who, method, path, body string
		want                    int
	}{
		{"operator " + owner, "PUT", states, clean("factory_reset"), http.StatusForbidden},
		{"admin ", "PUT", states, clean("factory_reset"), http.StatusForbidden}, // of no project
		{"admin " + owner, "PUT", states, clean("nonsense"), http.StatusBadRequest},
		{"operator " + owner, "POST", "/v1/runbooks", fmt.Sprintf(book, 1, "bios", "factory_reset"), http.StatusForbidden},
		{"admin " + other, "POST", "/v1/runbooks", fmt.Sprintf(book, 2, "bios", "factory_reset"),
			http.StatusCreated}, // for its own nodes
		{"operator " + owner, "POST", "/v1/runbooks", fmt.Sprintf(book, 3, "power", "reboot"), http.StatusCreated},
		{"operator " + owner, "PATCH", "/v1/runbooks/CUSTOM_B3", `[{"op":"replace","path":"/steps","value":[{"interface":` +
			`"bios","step":"factory_reset","args":{},"order":1}]}]`, http.StatusForbidden},
		{"operator " + owner, "PUT", states, `{"target":"clean","runbook":"` + e.runbook + `"}`, http.StatusForbidden},
	} {
		r := g.as(tc.who, tc.method, tc.path, tc.body)
		if r.status != tc.want || tc.want == http.StatusForbidden &&
			!strings.Contains(r.text(), "insufficient privileges to execute step factory_reset on interface bios") {
			t.Errorf("%s %s %s %s: %d %s, want %d", tc.who, tc.method, tc.path, tc.body, r.status, r.body, tc.want)
		}
	}
	if r := g.as("admin ", "PATCH", "/v1/runbooks/"+e.runbook,
		`[{"op":"add","path":"/public","value":true}]`); r.status != http.StatusOK {
		t.Fatalf("publish: %d %s", r.status, r.body)
	}
	if r := g.as("operator "+owner, "PUT", states,
		`{"target":"clean","runbook":"`+e.runbook+`"}`); strings.Contains(r.text(), "privileges") {
		t.Errorf("an approved runbook: %d %s", r.status, r.body)
	}
}

// TestVendorSteps: a vendor's step needs the right to vendor methods, in a request, and in a runbook of a project.
func TestVendorSteps(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	g.provision(e.node, "manage")
	states := "/v1/nodes/" + e.node + "/states/provision"
	const step = `"interface":"vendor","step":"send_raw","args":{"raw_bytes":"0x00"}`
	for _, tc := range []struct {
		who, method, path, body string
		allowed                 bool
	}{
		{"admin ", "PUT", states, `{"target":"clean","clean_steps":[{` + step + `}]}`, true},
		{"operator ", "PUT", states, `{"target":"clean","clean_steps":[{` + step + `}]}`, false},
		{"admin " + owner, "PUT", states, `{"target":"clean","clean_steps":[{` + step + `}]}`, false},
		{"admin " + owner, "POST", "/v1/runbooks", `{"name":"CUSTOM_R","steps":[{` + step + `,"order":1}]}`, false},
		{"admin ", "POST", "/v1/runbooks", `{"name":"CUSTOM_S","steps":[{` + step + `,"order":1}]}`, true},
	} {
		r := g.as(tc.who, tc.method, tc.path, tc.body)
		denied := r.status == http.StatusForbidden &&
			strings.Contains(r.text(), "insufficient privileges to execute step send_raw on interface vendor")
		if denied == tc.allowed {
			t.Errorf("%s %s %s: %d %s", tc.who, tc.method, tc.body, r.status, r.body)
		}
	}
	g.provision(e.node, "provide")
	r := g.as("admin "+owner, "PUT", states, `{"target":"active","deploy_steps":[{`+step+`,"priority":9}]}`)
	if !strings.Contains(r.text(), "step send_raw on interface vendor") {
		t.Errorf("a deploy: %d %s", r.status, r.body)
	}
}

// TestAgentAddress: the address of agents has their endpoints and the versions, the API's has all else.
func TestAgentAddress(t *testing.T) {
	reached := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	const yes, gone, no = http.StatusTeapot, http.StatusNotFound, http.StatusForbidden
	for _, tc := range []struct {
		method, path   string
		agents, others int
	}{
		{"GET", "/v1/lookup?addresses=02:00:00:00:00:01", yes, no},
		{"GET", "/lookup/", yes, no},
		{"POST", "/v1/heartbeat/1be26c0b-03f2-4d2e-ae87-c02d7f33c123", yes, no},
		{"POST", "/heartbeat/1be26c0b-03f2-4d2e-ae87-c02d7f33c123", yes, no},
		{"POST", "/v1/continue_inspection", yes, no},
		{"POST", "/ferrite/v1/agents/1be26c0b-03f2-4d2e-ae87-c02d7f33c123/log", yes, no},
		{"GET", "/", yes, yes},
		{"GET", "/v1/", yes, yes},
		{"POST", "/v1", gone, yes},
		{"GET", "/v1/nodes", gone, yes},
		{"GET", "/v1/nodes/lookup", gone, yes},
		{"GET", "/v1/lookups", gone, yes},
		{"GET", "/metrics", gone, yes},
		{"GET", "/apis/metal3.io/v1alpha1/baremetalhosts", gone, yes},
	} {
		for _, side := range []struct {
			name string
			h    http.Handler
			want int
		}{{"agents", api.OnlyAgents(reached), tc.agents}, {"the API", api.WithoutAgents(reached), tc.others}} {
			w := httptest.NewRecorder()
			side.h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), tc.method, tc.path, nil))
			if w.Code != side.want {
				t.Errorf("%s %s at the address of %s: %d, want %d", tc.method, tc.path, side.name, w.Code, side.want)
			}
		}
	}
}

// BenchmarkGetNodeAs is GET of a node by a user of its owner: without a policy file, and with rules for it.
func BenchmarkGetNodeAs(b *testing.B) {
	for name, with := range map[string][]func(*api.Options){
		"rows": nil,
		"file": {withPolicy(b, `"baremetal:node:get": "role:reader and (project_id:%(node.owner)s or project_id:`+
			`%(node.lessee)s) or role:reader and system_scope:all"`)},
	} {
		b.Run(name, func(b *testing.B) {
			var h http.Handler
			g := newGuardedConductor(b, append(slices.Clone(with), func(o *api.Options) { h = api.New(*o) })...)
			path := "/v1/nodes/" + g.estate().node
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
				r.Header.Set(nodeapi.HeaderVersion, "1.82")
				r.Header.Set("X-Auth-Token", g.tokens["reader "+owner])
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != http.StatusOK {
					b.Fatalf("%d %s", w.Code, w.Body)
				}
			}
		})
	}
}
