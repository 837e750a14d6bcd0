package api

import (
	"encoding/json"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// importedNode are the fields of a node that only an import sets. A nil function stands for the table's own.
func importedNode() map[string]setter {
	all := map[string]setter{}
	for i := range node.Fields {
		f := &node.Fields[i]
		switch {
		case !f.Is(node.Imported):
		case f.Kind == node.TimeField:
			all[f.Name] = importedTime(f)
		default:
			all[f.Name] = nil
		}
	}
	all["last_error"] = importedReport(func(n *node.Node) *string { return &n.LastError })
	all["maintenance_reason"] = importedReport(func(n *node.Node) *string { return &n.MaintenanceReason })
	all["traits"] = func(n *node.Node, value any) error {
		list, ok := value.([]any)
		if !ok && value != nil {
			return rest.WrongType(value, "array", "null")
		}
		for _, item := range list {
			trait, err := asTrait(item)
			if err != nil {
				return err
			}
			n.Traits = append(n.Traits, trait)
		}
		return nil
	}
	return all
}

// importedReport is a text of a conductor, which may be longer than an operator's.
func importedReport(at func(*node.Node) *string) setter {
	return func(n *node.Node, value any) (err error) {
		*at(n), err = rest.ReadText(value, 64<<10)
		return err
	}
}

func importedTime(f *node.Field) setter {
	return func(n *node.Node, value any) error {
		text, ok := value.(string)
		if value == nil {
			return nil
		}
		at, err := time.Parse(time.RFC3339, text)
		if !ok || err != nil || at.Year() < 1970 || at.Year() > 9999 {
			return &rest.SchemaError{Text: rest.Python(value) + " is not a time of RFC 3339"}
		}
		at = at.UTC().Truncate(time.Microsecond)
		switch to := f.At(n).(type) {
		case *time.Time:
			*to = at
		case **time.Time:
			*to = &at
		}
		return nil
	}
}

// importedRunbooks is the table of runbooks with their traits, which have a path of their own otherwise.
func importedRunbooks() *rest.Table[node.Runbook] {
	t := runbookTable()
	t.Replace(rest.Texts("traits", rest.Creatable, func(r *node.Runbook) *[]string { return &r.Traits }, asTrait))
	return t
}

// readBundle reads a node with all its records.
func readBundle(fields *rest.Table[node.Node], body rest.Args) (b node.Bundle, err error) {
	if err := readOne(fields, body["node"], &b.Node, importedNode()); err != nil {
		return b, err
	}
	for _, key := range []struct{ name, value string }{
		{"uuid", b.Node.UUID}, {"driver", b.Node.Driver}, {"provision_state", string(b.Node.ProvisionState)}} {
		if key.value == "" {
			return b, rest.BadRequest("Schema error for node: '%s' is a required property", key.name)
		}
	}
	internal := map[string]func(*node.Port, any) error{"internal_info": nil}
	if b.Ports, err = readMany(portTable(), body["ports"], node.Port{PXEEnabled: true, NodeUUID: b.Node.UUID},
		internal); err != nil {
		return b, err
	}
	for _, p := range b.Ports {
		if p.Address == "" || p.UUID == "" {
			return b, rest.BadRequest("Schema error for port: 'uuid' and 'address' are required properties")
		}
	}
	blank := node.Portgroup{Mode: node.DefaultMode, StandalonePorts: true, NodeUUID: b.Node.UUID}
	if b.Portgroups, err = readMany(portgroupTable(), body["portgroups"], blank,
		map[string]func(*node.Portgroup, any) error{"internal_info": nil}); err != nil {
		return b, err
	}
	if b.Connectors, err = readMany(connectorTable(), body["connectors"], node.VolumeConnector{NodeUUID: b.Node.UUID},
		nil); err != nil {
		return b, err
	}
	if b.Targets, err = readMany(plainTargets(), body["targets"], node.VolumeTarget{NodeUUID: b.Node.UUID},
		nil); err != nil {
		return b, err
	}
	if body["allocation"] != nil {
		b.Allocation = &node.Allocation{}
		if err := readOne(allocationTable(), body["allocation"], b.Allocation, nil); err != nil {
			return b, err
		}
	}
	if err := sameNode(&b); err != nil {
		return b, err
	}
	b.Inspected, err = readInventory(body["inventory"])
	return b, err
}

// sameNode wants each record to be known by a UUID, and to be the node's.
func sameNode(b *node.Bundle) error {
	of := map[string][]string{}
	for _, p := range b.Ports {
		of["port"] = append(of["port"], p.UUID, p.NodeUUID)
	}
	for _, g := range b.Portgroups {
		of["portgroup"] = append(of["portgroup"], g.UUID, g.NodeUUID)
	}
	for _, v := range b.Connectors {
		of["connector"] = append(of["connector"], v.UUID, v.NodeUUID)
	}
	for _, v := range b.Targets {
		of["target"] = append(of["target"], v.UUID, v.NodeUUID)
	}
	if a := b.Allocation; a != nil {
		of["allocation"] = []string{a.UUID, b.Node.UUID}
	}
	for _, kind := range rest.SortedKeys(of) {
		seen := map[string]bool{}
		for i := 0; i < len(of[kind]); i += 2 {
			id, owner := of[kind][i], of[kind][i+1]
			switch {
			case id == "":
				return rest.BadRequest("Schema error for %s: 'uuid' is a required property", kind)
			case owner != b.Node.UUID:
				return rest.BadRequest("%s %s is of node %s, and cannot come with node %s", kind, id, owner, b.Node.UUID)
			case seen[id]:
				return rest.BadRequest("%s %s is there twice", kind, id)
			}
			seen[id] = true
		}
	}
	return nil
}

// readOne fills a record from a member of the body.
func readOne[T any](fields *rest.Table[T], value any, of *T, more map[string]func(*T, any) error) error {
	body, ok := value.(map[string]any)
	if !ok {
		return rest.BadRequest("Schema error for %s: %s is not of type 'object'", fields.Kind, rest.Python(value))
	}
	return fields.FillMore(nodeapi.MaxMinor, body, of, more)
}

// readMany fills records from a list.
func readMany[T any](fields *rest.Table[T], value any, blank T, more map[string]func(*T, any) error) ([]T, error) {
	list, ok := value.([]any)
	if !ok && value != nil {
		return nil, rest.BadRequest("Schema error for %ss: %s is not of type 'array'", fields.Kind, rest.Python(value))
	}
	all := make([]T, len(list))
	for i, one := range list {
		all[i] = blank
		if err := readOne(fields, one, &all[i], more); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// readInventory reads the result of the last inspection; nil for none.
func readInventory(value any) (*node.Inspected, error) {
	if value == nil {
		return nil, nil //nolint:nilnil // an import need not have any
	}
	m, ok := value.(map[string]any)
	if !ok {
		return nil, rest.BadRequest("Schema error for inventory: %s is not of type 'object'", rest.Python(value))
	}
	if err := rest.Unexpected(rest.SortedKeys(m), []string{"inventory", "plugin_data"}); err != nil {
		return nil, err
	}
	var found node.Inspected
	for key, into := range map[string]*json.RawMessage{"inventory": &found.Inventory, "plugin_data": &found.PluginData} {
		part, ok := m[key].(map[string]any)
		if !ok && m[key] != nil {
			return nil, rest.BadRequest("Schema error for %s: %s is not of type 'object'", key, rest.Python(m[key]))
		}
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if part != nil {
			*into = raw
		}
	}
	return &found, nil
}
