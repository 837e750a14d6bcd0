package neutron_test

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// TestReaddress: a VIF gets another address, which Neutron refuses while it is bound, and is bound again as it was.
func TestReaddress(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	bound, free := c.vif(c.network("tenant")), c.vif(c.network("other"))
	ports := []node.Port{{UUID: "p1", Address: mac, LocalLinkConnection: object{"port_id": "e1"}}}
	ports[0].SetVIF(bound)
	is := client(t, s.URL, map[string]string{"cleaning": "other"})
	if _, err := is.Attach(t.Context(), node.Node{UUID: nodeUUID}, plan.TenantNetwork, ports, nil); err != nil {
		t.Fatal(err)
	}
	before := c.port(bound)
	const other = "52:54:00:00:00:09"
	ports[0].Address = other
	for _, vif := range []string{bound, free, bound} {
		ports[0].SetVIF(vif)
		if err := is.Readdress(t.Context(), node.Node{UUID: nodeUUID}, vif, ports, nil); err != nil {
			t.Fatal(err)
		}
	}
	before["mac_address"] = other
	if got := c.port(bound); !reflect.DeepEqual(got, before) || c.port(free)["mac_address"] != other {
		t.Errorf("the bound one is %v, the other %v", got, c.port(free))
	}
	ports[0].SetVIF(nodeUUID)
	if err := is.Readdress(t.Context(), node.Node{UUID: nodeUUID}, nodeUUID, ports, nil); err == nil ||
		!strings.Contains(err.Error(), "404") {
		t.Errorf("one that is no more: %v", err)
	}
	if err := is.Readdress(t.Context(), node.Node{UUID: nodeUUID}, free, ports, nil); err != nil {
		t.Errorf("one that is detached by now: %v", err)
	}
}

// TestLeave: ports of ramdisks go, wherever they are; VIFs stay bound.
func TestLeave(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	cleaning, special := c.network("cleaning"), c.network("special")
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}},
		{UUID: "p2", Address: "52:54:00:00:00:02", LocalLinkConnection: object{"port_id": "e2"}}}
	ports[1].SetVIF(c.vif(c.network("tenant")))
	is := neutron.New(neutron.Config{Service: client(t, s.URL, nil).Service, Networks: map[string]string{
		"cleaning": "cleaning", "provisioning": "special"}, NodeNetworks: []string{"special"}})
	n := node.Node{UUID: nodeUUID, ProvisionState: node.Active}
	if err := is.Plug(t.Context(), n, ports[1].VIF(), ports, nil); err != nil {
		t.Fatal(err)
	}
	for _, own := range []any{nil, "special"} {
		n.DriverInfo = object{"cleaning_network": own}
		if own != nil { // by a conductor that knows the other one only
			is.Networks = map[string]string{"provisioning": "special"}
		}
		if _, err := is.Attach(t.Context(), n, "cleaning", ports[:1], nil); err != nil {
			t.Fatal(err)
		}
	}
	is.Networks["cleaning"] = "cleaning"
	if there := len(c.in(cleaning)) + len(c.in(special)); there != 2 {
		t.Fatalf("%d ports of ramdisks are there", there)
	}
	if err := is.Leave(t.Context(), n, ports, nil); err != nil || len(c.in(cleaning))+len(c.in(special)) > 0 ||
		c.port(ports[1].VIF())["binding:host_id"] != nodeUUID {
		t.Errorf("%v: %v, %v, VIF %v", err, c.in(cleaning), c.in(special), c.port(ports[1].VIF()))
	}
}

// TestOwnNetwork: a node's ramdisk is in a network that the node names, where it is one of those that it may name. The
// ports have the security groups of the activity, and are made anew when those change.
func TestOwnNetwork(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	cleaning, special := c.network("cleaning"), c.network("special")
	c.do(http.MethodPost, "security-groups", object{"security_group": object{"name": "ramdisks"}})
	conf := neutron.Config{Service: client(t, s.URL, nil).Service, Networks: map[string]string{"cleaning": "cleaning"},
		NodeNetworks: []string{"special", special}, SecurityGroups: map[string][]string{"cleaning": {"ramdisks", nodeUUID}}}
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	for _, tc := range []struct {
		own  any
		says string // "" where it is taken
		in   string
	}{
		{nil, "", cleaning}, {"special", "", special}, {special, "", special},
		{"cleaning", "driver_info/cleaning_network", special}, {1, "driver_info/cleaning_network", special},
		{"", "driver_info/cleaning_network", special},
	} {
		n := node.Node{UUID: nodeUUID, DriverInfo: object{"cleaning_network": tc.own}}
		_, err := neutron.New(conf).Attach(t.Context(), n, "cleaning", ports, nil)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%v: %v, expected %q", tc.own, err, tc.says)
		}
		if len(c.in(tc.in)) != 1 || len(c.in(special))+len(c.in(cleaning)) != 1 {
			t.Errorf("%v: %v, %v", tc.own, c.in(special), c.in(cleaning))
		}
	}
	made := c.in(special)[0]
	if groups, _ := made["security_groups"].([]any); len(groups) != 2 || groups[1] != nodeUUID {
		t.Errorf("security groups: %v", groups)
	}
	n := node.Node{UUID: nodeUUID, DriverInfo: object{"cleaning_network": "special"}}
	for _, groups := range [][]string{{nodeUUID, "ramdisks"}, {nodeUUID}} {
		conf.SecurityGroups = map[string][]string{"cleaning": groups}
		if _, err := neutron.New(conf).Attach(t.Context(), n, "cleaning", ports, nil); err != nil {
			t.Fatal(err)
		}
		if is := c.in(special); len(is) != 1 || (is[0]["id"] == made["id"]) != (len(groups) == 2) {
			t.Errorf("with %v: %v", groups, is)
		}
	}
	conf.SecurityGroups = map[string][]string{"cleaning": {"none"}}
	if _, err := neutron.New(conf).Attach(t.Context(), n, "cleaning", ports, nil); err == nil ||
		!strings.Contains(err.Error(), `0 security groups with the name "none"`) {
		t.Errorf("no such group: %v", err)
	}
}
