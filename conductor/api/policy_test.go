package api_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestEveryRouteHasARule, and every rule a route: the policy is complete, and about
// nothing else.
func TestEveryRouteHasARule(t *testing.T) {
	routes := api.New(api.Options{Conductor: newConductor(t).Engine}).Routes()
	rules := auth.NewRules(nil)
	for _, r := range routes {
		if rules[r] == nil {
			t.Errorf("%s has no row in the policy", r)
		}
	}
	for what := range rules {
		method, rest, _ := strings.Cut(what, " ")
		path, _, _ := strings.Cut(rest, " ")
		if !slices.Contains(routes, method+" "+path) {
			t.Errorf("the policy's row for %s is about no route", what)
		}
	}
	seen := map[string]string{}
	for _, rule := range auth.Policy() {
		for _, what := range rule.For {
			if seen[what] != "" {
				t.Errorf("%s is in the rows of %s and of %s", what, seen[what], rule.Name)
			}
			seen[what] = rule.Name
		}
	}
}

// The projects of the users: those a node is owned by and lent to, and another.
const (
	owner  = "owner-project"
	lessee = "lessee-project"
	other  = "other-project"
)

// guardedConductor is a conductor with authentication; users have a token each.
type guardedConductor struct {
	*conductor
	tokens  map[string]string // by "role project"
	estates int               // made so far
}

func newGuardedConductor(t testing.TB, with ...func(*api.Options)) *guardedConductor {
	t.Helper()
	g := &guardedConductor{tokens: map[string]string{}}
	var users auth.Users
	for _, project := range []string{"", owner, lessee, other} {
		for _, role := range []string{"reader", "operator", "admin"} {
			secret, kept := auth.NewToken("test", nil)
			g.tokens[role+" "+project] = secret
			users.Users = append(users.Users,
				auth.User{Name: strings.TrimSpace(role + " " + project), Role: role, Project: project, Tokens: []auth.Token{kept}})
		}
	}
	doc, err := users.Encode()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "users.yaml")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	g.conductor = &conductor{t: t, Conductor: apitest.Start(t, mem.New(), nil, func(o *api.Options) {
		if o.Auth, err = auth.New(auth.Options{Users: file, Tokens: true, Log: o.Log}); err != nil {
			t.Fatal(err)
		}
		withImages(t)(o)
		for _, change := range with {
			change(o)
		}
	})}
	return g
}

// as sends a request at the newest microversion for a user; "" is a stranger.
func (g *guardedConductor) as(who, method, path, body string) reply {
	g.t.Helper()
	r, err := http.NewRequestWithContext(g.t.Context(), method, g.URL+path, strings.NewReader(body))
	if err != nil {
		g.t.Fatal(err)
	}
	r.Header.Set(nodeapi.HeaderVersion, "latest")
	if who != "" {
		token, ok := g.tokens[who]
		if !ok {
			g.t.Fatalf("there is no user %q", who)
		}
		r.Header.Set("X-Auth-Token", token)
	}
	return g.send(r)
}

// provision requests one verb after the other, as an admin of the system.
func (g *guardedConductor) provision(ref string, targets ...string) {
	g.t.Helper()
	for _, target := range targets {
		if r := g.as("admin ", http.MethodPut, "/v1/nodes/"+ref+"/states/provision",
			`{"target":"`+target+`"}`); r.status != http.StatusAccepted {
			g.t.Fatalf("%s: %d %s", target, r.status, r.body)
		}
		g.settle(ref)
	}
}

// estate is a node of the owner, lent to the lessee, with its parts and related records.
type estate struct {
	node, port, mac, runbook, template       string
	portgroup, connector, target, allocation string
	report, image                            string
}

