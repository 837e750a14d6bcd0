package imports

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// item is one thing that two sides may know differently.
type item struct {
	value any // nil for none
	// take makes a bundle have it as another does.
	take func(to, from *node.Bundle)
	// ofNode is a field of the node, which is never absent.
	ofNode bool
}

// nodeItems is THE table of what an import compares of the node itself. The power state, times and last_error are taken
// once, when the node is made: afterwards this conductor finds out for itself.
var nodeItems = []struct {
	name  string
	value func(n *node.Node) any
	take  func(to, from *node.Node)
}{
	{"name", func(n *node.Node) any { return n.Name }, func(to, from *node.Node) { to.Name = from.Name }},
	{"driver", func(n *node.Node) any { return n.Driver }, func(to, from *node.Node) { to.Driver = from.Driver }},
	{"interfaces", func(n *node.Node) any { return n.Interfaces },
		func(to, from *node.Node) { to.Interfaces = from.Interfaces }},
	{"provision_state", func(n *node.Node) any { return []node.State{n.ProvisionState, n.TargetProvisionState} },
		func(to, from *node.Node) {
			to.ProvisionState, to.TargetProvisionState = from.ProvisionState, from.TargetProvisionState
			to.LastError = from.LastError
		}},
	{"maintenance", func(n *node.Node) any { return []any{n.Maintenance, n.MaintenanceReason, n.Fault} },
		func(to, from *node.Node) {
			to.Maintenance, to.MaintenanceReason, to.Fault = from.Maintenance, from.MaintenanceReason, from.Fault
		}},
	{"protected", func(n *node.Node) any { return []any{n.Protected, n.ProtectedReason} },
		func(to, from *node.Node) { to.Protected, to.ProtectedReason = from.Protected, from.ProtectedReason }},
	{"retired", func(n *node.Node) any { return []any{n.Retired, n.RetiredReason} },
		func(to, from *node.Node) { to.Retired, to.RetiredReason = from.Retired, from.RetiredReason }},
	{"driver_info", func(n *node.Node) any { return n.DriverInfo },
		func(to, from *node.Node) { to.DriverInfo = from.DriverInfo }},
	{"properties", func(n *node.Node) any { return n.Properties },
		func(to, from *node.Node) { to.Properties = from.Properties }},
	{"instance_info", func(n *node.Node) any { return n.InstanceInfo },
		func(to, from *node.Node) { to.InstanceInfo = from.InstanceInfo }},
	{"extra", func(n *node.Node) any { return n.Extra }, func(to, from *node.Node) { to.Extra = from.Extra }},
	{"network_data", func(n *node.Node) any { return n.NetworkData },
		func(to, from *node.Node) { to.NetworkData = from.NetworkData }},
	{"raid_config", func(n *node.Node) any { return n.RAIDConfig },
		func(to, from *node.Node) { to.RAIDConfig = from.RAIDConfig }},
	{"target_raid_config", func(n *node.Node) any { return n.TargetRAIDConfig },
		func(to, from *node.Node) { to.TargetRAIDConfig = from.TargetRAIDConfig }},
	{"instance_uuid", func(n *node.Node) any { return n.InstanceUUID },
		func(to, from *node.Node) { to.InstanceUUID = from.InstanceUUID }},
	{"instance_name", func(n *node.Node) any { return n.InstanceName },
		func(to, from *node.Node) { to.InstanceName = from.InstanceName }},
	{"chassis_uuid", func(n *node.Node) any { return n.ChassisUUID },
		func(to, from *node.Node) { to.ChassisUUID = from.ChassisUUID }},
	{"resource_class", func(n *node.Node) any { return n.ResourceClass },
		func(to, from *node.Node) { to.ResourceClass = from.ResourceClass }},
	{"traits", func(n *node.Node) any { return n.Traits }, func(to, from *node.Node) { to.Traits = from.Traits }},
	{"conductor_group", func(n *node.Node) any { return n.ConductorGroup },
		func(to, from *node.Node) { to.ConductorGroup = from.ConductorGroup }},
	{"owner", func(n *node.Node) any { return n.Owner }, func(to, from *node.Node) { to.Owner = from.Owner }},
	{"lessee", func(n *node.Node) any { return n.Lessee }, func(to, from *node.Node) { to.Lessee = from.Lessee }},
	{"description", func(n *node.Node) any { return n.Description },
		func(to, from *node.Node) { to.Description = from.Description }},
	{"shard", func(n *node.Node) any { return n.Shard }, func(to, from *node.Node) { to.Shard = from.Shard }},
	{"parent_node", func(n *node.Node) any { return n.ParentNode },
		func(to, from *node.Node) { to.ParentNode = from.ParentNode }},
	{"automated_clean", func(n *node.Node) any { return n.AutomatedClean },
		func(to, from *node.Node) { to.AutomatedClean = from.AutomatedClean }},
	{"disable_power_off", func(n *node.Node) any { return n.DisablePowerOff },
		func(to, from *node.Node) { to.DisablePowerOff = from.DisablePowerOff }},
}

