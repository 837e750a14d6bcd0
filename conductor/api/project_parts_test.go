package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestPartsOfOthers: a caller can add parts only to its own nodes, and does not learn whether another node exists.
func TestPartsOfOthers(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	mine := g.as("admin "+other, http.MethodPost, "/v1/nodes", `{"driver":"fake-hardware"}`).doc(t)["uuid"]
	const none = "99999999-2222-4333-8444-555555555555"
	for path, rest := range map[string]string{
		"/v1/ports":             `"address":"52:54:00:dd:00:01"`,
		"/v1/portgroups":        `"name":"bond"`,
		"/v1/volume/connectors": `"type":"iqn","connector_id":"x"`,
		"/v1/volume/targets":    `"volume_type":"iscsi","volume_id":"x","boot_index":0`,
	} {
		for _, id := range []string{e.node, none} {
			if r := g.as("admin "+other, http.MethodPost, path,
				`{"node_uuid":"`+id+`",`+rest+`}`); r.status != http.StatusForbidden {
				t.Errorf("POST %s: %d %s", path, r.status, r.body)
			}
		}
		made := g.as("admin "+other, http.MethodPost, path, fmt.Sprintf(`{"node_uuid":%q,%s}`, mine, rest))
		if made.status != http.StatusCreated {
			t.Errorf("POST %s on his own: %d %s", path, made.status, made.body)
			continue
		}
		move := func(who, id string) string {
			r := g.as(who, http.MethodPatch, fmt.Sprint(path, "/", made.doc(t)["uuid"]),
				`[{"op":"replace","path":"/node_uuid","value":"`+id+`"}]`)
			if r.status != http.StatusBadRequest {
				t.Errorf("PATCH %s by %s: %d %s", path, who, r.status, r.body)
			}
			return strings.ReplaceAll(r.text(), id, "ID")
		}
		if hidden, missing := move("admin "+other, e.node), move("admin "+other, none); hidden != missing {
			t.Errorf("PATCH %s: %q, but of a node that is not there %q", path, hidden, missing)
		}
		move("admin ", e.node) // another owner's is not for the system either
	}
	port := `{"node_ident":"` + e.node + `","address":"52:54:00:dd:00:02"}`
	if r := g.as("admin "+other, http.MethodPost, "/v1/ports", port); r.status != http.StatusForbidden {
		t.Errorf("by name: %d %s", r.status, r.body)
	}
}

// TestTargetProperties: the credentials of a volume are shown to admins, and to readers of the system.
func TestTargetProperties(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	for who, sees := range map[string]bool{"reader ": true, "admin " + owner: true, "admin " + lessee: true,
		"operator " + owner: false, "reader " + lessee: false} {
		for _, path := range []string{"/v1/volume/targets/" + e.target, "/v1/volume/targets?detail=true",
			"/v1/volume/targets?fields=properties", "/v1/nodes/" + e.node + "/volume/targets?detail=true"} {
			body := g.as(who, http.MethodGet, path, "").body
			if strings.Contains(body, "10.1.1.2") != sees ||
				strings.Contains(body,
					`{"redacted_contents":"** Value redacted: Requires permission baremetal:volume:view_target_properties access. Permission denied. **"}`) == sees {
				t.Errorf("%s of %s: %s", path, who, body)
			}
		}
	}
}

// TestAllocationsOfProjects: an allocation of a project's user belongs to the project, out
// of the nodes that concern it.
func TestAllocationsOfProjects(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	for what, tc := range map[string]struct {
		who, more string
		status    int
		owner     any
	}{
		"a project's":         {"operator " + other, ``, http.StatusCreated, other},
		"the same, said":      {"operator " + other, `,"owner":"` + other + `"`, http.StatusCreated, other},
		"another project's":   {"admin " + other, `,"owner":"` + owner + `"`, http.StatusForbidden, nil},
		"by a reader":         {"reader " + other, ``, http.StatusForbidden, nil},
		"another's candidate": {"admin " + other, `,"candidate_nodes":["` + e.node + `"]`, http.StatusBadRequest, nil},
		"a candidate on loan": {"operator " + lessee, `,"candidate_nodes":["` + e.node + `"]`, http.StatusCreated, lessee},
		"another's node":      {"admin " + other, `,"node":"` + e.node + `"`, http.StatusBadRequest, nil},
		"the system's":        {"operator ", ``, http.StatusCreated, nil},
		"the system's gift":   {"operator ", `,"owner":"` + owner + `"`, http.StatusCreated, owner},
	} {
		r := g.as(tc.who, http.MethodPost, "/v1/allocations", `{"resource_class":"none"`+tc.more+`}`)
		if r.status != tc.status || r.status == http.StatusCreated && r.doc(t)["owner"] != tc.owner {
			t.Errorf("%s: %d %s", what, r.status, r.body)
		}
	}
}

// TestAllocationOfNode: the allocation of a node is shown to callers with access to both.
func TestAllocationOfNode(t *testing.T) {
	g := newGuardedConductor(t)
	e := g.estate()
	if _, err := g.Engine.UpdateNode(t.Context(), e.node, func(n *node.Node) error {
		n.ResourceClass = "small"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	g.provision(e.node, "manage", "provide")
	made := g.as("operator "+lessee, http.MethodPost, "/v1/allocations", `{"resource_class":"small"}`).doc(t)["uuid"]
	if a := g.allocated(made.(string)); a.NodeUUID != e.node {
		t.Fatalf("the lessee's allocation has the node %q: %s", a.NodeUUID, a.LastError)
	}
	for _, step := range []struct {
		who, method string
		want        int
	}{
		{"reader ", http.MethodGet, http.StatusOK},
		{"reader " + lessee, http.MethodGet, http.StatusOK},
		{"admin " + owner, http.MethodGet, http.StatusForbidden},
		{"admin " + other, http.MethodGet, http.StatusNotFound},
		{"admin " + other, http.MethodDelete, http.StatusNotFound},
		{"admin " + owner, http.MethodDelete, http.StatusForbidden},
		{"reader " + lessee, http.MethodDelete, http.StatusForbidden},
		{"operator " + lessee, http.MethodDelete, http.StatusNoContent},
	} {
		if r := g.as(step.who, step.method, "/v1/nodes/"+e.node+"/allocation", ""); r.status != step.want {
			t.Errorf("%s by %s: %d %s, want %d", step.method, step.who, r.status, r.body, step.want)
		}
	}
}

// TestNodesOfOthersAreNotCounted: the error of a project's failed allocation reveals nothing of the nodes of others.
func TestNodesOfOthersAreNotCounted(t *testing.T) {
	g := newGuardedConductor(t)
	if _, err := g.Engine.CreateNode(t.Context(),
		node.Node{Driver: "fake-hardware", Owner: owner, ResourceClass: "rare"}); err != nil {
		t.Fatal(err)
	}
	made := g.as("operator "+other, http.MethodPost, "/v1/allocations", `{"resource_class":"rare"}`).doc(t)["uuid"]
	if a := g.allocated(made.(string)); !strings.HasSuffix(a.LastError,
		"no available nodes match the resource class rare.") {
		t.Errorf("why there is no node: %s", a.LastError)
	}
}