func (g *guardedConductor) estate() estate {
	g.t.Helper()
	g.estates++
	n, ctx := g.estates, g.t.Context()
	made, err := g.Engine.CreateNode(ctx, node.Node{Driver: "fake-hardware", Owner: owner, Lessee: lessee})
	if err != nil {
		g.t.Fatal(err)
	}
	if err := g.Engine.AddTrait(ctx, made.UUID, "CUSTOM_X"); err != nil {
		g.t.Fatal(err)
	}
	port, err := g.Engine.CreatePort(ctx,
		node.Port{NodeUUID: made.UUID, Address: fmt.Sprintf("52:54:00:00:%02x:%02x", n>>8, n&255), PXEEnabled: true})
	if err != nil {
		g.t.Fatal(err)
	}
	step := node.Step{Interface: "bios", Step: "factory_reset"}
	book, err := g.Engine.Catalogs().Runbooks.Create(ctx,
		node.Runbook{Name: fmt.Sprintf("book-%d", n), Owner: owner, Steps: []node.RunbookStep{{Step: step}}})
	if err != nil {
		g.t.Fatal(err)
	}
	template, err := g.Engine.Catalogs().DeployTemplates.Create(ctx,
		node.DeployTemplate{Name: fmt.Sprintf("CUSTOM_T%d", n), Steps: []node.Step{step}})
	if err != nil {
		g.t.Fatal(err)
	}
	e := estate{node: made.UUID, port: port.UUID, mac: port.Address, runbook: book.UUID, template: template.UUID}
	g.furnish(&e)
	return e
}

// furnish gives an estate's node parts and an erase report, and its owner an allocation and an image.
func (g *guardedConductor) furnish(e *estate) {
	g.t.Helper()
	ctx, kept := g.t.Context(), g.Engine.Catalogs()
	group, err := kept.Portgroups.Create(ctx, node.Portgroup{NodeUUID: e.node, Mode: node.DefaultMode})
	if err != nil {
		g.t.Fatal(err)
	}
	connector, err := kept.VolumeConnectors.Create(ctx,
		node.VolumeConnector{NodeUUID: e.node, Type: "iqn", ConnectorID: "iqn." + e.node})
	if err != nil {
		g.t.Fatal(err)
	}
	target, err := kept.VolumeTargets.Create(ctx, node.VolumeTarget{NodeUUID: e.node, VolumeType: "iscsi", VolumeID: "v",
		Properties: map[string]any{"target_portal": "10.1.1.2"}})
	if err != nil {
		g.t.Fatal(err)
	}
	allocation, err := kept.Allocations.Create(ctx, node.Allocation{ResourceClass: "none", Owner: owner})
	if err != nil {
		g.t.Fatal(err)
	}
	e.portgroup, e.connector, e.target, e.allocation = group.UUID, connector.UUID, target.UUID, allocation.UUID
	e.report = g.Erased(g.t, e.node, false)
	e.image = fmt.Sprintf("image-%d", g.estates)
	if _, err := kept.Images.Create(ctx, node.Image{Name: e.image, Owner: owner, Format: node.ImageRaw, Size: 1 << 20,
		Digest: fmt.Sprintf("sha256:%064d", g.estates)}); err != nil {
		g.t.Fatal(err)
	}
}

// path is a route about the estate.
func (e estate) path(route string) string {
	ids := map[string]string{
		"portgroups": e.portgroup, "connectors": e.connector, "targets": e.target, "allocations": e.allocation,
		"nodes": e.node, "ports": e.port, "runbooks": e.runbook, "deploy_templates": e.template,
		"erase-reports": e.report, "images": e.image, "drivers": "fake-hardware",
		"conductors": "conductor-1", "leases": "52:54:00:aa:bb:cc",
		"traits": "CUSTOM_X", "history": "none",
	}
	parts := strings.Split(route, "/")
	for i, part := range parts {
		if part == "{}" {
			if parts[i] = ids[parts[i-1]]; parts[i] == "" {
				parts[i] = "nonsense"
			}
		}
	}
	path := strings.Join(parts, "/")
	if path == "/v1/nodes/validate" {
		path += "?node=" + e.node
	}
	return path
}

