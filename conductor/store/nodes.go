package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// nodeColumns are the parts of a node that queries filter, sort or wait by. The
// document beside them is the whole of it.
var nodeColumns = []struct {
	name  string
	value func(n *node.Node) any
}{
	{"name", func(n *node.Node) any { return n.Name }},
	{"driver", func(n *node.Node) any { return n.Driver }},
	{"provision_state", func(n *node.Node) any { return string(n.ProvisionState) }},
	{"target_provision_state", func(n *node.Node) any { return string(n.TargetProvisionState) }},
	{"power_state", func(n *node.Node) any { return string(n.PowerState) }},
	{"target_power_state", func(n *node.Node) any { return string(n.TargetPowerState) }},
	{"resource_class", func(n *node.Node) any { return n.ResourceClass }},
	{"conductor_group", func(n *node.Node) any { return n.ConductorGroup }},
	{"instance_uuid", func(n *node.Node) any { return n.InstanceUUID }},
	{"instance_name", func(n *node.Node) any { return n.InstanceName }},
	{"chassis_uuid", func(n *node.Node) any { return n.ChassisUUID }},
	{"owner", func(n *node.Node) any { return n.Owner }},
	{"lessee", func(n *node.Node) any { return n.Lessee }},
	{"fault", func(n *node.Node) any { return n.Fault }},
	{"shard", func(n *node.Node) any { return n.Shard }},
	{"parent_node", func(n *node.Node) any { return n.ParentNode }},
	{"description_lower", func(n *node.Node) any { return strings.ToLower(n.Description) }},
	{"maintenance", func(n *node.Node) any { return n.Maintenance }},
	{"retired", func(n *node.Node) any { return n.Retired }},
	{"protected", func(n *node.Node) any { return n.Protected }},
	{"created_at", func(n *node.Node) any { return micros(n.CreatedAt) }},
	{"updated_at", func(n *node.Node) any { return microsOf(n.UpdatedAt) }},
	{"provision_updated_at", func(n *node.Node) any { return microsOf(n.ProvisionUpdatedAt) }},
	{"inspection_started_at", func(n *node.Node) any { return microsOf(n.InspectionStartedAt) }},
	{"inspection_finished_at", func(n *node.Node) any { return microsOf(n.InspectionFinishedAt) }},
	{"deadline", func(n *node.Node) any { return micros(n.Deadline) }},
}

var insertNode, updateNode = nodeStatements()

func nodeStatements() (insert, update string) {
	names := make([]string, len(nodeColumns))
	for i, c := range nodeColumns {
		names[i] = c.name
	}
	insert = "INSERT INTO nodes (" + strings.Join(names, ", ") + ", doc, revision, uuid) VALUES (?" +
		strings.Repeat(", ?", len(names)+2) + ")"
	update = "UPDATE nodes SET " + strings.Join(names, " = ?, ") +
		" = ?, doc = ?, revision = ? WHERE uuid = ? AND revision = ?"
	return insert, update
}

// nodeArgs are the arguments insertNode takes, and updateNode but for its last.
func nodeArgs(n *node.Node) ([]any, error) {
	doc, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode node %s: %w", n.UUID, err)
	}
	args := make([]any, 0, len(nodeColumns)+4)
	for _, c := range nodeColumns {
		args = append(args, c.value(n))
	}
	return append(args, string(doc), n.Revision, n.UUID), nil
}

func (t *tx) insertNode(n *node.Node) error {
	args, err := nodeArgs(n)
	if err != nil {
		return err
	}
	_, err = t.exec(insertNode, args...)
	return nodeTaken(n, err)
}

// saveNode stores n, whose revision is the new one, over the one before it.
func (t *tx) saveNode(n *node.Node) error {
	args, err := nodeArgs(n)
	if err != nil {
		return err
	}
	touched, err := t.exec(updateNode, append(args, n.Revision-1)...)
	if err != nil || touched == 1 {
		return nodeTaken(n, err)
	}
	found, err := t.exists("SELECT 1 FROM nodes WHERE uuid = ?", n.UUID)
	switch {
	case err != nil:
		return err
	case !found:
		return noNode(n.UUID)
	}
	return fmt.Errorf("save node %s at revision %d: %w: read it again", n.UUID, n.Revision-1, node.ErrStale)
}

// deleteNode takes ports, effects, history and inspection along (the schema
// cascades).
func (t *tx) deleteNode(uuid string) error {
	touched, err := t.exec("DELETE FROM nodes WHERE uuid = ?", uuid)
	if err == nil && touched == 0 {
		return noNode(uuid)
	}
	return err
}

// nodeTaken words a unique index's refusal as Ironic does.
func nodeTaken(n *node.Node, err error) error {
	col, ok := taken(err)
	switch {
	case !ok:
		return err
	case col == "nodes.name":
		return node.Refuse(node.Conflict, "A node with name %s already exists.", n.Name)
	case col == "nodes.instance_uuid":
		return node.Refuse(node.Conflict, "Instance %s is already associated with a node, it cannot be associated with this other node %s", n.InstanceUUID, n.UUID)
	}
	return node.Refuse(node.Conflict, "A node with UUID %s already exists.", n.UUID)
}

func noNode(ref string) error {
	return node.Refuse(node.NotFound, "Node %s could not be found.", ref)
}

// Node finds a node by UUID or name.
func (s *SQLite) Node(ctx context.Context, ref string) (node.Node, error) {
	var doc string
	err := s.point.node.QueryRowContext(ctx, ref).Scan(&doc)
	if errors.Is(err, sql.ErrNoRows) {
		return node.Node{}, noNode(ref)
	}
	if err != nil {
		return node.Node{}, fmt.Errorf("read node %s: %w", ref, err)
	}
	return decode[node.Node](doc)
}

// Nodes lists nodes.
func (s *SQLite) Nodes(ctx context.Context, q node.Query) ([]node.Node, error) {
	sel, err := s.selectNodes(ctx, q)
	if err != nil {
		return nil, err
	}
	var docs []string
	if err := sel.Scan(ctx, &docs); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	return decodeAll[node.Node](docs)
}
