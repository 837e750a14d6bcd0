package client

import (
	"bytes"
	"net/url"
	"regexp"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

var (
	// nodeOfPath is the node that a request is about, as the operator named it.
	nodeOfPath = regexp.MustCompile(`^(?:/ferrite)?/v1/nodes/([^/?]+)`)
	// nodeByUUID is a node in an error of Ironic, which always names it by its UUID.
	nodeByUUID = regexp.MustCompile(`([Nn]ode "?)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})`)
)

// asNamed replaces the node's identifier in an error by the name that the request used. It leaves an error alone that
// names several nodes, or a node from the request's body.
func asNamed(r Request, f *nodeapi.Fault) {
	m := nodeOfPath.FindStringSubmatch(r.Path)
	if m == nil {
		return
	}
	name, err := url.PathUnescape(m[1])
	if err != nil {
		return
	}
	uuid := ""
	for _, found := range nodeByUUID.FindAllStringSubmatch(f.Text, -1) {
		if uuid != "" && uuid != found[2] || bytes.Contains(r.Body, []byte(found[2])) {
			return
		}
		uuid = found[2]
	}
	f.Text = nodeByUUID.ReplaceAllStringFunc(f.Text, func(found string) string {
		return nodeByUUID.FindStringSubmatch(found)[1] + name
	})
}
