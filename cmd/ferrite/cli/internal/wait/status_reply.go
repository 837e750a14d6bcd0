package wait

import (
	"context"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/cli/internal/client"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ReadStatus reads the status of a node. A server that is not Ferrite has no
// status, so that is made of Ironic's fields.
func ReadStatus(ctx context.Context, s *client.Session, node string) (nodeapi.Status, error) {
	var st nodeapi.Status
	err := s.Client.Do(ctx, "GET", client.FerritePath(node, "status"), nil, &st)
	if !client.NotFound(err) {
		return st, err
	}
	var n nodeapi.Node
	if err := s.Client.Do(ctx, "GET", client.NodePath(node), nil, &n); err != nil {
		return st, err
	}
	return nodeapi.Status{
		Node: n.UUID, Name: n.Name, Power: n.PowerState, State: n.ProvisionState,
		Target: n.TargetProvisionState, LastError: n.LastError,
		Maintenance: n.Maintenance, MaintenanceReason: n.MaintenanceReason, Fault: n.Fault,
	}, nil
}
