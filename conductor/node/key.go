package node

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// KnownKey is one key of a node's free-form fields that Ironic or Ferrite knows: a row of Keys.
type KnownKey struct {
	Place     KeyPlace
	Name      string // a * at its end stands for any rest
	Kind      KeyKind
	Hardware  string // the hardware type that it is for, as BaseType names it; "" for all
	Interface string // the kind of interface under which GET validate names it
	Treatment KeyTreatment
	Text      string // the meaning of an Acted key, the readers of a Kept one, the reason and remedy for an Unbuilt one
}

// KeyPlace is the field that a key is in.
type KeyPlace string

// The places of keys. Capabilities are text or an object in properties and instance_info.
const (
	InDriverInfo   KeyPlace = "driver_info"
	InInstanceInfo KeyPlace = "instance_info"
	InProperties   KeyPlace = "properties"
	InCapabilities KeyPlace = "capabilities"
)

// KeyTreatment is the effect of a key.
type KeyTreatment string

// The treatments of keys. GET validate names an Unbuilt key with its reason, and an unknown one.
const (
	Acted   KeyTreatment = "acted upon" // by the conductor or its agent; a value that can never work is refused
	Kept    KeyTreatment = "kept"       // for schedulers, other tools and people; Ironic does not act upon it either
	Unbuilt KeyTreatment = "not built"  // Ironic acts upon it, and Ferrite does not
)

// KeyNamed finds the row of a key of a node; nil for an unknown one. The keys of a vendor's hardware type, such as
// ilo_address, have the rows of redfish's.
func (n *Node) KeyNamed(place KeyPlace, name string) *KnownKey {
	if k := keyNamed(place, name); k != nil || place != InDriverInfo {
		return k
	}
	if rest, ok := strings.CutPrefix(name, n.vendorPrefix()); ok && n.vendorPrefix() != "" {
		return keyNamed(place, "redfish_"+rest)
	}
	return nil
}

func keyNamed(place KeyPlace, name string) *KnownKey {
	if k := keysByName[place][name]; k != nil {
		return k
	}
	for _, k := range openKeys {
		if k.Place == place && strings.HasPrefix(name, strings.TrimSuffix(k.Name, "*")) {
			return k
		}
	}
	return nil
}

// vendorPrefix is the prefix of driver_info keys of a vendor's hardware type; "" for the others.
func (n *Node) vendorPrefix() string {
	for _, v := range vendorTypes {
		if v.name == n.Driver {
			return v.settings
		}
	}
	return ""
}

var keysByName, openKeys = func() (map[KeyPlace]map[string]*KnownKey, []*KnownKey) {
	all, open := map[KeyPlace]map[string]*KnownKey{}, []*KnownKey{}
	for i := range Keys {
		k := &Keys[i]
		if all[k.Place] == nil {
			all[k.Place] = map[string]*KnownKey{}
		}
		all[k.Place][k.Name] = k
		if strings.HasSuffix(k.Name, "*") {
			open = append(open, k)
		}
	}
	return all, open
}()

// CheckKeys refuses a change of a node that gives a key a value which can never work. Keys that stay as they are pass,
// so that a node of an earlier release can still be edited. Errors contain no values: they may be secrets.
func CheckKeys(old, n Node) error {
	for _, place := range keyFields {
		before, now := *place.at(&old), *place.at(&n)
		for _, name := range slices.Sorted(maps.Keys(now)) {
			k, v := n.KeyNamed(place.name, name), now[name]
			if k == nil || k.Treatment != Acted || v == nil || reflect.DeepEqual(before[name], v) {
				continue
			}
			if err := keyChecks[k.Kind](v); err != nil {
				return Refuse(Invalid, "%s/%s %v", place.name, name, err)
			}
		}
	}
	return nil
}

// keyFields are the fields with keys.
var keyFields = []struct {
	name KeyPlace
	at   func(*Node) *map[string]any
}{
	{InDriverInfo, func(n *Node) *map[string]any { return &n.DriverInfo }},
	{InInstanceInfo, func(n *Node) *map[string]any { return &n.InstanceInfo }},
	{InProperties, func(n *Node) *map[string]any { return &n.Properties }},
}
