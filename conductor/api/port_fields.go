package api

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The lengths of some of Ironic's columns.
const (
	maxVendor   = 32
	maxNetwork  = 64
	maxCategory = 80
)

// portgroupNetworks is the first microversion in which a portgroup has the physical network of its ports.
const portgroupNetworks = 102

// portTable is every field of a port, with its first microversion and its uses.
func portTable() *rest.Table[node.Port] {
	type p = node.Port
	return rest.NewTable("port", []rest.Field[p]{
		rest.UUID("uuid", 1, rest.Creatable, func(p *p) *string { return &p.UUID }),
		rest.Time("created_at", 1, func(p *p) *time.Time { return &p.CreatedAt }),
		rest.Time("updated_at", 1, func(p *p) *time.Time { return p.UpdatedAt }),
		rest.Required(hardware("address", 1, both, func(p *p) *string { return &p.Address })),
		dynamicField(),
		rest.Sized("category", 101, both, maxCategory, func(p *p) *string { return &p.Category }),
		rest.Text("description", 97, both, func(p *p) *string { return &p.Description }),
		rest.Object("extra", 1, both, nil, func(p *p) *map[string]any { return &p.Extra }),
		rest.Object("internal_info", 18, 0, nodeapi.Mask, func(p *p) *map[string]any { return &p.InternalInfo }),
		rest.Flag("is_smartnic", 53, both, false, func(p *p) *bool { return &p.IsSmartNIC }),
		linkField(),
		rest.Text("name", portNames, both, func(p *p) *string { return &p.Name }),
		rest.NonEmpty(rest.Sized("physical_network", 34, both, maxNetwork, func(p *p) *string { return &p.PhysicalNetwork })),
		rest.Flag("pxe_enabled", 19, both, true, func(p *p) *bool { return &p.PXEEnabled }),
		rest.Sized("vendor", 100, both, maxVendor, func(p *p) *string { return &p.Vendor }),
		rest.Required(rest.UUID("node_uuid", 1, both, func(p *p) *string { return &p.NodeUUID })),
		rest.Computed("links", 1, 0, func(dst []byte, v *rest.View[p]) []byte {
			return rest.AppendLinks(dst, v.Base, "ports/"+v.Of.UUID)
		}),
		rest.UUID("portgroup_uuid", portgroupOfSince, both, func(p *p) *string { return &p.PortgroupUUID }),
	})
}

// defaultPortFields are the fields that a list shows by default.
func defaultPortFields() []string { return []string{"uuid", "address", "links"} }

// dynamicField is true by default. It is stored negated, so that it is true for ports from before the field, too.
func dynamicField() rest.Field[node.Port] {
	f := rest.Flag("available_for_dynamic_portgroup", 111, both, true, func(p *node.Port) *bool {
		return &p.NoDynamicPortgroup
	})
	set := f.Set
	f.Show = func(dst []byte, v *rest.View[node.Port]) []byte {
		return strconv.AppendBool(dst, !v.Of.NoDynamicPortgroup)
	}
	f.Get = func(p *node.Port) any { return !p.NoDynamicPortgroup }
	f.Set = func(p *node.Port, value any) error {
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
func hardware[T any](name string, since int, u rest.Use, at func(*T) *string) rest.Field[T] {
	f := rest.Text(name, since, u, at)
	f.Set = func(t *T, value any) error {
		s, err := rest.ReadText(value, rest.MaxText)
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