// body is a body with which a route could succeed. On other routes the refusal of the body shows that the request was
// permitted.
func (e estate) body(key string) string {
	return map[string]string{
		"POST /v1/ports": `{"node_uuid":"` + e.node + `","address":"02` +
			strings.Replace(e.mac, "52", "", 1) + `"}`,
		"POST /v1/portgroups":        `{"node_uuid":"` + e.node + `"}`,
		"POST /v1/volume/connectors": `{"node_uuid":"` + e.node + `","type":"iqn","connector_id":"x"}`,
		"POST /v1/volume/targets": `{"node_uuid":"` + e.node +
			`","volume_type":"iscsi","volume_id":"w","boot_index":1}`,
		"POST /v1/allocations":                    `{"resource_class":"none"}`,
		"PATCH /v1/portgroups/{}":                 `[{"op":"add","path":"/extra/x","value":1}]`,
		"PATCH /v1/volume/connectors/{}":          `[{"op":"add","path":"/extra/x","value":1}]`,
		"PATCH /v1/volume/targets/{}":             `[{"op":"add","path":"/extra/x","value":1}]`,
		"PATCH /v1/allocations/{}":                `[{"op":"add","path":"/extra/x","value":1}]`,
		"PUT /v1/nodes/{}/traits":                 `{"traits":["CUSTOM_X"]}`,
		"PUT /v1/runbooks/{}/traits":              `{"traits":["CUSTOM_X"]}`,
		"PUT /v1/nodes/{}/states/provision":       `{"target":"nonsense"}`,
		"PATCH /v1/runbooks/{}":                   `[{"op":"add","path":"/extra/x","value":1}]`,
		"PATCH /v1/nodes/{}":                      `[{"op":"add","path":"/description","value":"x"}]`,
		"PATCH /v1/ports/{}":                      `[{"op":"add","path":"/extra/x","value":1}]`,
		"PATCH /v1/deploy_templates/{}":           `[{"op":"add","path":"/extra/x","value":1}]`,
		"PUT /v1/nodes/{}/management/boot_device": `{"boot_device":"pxe"}`,
	}[key]
}

// verdict is a letter for the outcome of a request.
func (e estate) verdict(r reply) string {
	switch text := r.text(); {
	case r.status == http.StatusUnauthorized:
		return "?" // not authenticated
	case r.status == http.StatusForbidden && strings.HasPrefix(text, "Access was denied to the following resource: "):
		return "n" // no
	case r.status == http.StatusNotFound && slices.ContainsFunc([]string{
		"Node " + e.node, "Port " + e.port, "Portgroup " + e.portgroup, "Volume connector " + e.connector,
		"Volume target " + e.target, "Allocation " + e.allocation, "Erase report " + e.report,
		"Image " + e.image, "Runbook " + e.runbook,
	}, func(hidden string) bool { return strings.HasPrefix(text, hidden+" could not be found") }):
		return "-" // there is none
	}
	return "y"
}

// TestPolicy sends a request to every route as every user, over HTTP. People read the golden file: it has a column for
// strangers, and for each relation to the node (or runbook) one letter for reader, operator and admin.
func TestPolicy(t *testing.T) {
	g := newGuardedConductor(t)
	routes := api.New(api.Options{Conductor: g.Engine}).Routes()
	slices.SortFunc(routes, func(a, b string) int {
		verb := func(s string) (string, string) { m, p, _ := strings.Cut(s, " "); return p + " " + m, s }
		x, _ := verb(a)
		y, _ := verb(b)
		return strings.Compare(x, y)
	})
	var out strings.Builder
	out.WriteString("# y yes, n 403, - 404 as if there were no such thing, ? 401; for reader, operator, admin\n")
	fmt.Fprintf(&out, "%-52s %s  %-6s  %-5s  %-6s  %s\n", "#", "stranger", "system", "owner", "lessee", "other")
	for _, key := range routes {
		method, route, _ := strings.Cut(key, " ")
		e := g.estate()
		ask := func(who string) string {
			v := e.verdict(g.as(who, method, e.path(route), e.body(key)))
			if v == "y" && method != http.MethodGet { // a refused request, or a read, changes nothing
				e = g.estate()
			}
			return v
		}
		row := []any{key, ask("")}
		for _, project := range []string{"", owner, lessee, other} {
			row = append(row, ask("reader "+project)+ask("operator "+project)+ask("admin "+project))
		}
		fmt.Fprintf(&out, "%-52s %-8s  %-6s  %-5s  %-6s  %s\n", row...)
	}
	const golden = "testdata/policy.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), out.String()); diff != "" {
		t.Errorf("who may what (-want +got):\n%s", diff)
	}
}
