package api

import (
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// portTable is every field of a port with the microversion it appears in and
// what may be done with it.
func portTable() *table[node.Port] {
	type p = node.Port
	return newTable("port", []field[p]{
		identifier("uuid", 1, creatable, func(p *p) *string { return &p.UUID }),
		instant("created_at", 1, func(p *p) *time.Time { return &p.CreatedAt }),
		instant("updated_at", 1, func(p *p) *time.Time { return p.UpdatedAt }),
		addressField(),
		text("category", 101, both, func(p *p) *string { return &p.Category }),
		text("description", 97, both, func(p *p) *string { return &p.Description }),
		object("extra", 1, both, nil, func(p *p) *map[string]any { return &p.Extra }),
		object("internal_info", 18, 0, nodeapi.Mask, func(p *p) *map[string]any { return &p.InternalInfo }),
		flag("is_smartnic", 53, both, false, func(p *p) *bool { return &p.IsSmartNIC }),
		linkField(),
		text("name", 88, both, func(p *p) *string { return &p.Name }),
		text("physical_network", 34, both, func(p *p) *string { return &p.PhysicalNetwork }),
		flag("pxe_enabled", 19, both, true, func(p *p) *bool { return &p.PXEEnabled }),
		text("vendor", 100, both, func(p *p) *string { return &p.Vendor }),
		identifier("node_uuid", 1, both, func(p *p) *string { return &p.NodeUUID }),
		shown("links", 1, 0, func(dst []byte, v *view[p]) []byte { return appendLinks(dst, v.base, "ports/"+v.of.UUID) }),
		identifier("portgroup_uuid", 24, both, func(p *p) *string { return &p.PortgroupUUID }),
	})
}

// defaultPortFields is what a list shows when it is not asked for more.
func defaultPortFields() []string { return []string{"uuid", "address", "links"} }

// addressField is the MAC, kept in lower case.
func addressField() field[node.Port] {
	f := text("address", 1, both, func(p *node.Port) *string { return &p.Address })
	f.set = func(p *node.Port, value any) error {
		if value == nil {
			return &schemaError{"'address' is a required property"}
		}
		s, err := asText(value, maxText)
		if err != nil {
			return err
		}
		p.Address, err = asMAC("address", s)
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

// linkField is where the port is plugged in. A switch needs to be told with
// its port; the other way round is a smart NIC's.
func linkField() field[node.Port] {
	f := object("local_link_connection", 19, both, nil, func(p *node.Port) *map[string]any { return &p.LocalLinkConnection })
	set := f.set
	f.set = func(p *node.Port, value any) error {
		if m, _ := value.(map[string]any); len(m) > 0 {
			for _, pair := range [][2]string{{"switch_id", "port_id"}, {"hostname", "port_id"}} {
				if m[pair[0]] != nil && m[pair[1]] == nil {
					return badRequest("Schema error for local_link_connection: %s is not valid under any of the given schemas. Possible root cause: '%s' is a required property", python(m), pair[1])
				}
			}
		}
		return set(p, value)
	}
	return f
}
