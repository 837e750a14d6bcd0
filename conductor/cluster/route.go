package cluster

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Groups finds the conductor group of the object that a request names.
type Groups interface {
	GroupOf(ctx context.Context, node string) (group string, found bool, err error)
	GroupOfPort(ctx context.Context, port string) (group string, found bool, err error)
	// GroupOfAllocation is the group of an allocation's node.
	GroupOfAllocation(ctx context.Context, allocation string) (group string, found bool, err error)
}

// Paths that name a node or a port. The default group has all others: lists, catalogs and documents are of no group.
var (
	ofNode       = regexp.MustCompile(`^(?:/v1|/ferrite/v1)?/(?:nodes|heartbeat|agents)/([^/]+)`)
	ofPort       = regexp.MustCompile(`^(?:/v1)?/ports/([^/]+)`)
	ofAllocation = regexp.MustCompile(`^(?:/v1)?/allocations/([^/]+)/?$`)
	lists        = regexp.MustCompile(`^(?:/v1|/ferrite/v1)?/(?:nodes|ports)/(?:detail|status|validate)/?$`)
)

// mostBody bounds the body that is read to find the group of the node in a request, in bytes.
const mostBody = 1 << 20

// named matches the paths of collections. A POST to them may name a node or its group.
var named = regexp.MustCompile(`^(?:/v1)?/(nodes|ports|portgroups|allocations|volume/connectors|volume/targets)/?$`)

// makesNode reports whether a request makes a node: its group may be the first beside the default one.
func makesNode(r *http.Request) bool {
	if r.URL.Path == nodeapi.ImportPath {
		return r.Method == http.MethodPost
	}
	made := named.FindStringSubmatch(r.URL.Path)
	return r.Method == http.MethodPost && made != nil && made[1] == "nodes"
}

// groupOf finds the group that a request concerns. It may read the body, within the bound of all, and puts it back.
func groupOf(r *http.Request, groups Groups, bound Bound) (string, error) {
	modern := *r.URL // paths of Ironic's first releases name the node elsewhere
	if strings.HasPrefix(modern.Path, "/nodes") || strings.HasPrefix(modern.Path, "/ports") {
		modern.Path = nodeapi.Root + modern.Path
	}
	nodeapi.ModernURL(r.Method, &modern)
	path := modern.Path
	lookUp, ref := groups.GroupOf, ""
	switch {
	case r.Method == http.MethodGet && lists.MatchString(path): // else it is a node of this name
		return "", nil
	case ofNode.MatchString(path):
		ref = ofNode.FindStringSubmatch(path)[1]
	case ofPort.MatchString(path):
		lookUp, ref = groups.GroupOfPort, ofPort.FindStringSubmatch(path)[1]
	case r.Method == http.MethodDelete && ofAllocation.MatchString(path): // it sets the node free
		lookUp, ref = groups.GroupOfAllocation, ofAllocation.FindStringSubmatch(path)[1]
	case path == nodeapi.ImportPath: // its body may be large
		return strings.ToLower(r.URL.Query().Get(nodeapi.ImportGroup)), nil
	case strings.HasSuffix(path, "/lookup"):
		return groupOfMachine(r, groups)
	case r.Method == http.MethodPost && named.MatchString(path):
		return groupOfBody(r, groups, bound)
	}
	if ref == "" {
		return "", nil
	}
	group, _, err := lookUp(r.Context(), ref)
	return group, err
}

// groupOfMachine is the group of the ramdisk that looks its node up.
func groupOfMachine(r *http.Request, groups Groups) (string, error) {
	q := r.URL.Query()
	if ref := q.Get("node_uuid"); ref != "" {
		if group, found, err := groups.GroupOf(r.Context(), ref); found || err != nil {
			return group, err
		}
	}
	for i, address := range strings.Split(q.Get("addresses"), ",") {
		if i == 64 || address == "" {
			break
		}
		if group, found, err := groups.GroupOfPort(r.Context(), address); found || err != nil {
			return group, err
		}
	}
	return "", nil
}

// groupOfBody is the group of the node that a body makes, or makes something for.
func groupOfBody(r *http.Request, groups Groups, bound Bound) (string, error) {
	whole := r.Body
	if bound != nil {
		context.AfterFunc(r.Context(), bound(r))
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, mostBody))
	r.Body = &readBody{io.MultiReader(bytes.NewReader(text), whole), whole}
	if err != nil {
		return "", &bodyError{err}
	}
	var body struct {
		Group string `json:"conductor_group"`
		Node  string `json:"node_uuid"`
		Has   string `json:"node"` // of an allocation for a node that is in use
	}
	if json.Unmarshal(text, &body) != nil { // the API reports the error
		return "", nil
	}
	ref := cmp.Or(body.Node, body.Has)
	if ref == "" {
		return strings.ToLower(body.Group), nil
	}
	group, _, err := groups.GroupOf(r.Context(), ref)
	return group, err
}

// Bound counts the memory of a request's body, until the request ends.
type Bound = func(r *http.Request) (end func())

// bodyError is the error of reading a body: its client does not send it, or there is no room for it.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "read the request: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// readBody is a body of which a part was read already.
type readBody struct {
	io.Reader
	io.Closer
}
