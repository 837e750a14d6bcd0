package api

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The lengths of some of Ironic's columns.
const (
	maxVendor   = 32
	maxNetwork  = 64
	maxCategory = 80
)

// portgroupNetworks is the microversion from which on a portgroup says in which
// physical network its ports are.
const portgroupNetworks = 102

// portTable is every field of a port with the microversion it appears in and
// what may be done with it.
func portTable() *table[node.Port] {
	type p = node.Port
	return newTable("port", []field[p]{
		identifier("uuid", 1, creatable, func(p *p) *string { return &p.UUID }),
		instant("created_at", 1, func(p *p) *time.Time { return &p.CreatedAt }),
		instant("updated_at", 1, func(p *p) *time.Time { return p.UpdatedAt }),
		needed(hardware("address", 1, both, func(p *p) *string { return &p.Address })),
		dynamicField(),
		sized("category", 101, both, maxCategory, func(p *p) *string { return &p.Category }),
		text("description", 97, both, func(p *p) *string { return &p.Description }),
		object("extra", 1, both, nil, func(p *p) *map[string]any { return &p.Extra }),
		object("internal_info", 18, 0, nodeapi.Mask, func(p *p) *map[string]any { return &p.InternalInfo }),
		flag("is_smartnic", 53, both, false, func(p *p) *bool { return &p.IsSmartNIC }),
		linkField(),
		text("name", portNames, both, func(p *p) *string { return &p.Name }),
		filled(sized("physical_network", 34, both, maxNetwork, func(p *p) *string { return &p.PhysicalNetwork })),
		flag("pxe_enabled", 19, both, true, func(p *p) *bool { return &p.PXEEnabled }),
		sized("vendor", 100, both, maxVendor, func(p *p) *string { return &p.Vendor }),
		needed(identifier("node_uuid", 1, both, func(p *p) *string { return &p.NodeUUID })),
		shown("links", 1, 0, func(dst []byte, v *view[p]) []byte { return appendLinks(dst, v.base, "ports/"+v.of.UUID) }),
		identifier("portgroup_uuid", portgroupOfSince, both, func(p *p) *string { return &p.PortgroupUUID }),
	})
}

// defaultPortFields is what a list shows when it is not asked for more.
func defaultPortFields() []string { return []string{"uuid", "address", "links"} }

// dynamicField is true unless somebody objects: that is how ports are kept
// which were there before the field.
func dynamicField() field[node.Port] {
	f := flag("available_for_dynamic_portgroup", 111, both, true, func(p *node.Port) *bool { return &p.NoDynamicPortgroup })
	set := f.set
	f.show = func(dst []byte, v *view[node.Port]) []byte { return strconv.AppendBool(dst, !v.of.NoDynamicPortgroup) }
	f.get = func(p *node.Port) any { return !p.NoDynamicPortgroup }
	f.set = func(p *node.Port, value any) error {
		err := set(p, value)
		if err == nil {
			p.NoDynamicPortgroup = !p.NoDynamicPortgroup
		}
		return err
	}
	return f
}

// asMAC takes six bytes in hex between colons.
func asMAC(name, s string) (string, error) {
	mac, err := net.ParseMAC(s)
	if err != nil || len(mac) != 6 || len(s) != 17 || !strings.Contains(s, ":") {
		return "", nodeapi.NewFault(http.StatusBadRequest, "Expected valid MAC address for %s: %s", name, s)
	}
	return mac.String(), nil
}

// hardware is a MAC, kept in lower case.
func hardware[T any](name string, since int, u use, at func(*T) *string) field[T] {
	f := text(name, since, u, at)
	f.set = func(t *T, value any) error {
		s, err := asText(value, maxText)
		if err == nil && s != "" {
			s, err = asMAC(name, s)
		}
		if err == nil {
			*at(t) = s
		}
		return err
	}
	return f
}
