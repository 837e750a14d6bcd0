package client

import (
	"testing"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

func TestAsNamed(t *testing.T) {
	const uuid, other = "36c00131-bc20-47e8-85d2-e99166be0ad8", "04f2eb7d-5b27-4bf2-b0fc-5ca8074b227b"
	for name, c := range map[string]struct{ path, body, text, want string }{
		"by name":           {"/v1/nodes/m1/inventory", "", "Node " + uuid + " was never", "Node m1 was never"},
		"of Ferrite's own":  {"/ferrite/v1/nodes/m1/steps", "", `node "` + uuid + `" is`, `node "m1" is`},
		"escaped":           {"/v1/nodes/a%2Fb?fields=uuid", "", "Node " + uuid + " is", "Node a/b is"},
		"twice":             {"/v1/nodes/m1", "", "node " + uuid + ": node " + uuid, "node m1: node m1"},
		"another is meant":  {"/v1/nodes/m1", `{"parent":"` + uuid + `"}`, "Node " + uuid + " no", "Node " + uuid + " no"},
		"two of them":       {"/v1/nodes/m1", "", "node " + uuid + ", node " + other, "node " + uuid + ", node " + other},
		"not a node's path": {"/v1/ports/p", "", "node " + uuid + " is", "node " + uuid + " is"},
		"no node's UUID":    {"/v1/nodes/m1", "", "port " + uuid + " is", "port " + uuid + " is"},
	} {
		f := &nodeapi.Fault{Text: c.text}
		asNamed(Request{Path: c.path, Body: []byte(c.body)}, f)
		if f.Text != c.want {
			t.Errorf("%s: %q, expected %q", name, f.Text, c.want)
		}
	}
}
