package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestFullProject: a project with more bytes than it may have is refused only requests that add some. Its machines can
// be switched, given back and emptied.
func TestFullProject(t *testing.T) {
	limits := &api.ProjectLimits{Most: node.Usage{}, Usage: func(context.Context, string) (node.Usage, error) {
		return node.Usage{node.UsageBytes: 1 << 20}, nil
	}}
	g := newGuardedConductor(t, func(o *api.Options) { o.Limits = limits })
	fat := `"` + strings.Repeat("x", 20<<10) + `"`
	who := "admin " + owner
	id, _ := g.as(who, "POST", "/v1/nodes", `{"driver":"fake-hardware","name":"fat","extra":{"a":`+fat+`}}`).doc(t)["uuid"].(string)
	g.provision(id, "manage", "provide", "active")
	limits.Most[node.UsageBytes] = 1 << 19
	at := "/v1/nodes/" + id
	patch := func(op string) string { return `[` + op + `]` }
	for _, step := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"a longer field", "PATCH", at, patch(`{"op":"add","path":"/extra/b","value":` + fat + `}`), http.StatusForbidden},
		{"a little longer", "PATCH", at, patch(`{"op":"add","path":"/extra/b","value":"x"}`), http.StatusForbidden},
		{"a record", "POST", "/v1/allocations", `{"resource_class":"small"}`, http.StatusForbidden},
		{"a config drive", "PUT", at + "/states/provision", `{"target":"rebuild","configdrive":` + fat + `}`,
			http.StatusForbidden},
		{"another value", "PATCH", at, patch(`{"op":"replace","path":"/extra/a","value":` + strings.ToUpper(fat) + `}`),
			http.StatusOK},
		{"a shorter field", "PATCH", at, patch(`{"op":"remove","path":"/extra/a"}`), http.StatusOK},
		{"power", "PUT", at + "/states/power", `{"target":"power off"}`, http.StatusAccepted},
		{"undeploy", "PUT", at + "/states/provision", `{"target":"deleted"}`, http.StatusAccepted},
		{"maintenance", "PUT", at + "/maintenance", `{"reason":"full"}`, http.StatusAccepted},
		{"delete", "DELETE", at, "", http.StatusNoContent},
	} {
		g.settle(id)
		if r := g.as(who, step.method, step.path, step.body); r.status != step.status {
			t.Errorf("%s: %d %s, want %d", step.name, r.status, r.text(), step.status)
		}
	}
}
