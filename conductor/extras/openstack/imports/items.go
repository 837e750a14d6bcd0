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

// item is a value that may differ on the two sides.
type item struct {
	value any // nil for none
	// take makes a bundle have it as another does.
	take func(to, from *node.Bundle)
	// ofNode is a field of the node, which is never absent.
	ofNode bool
}

// together are the fields that an import compares as one with another, by that one. The power state, times and
// last_error are taken once, when the node is made: afterwards this conductor finds out for itself.
var together = map[string][]string{
	"provision_state": {"target_provision_state"},
	"maintenance":     {"maintenance_reason", "fault"},
	"protected":       {"protected_reason"},
	"retired":         {"retired_reason"},
}

// items is everything of a bundle, by name.
func items(b *node.Bundle) map[string]item {
	all := map[string]item{
		"interfaces": {value: b.Node.Interfaces, ofNode: true,
			take: func(to, from *node.Bundle) { to.Node.Interfaces = from.Node.Interfaces }},
	}
	for i := range node.Fields {
		if f := &node.Fields[i]; f.Is(node.Compared) && f.At != nil {
			all[f.Name] = fieldItem(f, &b.Node)
		}
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

// fieldItem is a field with those that belong to it.
func fieldItem(f *node.Field, n *node.Node) item {
	fields, taken := []*node.Field{f}, []*node.Field{}
	for _, name := range together[f.Name] {
		fields = append(fields, node.FieldNamed(name))
	}
	if f.Name == "provision_state" {
		taken = append(taken, node.FieldNamed("last_error"))
	}
	i := item{value: f.Value(n), ofNode: true, take: func(to, from *node.Bundle) {
		for _, f := range append(taken, fields...) {
			f.Copy(&to.Node, &from.Node)
		}
	}}
	if len(fields) > 1 {
		values := make([]any, len(fields))
		for k, f := range fields {
			values[k] = f.Value(n)
		}
		i.value = values
	}
	return i
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

// digest is the digest of a value without its secrets: stored digests must not help to guess them.
func digest(raw []byte) string {
	sum := sha256.Sum256(document(public(raw)))
	return hex.EncodeToString(sum[:12])
}

// digests are the digests of all items.
func digests(b *node.Bundle) map[string]string {
	all := map[string]string{}
	for name, i := range items(b) {
		all[name] = digest(document(i.value))
	}
	return all
}

// secrets are the values that public hides.
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
