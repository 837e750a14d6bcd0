package wait

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ReadStatus reads the status of a node. A server that is not Ferrite has no
// status, and a lessee may not read it: it is made of Ironic's fields.
func ReadStatus(ctx context.Context, s *client.Session, node string) (nodeapi.Status, error) {
	var st nodeapi.Status
	err := s.Client.Do(ctx, "GET", client.FerritePath(node, "status"), nil, &st)
	if !client.NotFound(err) && !client.Forbidden(err) {
		return st, err
	}
	var n nodeapi.Node
	if err := s.Client.Do(ctx, "GET", client.NodePath(node), nil, &n); err != nil {
		return st, err
	}
	return nodeapi.Status{
		Node: n.UUID, Name: n.Name, Power: n.PowerState, TargetPower: n.TargetPowerState, State: n.ProvisionState,
		Target: n.TargetProvisionState, LastError: n.LastError,
		Maintenance: n.Maintenance, MaintenanceReason: n.MaintenanceReason, Fault: n.Fault,
	}, nil
}

// ReadStatuses reads the statuses of nodes, in their order. Every node must exist.
func ReadStatuses(ctx context.Context, s *client.Session, names []string) ([]nodeapi.Status, error) {
	found, err := readStatuses(ctx, s, names)
	if err != nil {
		return nil, err
	}
	all := []nodeapi.Status{}
	return all, Each(names, func(name string) error {
		all = append(all, found[name].Status)
		return found[name].err
	})
}

// statusOf is the status of a node, or why there is none.
type statusOf struct {
	nodeapi.Status
	err error
}

// readStatuses reads the statuses of nodes by name, many in one request. A server without that request is asked for
// each node.
func readStatuses(ctx context.Context, s *client.Session, names []string) (map[string]statusOf, error) {
	found := make(map[string]statusOf, len(names))
	for some := range slices.Chunk(names, nodeapi.MaxStatuses) {
		var reply nodeapi.Statuses
		err := s.Client.Do(ctx, "GET", nodeapi.FerriteRoot+"/nodes/status?nodes="+url.QueryEscape(strings.Join(some, ",")),
			nil,
			&reply)
		if err != nil && !client.Unserved(err) {
			return nil, err
		}
		for _, name := range some {
			st, ok := reply.Nodes[name]
			if ok {
				found[name] = statusOf{Status: st}
				continue
			}
			st, err := ReadStatus(ctx, s, name) // the server says in its own words why there is none
			if client.Passing(err) {
				return nil, err
			}
			found[name] = statusOf{st, err}
		}
	}
	return found, nil
}
