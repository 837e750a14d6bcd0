package api_test

import (
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// TestConflictsNameNoStrangers: a caller that takes a value of another project's record learns that it is taken, but
// not by which node or port.
func TestConflictsNameNoStrangers(t *testing.T) {
	g := newGuardedConductor(t)
	theirs := g.estate()
	n, err := g.Engine.UpdateNode(t.Context(), theirs.node, func(n *node.Node) error {
		n.Name, n.InstanceUUID = "their-name", "22222222-2222-4222-8222-222222222222"
		return nil
	})
	g.ok(err)
	own, err := g.Engine.CreateNode(t.Context(), node.Node{Driver: "fake-hardware", Owner: other})
	g.ok(err)
	port, err := g.Engine.CreatePort(t.Context(),
		node.Port{NodeUUID: own.UUID, Address: "52:54:00:99:00:01", PXEEnabled: true})
	g.ok(err)
	child, err := g.Engine.CreateNode(t.Context(), node.Node{Driver: "fake-hardware", Owner: owner, ParentNode: own.UUID})
	g.ok(err)
	group := `"portgroup_uuid":"` + theirs.portgroup + `"`
	unknown := strings.NewReplacer(theirs.portgroup, "11111111-1111-4111-8111-111111111111", theirs.node,
		"11111111-1111-4111-8111-111111111111")
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/ports", `{"node_uuid":"` + own.UUID + `","address":"52:54:00:99:00:02",` + group + `}`},
		{"PATCH", "/v1/ports/" + port.UUID, `[{"op":"add","path":"/portgroup_uuid","value":"` + theirs.portgroup + `"}]`},
		{"PATCH", "/v1/ports/" + port.UUID, `[{"op":"replace","path":"/node_uuid","value":"` + theirs.node + `"}]`},
		{"POST", "/v1/ports", `{"node_uuid":"` + theirs.node + `","address":"52:54:00:99:00:03"}`},
		{"POST", "/v1/portgroups", `{"node_uuid":"` + theirs.node + `"}`},
		{"POST", "/v1/volume/targets",
			`{"node_uuid":"` + theirs.node + `","volume_type":"iscsi","volume_id":"w","boot_index":7}`},
		{"POST", "/v1/allocations", `{"resource_class":"none","node":"` + theirs.node + `"}`},
		{"POST", "/v1/allocations", `{"resource_class":"none","candidate_nodes":["` + theirs.node + `"]}`},
		{"GET", "/v1/nodes?parent_node=" + theirs.node, ""},
		{"GET", "/v1/allocations?node=" + theirs.node, ""},
		{"GET", "/v1/nodes/" + theirs.node, ""},
		{"DELETE", "/v1/nodes/" + theirs.node, ""},
		{"POST", "/v1/nodes/" + own.UUID + "/vifs", `{"id":"v","portgroup_uuid":"` + theirs.portgroup + `"}`},
	} {
		is, none := g.as("admin "+other, c.method, c.path, c.body),
			g.as("admin "+other, c.method, unknown.Replace(c.path), unknown.Replace(c.body))
		if is.status != none.status || unknown.Replace(is.body) != unknown.Replace(none.body) {
			t.Errorf("%s %s %s: %d %s\nof what there is not: %d %s", c.method, c.path, c.body, is.status, is.body,
				none.status, none.body)
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/ports", `{"node_uuid":"` + own.UUID + `","address":"` + theirs.mac + `"}`},
		{"POST", "/v1/nodes", `{"driver":"fake-hardware","name":"their-name"}`},
		{"PATCH", "/v1/nodes/" + own.UUID, `[{"op":"add","path":"/instance_uuid","value":"` + n.InstanceUUID + `"}]`},
		{"GET", "/v1/nodes/" + own.UUID + "/children", ""},
	} {
		r := g.as("admin "+other, c.method, c.path, c.body)
		for _, name := range []string{theirs.node, theirs.port, child.UUID} {
			if strings.Contains(r.body, name) {
				t.Errorf("%s %s %s names %s: %d %s", c.method, c.path, c.body, name, r.status, r.body)
			}
		}
	}
}