// items is everything of a bundle, by name.
func items(b *node.Bundle) map[string]item {
	all := map[string]item{}
	for _, f := range nodeItems {
		all[f.name] = item{value: f.value(&b.Node), ofNode: true,
			take: func(to, from *node.Bundle) { f.take(&to.Node, &from.Node) }}
	}
	for _, p := range b.Ports {
		id := p.UUID
		p.CreatedAt, p.UpdatedAt = zeroTime, nil
		all["port "+id] = item{value: p, take: func(to, from *node.Bundle) { to.Ports = takePort(to.Ports, from.Ports, id) }}
	}
	add(all, "portgroup", b.Portgroups, func(b *node.Bundle) *[]node.Portgroup { return &b.Portgroups })
	add(all, "connector", b.Connectors, func(b *node.Bundle) *[]node.VolumeConnector { return &b.Connectors })
	add(all, "target", b.Targets, func(b *node.Bundle) *[]node.VolumeTarget { return &b.Targets })
	if b.Allocation != nil {
		a := *b.Allocation
		a.Record = node.Record{UUID: a.UUID}
		all["allocation"] = item{value: a, take: func(to, from *node.Bundle) {
			if revision := revisionOf(to.Allocation); from.Allocation == nil {
				to.Allocation, to.Node.AllocationUUID = nil, ""
			} else {
				a := *from.Allocation
				a.Revision = revision
				to.Allocation, to.Node.AllocationUUID = &a, a.UUID
			}
		}}
	}
	return all
}

func revisionOf(a *node.Allocation) int64 {
	if a == nil {
		return 0
	}
	return a.Revision
}

// add adds the records of one type.
func add[T any, P node.Recorded[T]](all map[string]item, kind string, records []T, of func(*node.Bundle) *[]T) {
	for _, v := range records {
		id := P(&v).Head().UUID
		*P(&v).Head() = node.Record{UUID: id}
		all[kind+" "+id] = item{value: v, take: func(to, from *node.Bundle) {
			*of(to) = takeRecord[T, P](*of(to), *of(from), id)
		}}
	}
}

// takePort is the ports of to, with one as it is in from.
func takePort(to, from []node.Port, id string) []node.Port {
	is := func(p node.Port) bool { return p.UUID == id }
	at, there := slices.IndexFunc(to, is), slices.IndexFunc(from, is)
	switch {
	case there < 0 && at >= 0:
		return slices.Delete(slices.Clone(to), at, at+1)
	case there < 0:
		return to
	case at < 0:
		return append(to, from[there])
	}
	created := to[at].CreatedAt
	to[at] = from[there]
	to[at].CreatedAt = created
	return to
}

// takeRecord is the records of to, with one as it is in from.
func takeRecord[T any, P node.Recorded[T]](to, from []T, id string) []T {
	is := func(v T) bool { return P(&v).Head().UUID == id }
	at, there := slices.IndexFunc(to, is), slices.IndexFunc(from, is)
	switch {
	case there < 0 && at >= 0:
		return slices.Delete(slices.Clone(to), at, at+1)
	case there < 0:
		return to
	case at < 0:
		return append(to, from[there])
	}
	head := *P(&to[at]).Head()
	to[at] = from[there]
	*P(&to[at]).Head() = head
	return to
}

// document is a value as JSON, null for any that is empty.
func document(v any) []byte {
	raw, err := json.Marshal(v)
	if err != nil { // it came as JSON
		return []byte("null")
	}
	switch string(raw) {
	case `""`, "{}", "[]", "false":
		return []byte("null")
	}
	return raw
}

func same(a, b any) bool { return bytes.Equal(document(a), document(b)) }

// public is a value without its secrets, decoded.
func public(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return nodeapi.MaskInstance(map[string]any{"v": v})["v"]
}

// digest is that of the value without its secrets: what is stored must not let anybody guess them.
func digest(raw []byte) string {
	sum := sha256.Sum256(document(public(raw)))
	return hex.EncodeToString(sum[:12])
}

// digests are those of all items.
func digests(b *node.Bundle) map[string]string {
	all := map[string]string{}
	for name, i := range items(b) {
		all[name] = digest(document(i.value))
	}
	return all
}

// secrets is what public hides.
func secrets(raw []byte) any {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	hidden := map[string]any{}
	nodeapi.TakeSecrets(map[string]any{"v": v}, "", func(pointer string, value any) { hidden[pointer] = value })
	return hidden
}

// namesOf is the names of the items of both sides, in order.
func namesOf(a, b map[string]item) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.Sorted(maps.Keys(all))
}
