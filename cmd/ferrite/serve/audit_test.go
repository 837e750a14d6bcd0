package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// auditOf reads all entries, and verifies them.
func auditOf(t *testing.T, g *servetest.Guarded) (all []nodeapi.AuditEntry, raw string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+"/ferrite/v1/audit", nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Sign(r)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("%d %s, %v", answer.StatusCode, text, err)
	}
	var check nodeapi.AuditCheck
	for line := range strings.Lines(string(text)) {
		var l nodeapi.AuditLine
		var e nodeapi.AuditEntry
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		if err := check.Add(l); err != nil {
			t.Error(err)
		}
		if err := json.Unmarshal(l.Entry, &e); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all, string(text)
}

// TestAudit: the user, the address, the request and the changes; refused logins; no secrets.
func TestAudit(t *testing.T) {
	g := startGuarded(t, false)
	n := g.Call(t, "POST", "/v1/nodes", map[string]any{"driver": "fake-hardware", "name": "n1",
		"driver_info": map[string]any{"redfish_password": "geheim1"}}, 201)
	g.Call(t, "PATCH", "/v1/nodes/n1", []map[string]any{
		{"op": "replace", "path": "/driver_info/redfish_password", "value": "geheim2"},
		{"op": "add", "path": "/extra/rack", "value": "r7"},
	}, 200)
	g.Call(t, "GET", "/v1/nodes/n1", nil, 200)
	g.As(t, func(r *http.Request) { r.SetBasicAuth("mallory", "guess") }, "GET", "/v1/nodes", 401)
	g.As(t, func(r *http.Request) { r.Header.Set("X-Auth-Token", g.Token) }, "DELETE", "/v1/nodes/n1", 403)
	g.Call(t, "DELETE", "/v1/nodes/n1", nil, 204)
	all, raw := auditOf(t, g)
	var got []string
	for _, e := range all {
		line := fmt.Sprintf("%s%s %s %s %d %s", e.User, e.Account, e.Method, e.Path, e.Status, e.Name)
		for _, c := range e.Changes {
			if e.Method == "PATCH" {
				line += fmt.Sprintf(" %s:%s>%s", c.Field, c.Old, c.New)
			}
		}
		got = append(got, line)
		if e.From != "127.0.0.1" || e.Request == "" || e.Conductor == "" {
			t.Errorf("entry %+v", e)
		}
	}
	want := []string{
		"alice POST /v1/nodes 201 n1",
		`alice PATCH /v1/nodes/n1 200 n1 driver_info/redfish_password:"******">"******" extra/rack:>"r7"`,
		"mallory GET /v1/nodes 401 ",
		"olga DELETE /v1/nodes/n1 403 ",
		"alice DELETE /v1/nodes/n1 204 n1",
	}
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("the audit is\n%s\nwant\n%s", a, b)
	}
	if all[1].Node != n["uuid"] {
		t.Errorf("the node is %s, want %s", all[1].Node, n["uuid"])
	}
	for _, secret := range []string{"geheim", "guess", "wonderland", g.Token} {
		if strings.Contains(raw, secret) {
			t.Errorf("the audit has the secret %s:\n%s", secret, raw)
		}
	}
	g.As(t, func(r *http.Request) { r.Header.Set("X-Auth-Token", g.Token) }, "GET", "/ferrite/v1/audit", 403)
}

// TestAuditOfDocuments: the fields of hosts as they were and are, and secrets without their values.
func TestAuditOfDocuments(t *testing.T) {
	g := startGuarded(t, false)
	g.Call(t, "POST", servetest.SecretsPath, map[string]any{"kind": "Secret", "apiVersion": "v1",
		"metadata": map[string]any{"name": "bmc"}, "stringData": map[string]any{"password": "geheim1"}}, 201)
	g.Call(t, "PATCH", servetest.SecretsPath+"/bmc", servetest.MergePatch{"stringData": map[string]any{
		"password": "geheim2"}}, 200)
	g.Call(t, "POST", servetest.HostsPath, map[string]any{"kind": hostapi.KindHost, "apiVersion": hostapi.APIVersion,
		"metadata": map[string]any{"name": "one"}, "spec": map[string]any{"bootMACAddress": "52:54:00:00:00:01"}}, 201)
	g.Call(t, "PATCH", servetest.HostPath, servetest.MergePatch{
		"spec": map[string]any{"online": true, "image": map[string]any{"format": "live-iso",
			"url": "http://user:geheim3@images.example/os.iso"}},
		"metadata": map[string]any{"labels": map[string]any{"a": "b"}}}, 200)
	g.Call(t, "PATCH", servetest.HostPath, servetest.MergePatch{"spec": map[string]any{"online": false}}, 200)
	g.Call(t, "PATCH", servetest.HostPath+"?dryRun=All", servetest.MergePatch{"spec": map[string]any{"online": true}}, 200)
	all, raw := auditOf(t, g)
	var got []string
	for _, e := range all {
		line := fmt.Sprintf("%s %s %s %d %s", e.User, e.Method, path.Base(e.Path), e.Status, e.Name)
		for _, c := range e.Changes {
			line += fmt.Sprintf(" %s:%s>%s", c.Field, c.Old, c.New)
		}
		got = append(got, line)
	}
	want := []string{
		`alice POST secrets 201 Secret metal3/bmc data/password:>"******" type:>"Opaque"`,
		`alice PATCH bmc 200 Secret metal3/bmc data/password:"******">"******"`,
		`alice POST baremetalhosts 201 BareMetalHost metal3/one spec/bootMACAddress:>"52:54:00:00:00:01"`,
		`alice PATCH one 200 BareMetalHost metal3/one metadata/labels/a:>"b" ` +
			`spec/image/format:>"live-iso" spec/image/url:>"http://******@images.example/os.iso" spec/online:>true`,
		`alice PATCH one 200 BareMetalHost metal3/one spec/online:true>`,
		`alice PATCH one 200 `,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if strings.Contains(raw, "geheim") {
		t.Errorf("the audit has a secret:\n%s", raw)
	}
}
