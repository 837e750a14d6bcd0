package core

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// changeEvent returns the event of a change for readers of the event log. Each change of a record has one event; a
// change of effects alone has none.
func (e *Core) changeEvent(ctx context.Context, c *node.Change, now time.Time) (node.ChangeEvent, bool) {
	n, revision := eventSubject(c)
	ports := portChanges(c)
	if n == nil && len(ports) == 0 && c.PutAllocation == nil && c.DropAllocation == "" {
		return node.ChangeEvent{}, false
	}
	if n == nil {
		n = &node.Node{UUID: nodeOfPorts(c)}
	}
	by := userOf(ctx)
	out := nodeapi.Event{Type: "node.updated", At: now.UTC().Format(time.RFC3339Nano), Conductor: e.ConductorName(),
		User: by.name, Project: by.project, Ports: ports, Notes: notesOf(c), Moves: movesOf(c), Record: allocationOf(c)}
	if n.UUID != "" {
		out.Node = eventNode(n, revision)
	}
	if c.Save != nil && c.Was != nil {
		out.Changed = changedFields(c.Was, c.Save)
		if c.Was.PowerState != c.Save.PowerState {
			out.Power = &nodeapi.EventPower{From: string(c.Was.PowerState), To: string(c.Save.PowerState)}
		}
	}
	out.Type = eventType(c, &out)
	doc, err := json.Marshal(out)
	if err != nil { // texts and numbers alone: it cannot be
		e.Log.Error("an event is not written", "node", n.UUID, "err", err)
		return node.ChangeEvent{}, false
	}
	return node.ChangeEvent{At: now, Type: out.Type, Node: n.UUID, Group: n.ConductorGroup, Owner: n.Owner,
		Lessee: n.Lessee, Doc: doc}, true
}

// eventSubject is the node that a change writes, with its revision; nil for none.
func eventSubject(c *node.Change) (n *node.Node, revision int64) {
	switch {
	case c.Insert != nil:
		return c.Insert, 1
	case c.Save != nil:
		return c.Save, c.Save.Revision + 1
	case c.Delete != "" && c.Was != nil:
		return c.Was, c.Was.Revision
	case c.Delete != "":
		return &node.Node{UUID: c.Delete}, 0
	}
	return nil, 0
}

// eventType is the most that a change says.
func eventType(c *node.Change, out *nodeapi.Event) string {
	switch {
	case c.Insert != nil:
		return "node.created"
	case c.Delete != "":
		return "node.deleted"
	case len(c.Moves) > 0:
		return "node.state"
	case out.Power != nil:
		return "node.power"
	case slices.Contains(out.Changed, "maintenance"):
		return "node.maintenance"
	case c.Save != nil:
		return "node.updated"
	case len(out.Ports) > 0:
		return "node.ports"
	case c.PutAllocation != nil && c.PutAllocation.Revision == 0:
		return "allocation.created"
	case c.PutAllocation != nil:
		return "allocation.updated"
	case c.DropAllocation != "":
		return "allocation.deleted"
	}
	return "node.updated"
}

func eventNode(n *node.Node, revision int64) *nodeapi.EventNode {
	out := &nodeapi.EventNode{UUID: n.UUID, Name: n.Name, Revision: revision, State: string(n.ProvisionState),
		Target: string(n.TargetProvisionState), Power: string(n.PowerState), Maintenance: n.Maintenance, Fault: n.Fault,
		Error: n.LastError, Class: n.ResourceClass, Instance: n.InstanceUUID, Group: n.ConductorGroup, Driver: n.Driver}
	if n.Run != nil {
		if cur := n.Run.Current(); cur != nil {
			out.Step = cur.String()
		}
	}
	return out
}

func movesOf(c *node.Change) (moves []nodeapi.EventMove) {
	for _, m := range c.Moves {
		moves = append(moves, nodeapi.EventMove{From: string(m.From), On: string(m.On), To: string(m.To)})
	}
	return moves
}

func notesOf(c *node.Change) (notes []nodeapi.EventNote) {
	for _, h := range c.History {
		notes = append(notes, nodeapi.EventNote{Severity: h.Severity, Activity: h.EventType, Text: h.Event})
	}
	return notes
}

func portChanges(c *node.Change) map[string]string {
	if len(c.AddPorts)+len(c.SavePorts)+len(c.DropPorts) == 0 {
		return nil
	}
	out := map[string]string{}
	for _, p := range c.DropPorts {
		out[p] = "dropped"
	}
	for i := range c.SavePorts {
		out[c.SavePorts[i].UUID] = "changed"
	}
	for i := range c.AddPorts {
		out[c.AddPorts[i].UUID] = "added"
	}
	return out
}

func nodeOfPorts(c *node.Change) string {
	for _, ports := range [][]node.Port{c.AddPorts, c.SavePorts} {
		if len(ports) > 0 {
			return ports[0].NodeUUID
		}
	}
	if c.PutAllocation != nil {
		return c.PutAllocation.NodeUUID
	}
	return ""
}

func allocationOf(c *node.Change) *nodeapi.EventRecord {
	switch {
	case c.PutAllocation != nil:
		a := c.PutAllocation
		return &nodeapi.EventRecord{Kind: a.Kind(), UUID: a.UUID, Name: a.Name, Revision: a.Revision + 1}
	case c.DropAllocation != "":
		return &nodeapi.EventRecord{Kind: (*node.Allocation)(nil).Kind(), UUID: c.DropAllocation}
	}
	return nil
}

// nodeField is a field of a node, by its name in JSON.
type nodeField struct {
	index int
	name  string
}

// nodeFields are the fields with reported changes: all except revision and updated_at, which change with every save.
var nodeFields = func() (all []nodeField) {
	t := reflect.TypeFor[node.Node]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "revision" && name != "updated_at" {
			all = append(all, nodeField{i, name})
		}
	}
	return all
}()

// changedFields are the names of fields that differ.
func changedFields(was, is *node.Node) (names []string) {
	a, b := reflect.ValueOf(was).Elem(), reflect.ValueOf(is).Elem()
	for _, f := range nodeFields {
		if !reflect.DeepEqual(a.Field(f.index).Interface(), b.Field(f.index).Interface()) {
			names = append(names, f.name)
		}
	}
	return names
}
