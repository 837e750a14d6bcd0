package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// planted is in every secret of the estate that plant fills.
const planted = "pl4nted"

// secretArgs are arguments of a step in each form in which one carries a secret.
func secretArgs() map[string]any {
	return map[string]any{
		"password": planted, "url": "http://u:" + planted + "@h/x",
		"settings": []any{
			map[string]any{"name": "AdminPassword", "value": planted}, map[string]any{"name": "BootMode", "value": "Uefi"},
		},
	}
}

// plant writes a secret to every place of the estate that may have one.
func (g *guardedConductor) plant(e estate) {
	g.t.Helper()
	ctx, kept := g.t.Context(), g.Engine.Catalogs()
	const url = "http://u:" + planted + "@h/x?X-Amz-Signature=" + planted
	object := func() map[string]any {
		return map[string]any{"password": planted, "deep": []any{map[string]any{"auth_token": planted, "url": url}}}
	}
	step := node.Step{Interface: "deploy", Step: "inject_files", Args: secretArgs()}
	n, err := g.Engine.Node(ctx, e.node)
	if err != nil {
		g.t.Fatal(err)
	}
	n.DriverInfo, n.DriverInternalInfo, n.InstanceInfo = object(), object(), object()
	n.InstanceInfo["configdrive"], n.InstanceInfo["image_source"] = planted, url
	n.PowerState = node.PowerOff
	n.Run = &node.Run{Steps: []node.Step{step}, StepSince: n.CreatedAt}
	change := node.Change{
		Save:      &n,
		Inspected: &node.Inspected{Inventory: json.RawMessage(`{"memory":{}}`), PluginData: json.RawMessage(`{}`)},
	}
	if _, err := g.Engine.Store.Commit(ctx, change); err != nil {
		g.t.Fatal(err)
	}
	_, err = kept.Runbooks.Update(ctx, e.runbook, func(r *node.Runbook) error {
		r.Steps = []node.RunbookStep{{Step: step}}
		return nil
	})
	g.ok(err)
	_, err = kept.DeployTemplates.Update(ctx, e.template, func(d *node.DeployTemplate) error {
		d.Steps = []node.Step{step}
		return nil
	})
	g.ok(err)
	_, err = kept.VolumeTargets.Update(ctx, e.target, func(v *node.VolumeTarget) error {
		v.Properties = object()
		return nil
	})
	g.ok(err)
	_, err = kept.Portgroups.Update(ctx, e.portgroup, func(p *node.Portgroup) error {
		p.InternalInfo = object()
		return nil
	})
	g.ok(err)
	_, err = g.Engine.UpdatePort(ctx, e.port, func(p *node.Port) error { p.InternalInfo = object(); return nil })
	g.ok(err)
	_, err = kept.InspectionRules.Create(ctx, node.InspectionRule{Phase: node.MainPhase, Actions: []node.Clause{
		{Op: "set-attribute", Args: map[string]any{"path": "/driver_info/redfish_password", "value": planted}},
		{Op: "api-call",
			Args: map[string]any{"url": url, "headers": map[string]any{"X-Auth-Token": planted, "Authorization": planted}}},
	}})
	g.ok(err)
}

func (g *guardedConductor) ok(err error) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
}

// TestNoSecretIsShown reads every route as every user, in old and new microversions and with every field: no answer has
// a secret.
func TestNoSecretIsShown(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	g.plant(e)
	rule := g.as("reader ", http.MethodGet, "/v1/inspection_rules", "").doc(
		t)["inspection_rules"].([]any)[0].(map[string]any)["uuid"].(string)
	var paths []string
	for _, key := range api.New(api.Options{Conductor: g.Engine}).Routes() {
		method, route, _ := strings.Cut(key, " ")
		if method != http.MethodGet {
			continue
		}
		path := strings.Replace(e.path(route), "inspection_rules/nonsense", "inspection_rules/"+rule, 1)
		paths = append(paths, path)
		if !strings.Contains(path, "?") {
			paths = append(paths, path+"?detail=true")
		}
	}
	paths = append(paths,
		"/v1/nodes?fields=uuid,driver_info,instance_info,driver_internal_info,clean_step,deploy_step,service_step,last_error",
		"/v1/volume/targets?fields=properties", "/v1/ports?fields=internal_info", "/v1/portgroups?fields=internal_info",
		"/v1/deploy_templates?fields=steps", "/v1/runbooks?fields=steps")
	asked, shown := 0, 0
	for _, version := range []string{"1.1", "1.92", "latest"} {
		for who, token := range g.tokens {
			if strings.HasPrefix(who, "operator") {
				continue // sees the same as a reader and an admin
			}
			for _, path := range paths {
				r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, g.URL+path, nil)
				g.ok(err)
				r.Header.Set(nodeapi.HeaderVersion, version)
				r.Header.Set("X-Auth-Token", token)
				answer := g.send(r)
				asked++
				if answer.status == http.StatusOK {
					shown++
				}
				if strings.Contains(answer.body+fmt.Sprint(answer.header), planted) {
					t.Errorf("%s of %s in %s: %s", path, who, version, answer.body)
				}
			}
		}
	}
	if asked < 3000 || shown < asked/5 {
		t.Errorf("%d of %d requests were answered with something: the test looks at too little", shown, asked)
	}
	body := g.as("reader ", http.MethodGet, "/v1/runbooks/"+e.runbook, "").body
	if !strings.Contains(body, "BootMode") || !strings.Contains(body, "Uefi") || !strings.Contains(body, nodeapi.Masked) {
		t.Errorf("of a step that sets two settings is shown %s", body)
	}
}

// TestSortedBySecrets: no order of a list reveals its masked values.
func TestSortedBySecrets(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	for path, keys := range map[string][]string{
		"/v1/nodes": {"driver_info", "instance_info", "driver_internal_info", "driver_info.redfish_password", "clean_step",
			"reservation"},
		"/v1/ports": {"internal_info", "extra"}, "/v1/portgroups": {"internal_info", "properties"},
		"/v1/volume/targets": {"properties"}, "/v1/deploy_templates": {"steps"}, "/v1/runbooks": {"steps"},
	} {
		for _, key := range keys {
			if r := g.as("reader ", http.MethodGet, path+"?sort_key="+key, ""); r.status != http.StatusBadRequest {
				t.Errorf("%s by %s: %d %s", path, key, r.status, r.body)
			}
		}
	}
	for who, want := range map[string]int{"reader ": http.StatusOK, "reader " + owner: http.StatusForbidden,
		"admin " + lessee: http.StatusForbidden} {
		if r := g.as(who, http.MethodGet, "/v1/nodes?sort_key=last_error", ""); r.status != want {
			t.Errorf("%s sorts by last_error: %d %s", who, r.status, r.body)
		}
	}
	for _, filter := range []string{"driver_info", "driver_info.redfish_password", "instance_info", "last_error",
		"fields.driver_info", "password"} {
		for _, path := range []string{"/v1/nodes", "/v1/nodes/" + e.node, "/v1/volume/targets"} {
			if r := g.as("reader ", http.MethodGet, path+"?"+filter+"="+planted, ""); r.status != http.StatusBadRequest {
				t.Errorf("%s filtered by %s: %d %s", path, filter, r.status, r.body)
			}
		}
	}
	for _, op := range []string{"test", "copy", "move"} {
		r := g.as("operator ", http.MethodPatch, "/v1/nodes/"+e.node,
			`[{"op":"`+op+`","path":"/extra/x","from":"/driver_info/password","value":"x"}]`)
		if r.status != http.StatusBadRequest {
			t.Errorf("op %s: %d %s", op, r.status, r.body)
		}
	}
}
