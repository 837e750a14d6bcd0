package client

import (
	"context"
	"net/http"
	"regexp"

	"github.com/ferrite-metal/ferrite/proto/hostapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// missingNode is how Ironic words that there is no such node, by a name that is no host's.
var missingNode = regexp.MustCompile(`^Node ([\w.-]+) could not be found`)

// pointToHost adds to a missing node that a host of its name has one: a machine that a host takes over gets another
// name.
func (c *client) pointToHost(ctx context.Context, f *nodeapi.Fault) {
	m := missingNode.FindStringSubmatch(f.Text)
	if f.Status != http.StatusNotFound || m == nil {
		return
	}
	name := hostapi.NodeName(hostapi.DefaultNamespace, m[1])
	_, missing, err := c.send(ctx, Request{Method: http.MethodGet, Path: NodePath(name) + "?fields=name"})
	if err == nil && missing == nil {
		f.Text += "\n  did you mean " + name + ", the node of host " + m[1] + "?"
	}
}
