package neutron_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron"
	"github.com/ferrite-metal/ferrite/conductor/extras/openstack/neutron/neutrontest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

const (
	nodeUUID = "11111111-2222-4333-8444-555555555555"
	mac      = "52:54:00:00:00:01"
)

// life takes a machine through its networks, twice each: the second call changes nothing.
func life(t *testing.T, url string) {
	t.Helper()
	c := cloud{t, url}
	provisioning, cleaning, tenant := c.network("provisioning"), c.network("cleaning"), c.network("tenant")
	vif := c.vif(tenant)
	n := node.Node{UUID: nodeUUID, ProvisionState: node.Deploying}
	const leaf = "02:00:00:00:00:01"
	ports := []node.Port{
		{UUID: "p1", Address: mac, PXEEnabled: true, PhysicalNetwork: "leaf1",
			LocalLinkConnection: object{"switch_id": leaf, "port_id": "e1"}},
		{UUID: "p2", Address: "52:54:00:00:00:02", LocalLinkConnection: object{"switch_id": leaf, "port_id": "e2"}},
	}
	ports[0].SetVIF(vif)
	is := client(t, url, map[string]string{"provisioning": "provisioning", "cleaning": cleaning})
	attach := func(to string) plan.Attached {
		t.Helper()
		var a plan.Attached
		for range 2 {
			var err error
			if a, err = is.Attach(t.Context(), n, to, ports, nil); err != nil {
				t.Fatalf("into %s: %v", to, err)
			}
		}
		return a
	}
	for _, to := range []struct{ name, network string }{{"cleaning", cleaning}, {"provisioning", provisioning}} {
		a := attach(to.name)
		there := c.in(to.network)
		if len(there) != 1 || len(a.Ports) != 1 || a.Ports["p1"] != there[0]["id"] || there[0]["mac_address"] != mac ||
			there[0]["binding:host_id"] != nodeUUID || there[0]["device_owner"] != "baremetal:none" ||
			!strings.Contains(fmt.Sprint(there[0]["binding:profile"]), "port_id:e1") ||
			!strings.Contains(fmt.Sprint(there[0]["binding:profile"]), "physical_network:leaf1") {
			t.Errorf("%s: %v, ports %v", to.name, a, there)
		}
	}
	if left := c.in(cleaning); len(left) != 0 {
		t.Errorf("left in the network for cleaning: %v", left)
	}
	attach(plan.TenantNetwork)
	if p := c.port(vif); p["mac_address"] != mac || p["binding:host_id"] != nodeUUID ||
		p["binding:vnic_type"] != "baremetal" || len(c.in(provisioning)) != 0 {
		t.Errorf("the tenant's port is %v, and %v are in the network for provisioning", p, c.in(provisioning))
	}
	attach(plan.NoNetwork)
	if p := c.port(vif); p["mac_address"] == mac || p["binding:host_id"] != "" {
		t.Errorf("after the tear-down the tenant's port is %v", p)
	}
	c.flat(is, n, vif, ports)
	c.plug(is, n, vif, ports)
	c.grouped(is, n, ports)
	c.do(http.MethodDelete, "ports/"+vif, nil)
	if _, err := is.Attach(t.Context(), n, plan.NoNetwork, ports, nil); err != nil {
		t.Errorf("the VIF is no more: %v", err)
	}
}

// grouped has a ramdisk's port in a security group, and takes it out of all networks.
func (c cloud) grouped(is *neutron.Client, n node.Node, ports []node.Port) {
	t := c.t
	t.Helper()
	made := c.do(http.MethodPost, "security-groups", object{"security_group": object{"name": "ramdisks"}})
	is.SecurityGroups = map[string][]string{"cleaning": {"ramdisks"}}
	first := ""
	for range 2 {
		a, err := is.Attach(t.Context(), n, "cleaning", ports, nil)
		if err != nil {
			t.Fatal(err)
		}
		first = a.Ports["p1"]
	}
	if got, want := fmt.Sprint(c.port(first)["security_groups"]), made["security_group"].(object)["id"]; got !=
		fmt.Sprintf("[%s]", want) {
		t.Errorf("the groups are %s, expected %s", got, want)
	}
	if err := is.Leave(t.Context(), n, ports, nil); err != nil || len(c.in(is.Networks["cleaning"])) > 0 {
		t.Errorf("%v, left is %v", err, c.in(is.Networks["cleaning"]))
	}
}

// flat binds a VIF without information for a switch, and leaves a node without VIFs alone.
func (c cloud) flat(is *neutron.Client, n node.Node, vif string, ports []node.Port) {
	t := c.t
	t.Helper()
	n.Interfaces = map[string]string{"network": "flat"}
	for range 2 {
		if _, err := is.Attach(t.Context(), n, plan.TenantNetwork, ports, nil); err != nil {
			t.Fatal(err)
		}
	}
	if p := c.port(vif); p["mac_address"] != mac || p["binding:host_id"] != nodeUUID ||
		p["binding:vnic_type"] != "baremetal" || strings.Contains(fmt.Sprint(p["binding:profile"]), "e1") {
		t.Errorf("bound by flat: %v", p)
	}
	_, err := is.Attach(t.Context(), n, plan.NoNetwork, ports, nil)
	if p := c.port(vif); err != nil || p["binding:host_id"] != "" || p["mac_address"] == mac {
		t.Errorf("unbound by flat: %v, %v", p, err)
	}
	if _, err := is.Attach(t.Context(), n, plan.TenantNetwork, nil, nil); err != nil {
		t.Errorf("without a VIF: %v", err)
	}
}

// plug attaches a VIF to a node at rest and to one in use, and detaches it.
func (c cloud) plug(is *neutron.Client, n node.Node, vif string, ports []node.Port) {
	t := c.t
	t.Helper()
	n.ProvisionState = node.Available
	if err := is.Plug(t.Context(), n, vif, ports, nil); err != nil || c.port(vif)["mac_address"] != mac ||
		c.port(vif)["binding:host_id"] != "" {
		t.Errorf("attached to an available node: %v, %v", c.port(vif), err)
	}
	n.ProvisionState = node.Active
	if err := is.Plug(t.Context(), n, vif, ports, nil); err != nil || c.port(vif)["binding:host_id"] != nodeUUID {
		t.Errorf("attached to an active node: %v, %v", c.port(vif), err)
	}
	const other = "52:54:00:00:00:09"
	ports = slices.Clone(ports)
	ports[0].Address = other
	if err := is.Readdress(t.Context(), n, vif, ports, nil); err != nil || c.port(vif)["mac_address"] != other ||
		c.port(vif)["binding:host_id"] != nodeUUID {
		t.Errorf("with another address: %v, %v", c.port(vif), err)
	}
	if err := is.Unplug(t.Context(), vif); err != nil || c.port(vif)["binding:host_id"] != "" ||
		c.port(vif)["mac_address"] == mac {
		t.Errorf("detached: %v, %v", c.port(vif), err)
	}
}

// TestAttach: a machine's life in networks.
func TestAttach(t *testing.T) { life(t, newServer(t).URL) }

// TestBond: a portgroup's VIF is bound to the ports of all its members. The switch gets the bond and the physical
// network, as from Ironic 34.
func TestBond(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	vif := c.vif(c.network("tenant"))
	group := node.Portgroup{Record: node.Record{UUID: "g1"}, Name: "bond0", Address: mac, Mode: "802.3ad",
		Properties: object{"miimon": 100, "bond_xmit_hash_policy": "layer3+4"}}
	group.SetVIF(vif)
	ports := []node.Port{
		{UUID: "p1", PortgroupUUID: "g1", Address: mac, LocalLinkConnection: object{"port_id": "e1"},
			PhysicalNetwork: "leaf1"},
		{UUID: "p2", PortgroupUUID: "g1", Address: "52:54:00:00:00:02", LocalLinkConnection: object{"port_id": "e2"}},
	}
	c.network("p")
	is := client(t, s.URL, map[string]string{"provisioning": "p", "cleaning": "p"})
	n := node.Node{UUID: nodeUUID}
	if _, err := is.Attach(t.Context(), n, plan.TenantNetwork, ports, []node.Portgroup{group}); err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(c.port(vif)["binding:profile"])
	const want = `{"local_group_information":{"bond_mode":"802.3ad","bond_properties":{"bond_miimon":100,` +
		`"bond_xmit_hash_policy":"layer3+4"},"id":"g1","name":"bond0"},` +
		`"local_link_information":[{"port_id":"e1"},{"port_id":"e2"}],"physical_network":"leaf1"}`
	if err != nil || string(got) != want {
		t.Errorf("the profile is\n%s, expected\n%s", got, want)
	}
}

// TestRefusals: a refusal of Neutron names the request and quotes its message. A request that cannot succeed is not
// tried again.
func TestRefusals(t *testing.T) {
	wired := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	gone := "33333333-2222-4333-8444-555555555555"
	for name, tc := range map[string]struct {
		cleaning string // the network for it, as it is configured
		to       string
		ports    []node.Port
		status   int
		lasting  bool
		says     string
	}{
		"no such name":        {"none", "cleaning", wired, 0, true, `0 networks with the name "none"`},
		"two of a name":       {"twice", "cleaning", wired, 0, true, "2 networks"},
		"no such network":     {gone, "cleaning", wired, 0, true, "POST /v2.0/ports: 404 Not Found: Network could not"},
		"not configured":      {"one", "inspection", wired, 0, true, "--neutron-networks inspection=NAME"},
		"no port":             {"one", "cleaning", nil, 0, true, "local_link_connection"},
		"no VIF":              {"one", plan.TenantNetwork, wired, 0, true, "no VIF is attached"},
		"Neutron is ill":      {"one", "cleaning", wired, 500, false, "Neutron: GET /v2.0/networks: 500"},
		"its token has ended": {"one", "cleaning", wired, 401, false, "401"},
		"it may not":          {"one", "cleaning", wired, 403, true, "403"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			c := cloud{t, s.URL}
			c.network("one")
			c.network("twice")
			c.network("twice")
			s.Refuse = tc.status
			n := node.Node{UUID: nodeUUID}
			is := client(t, s.URL, map[string]string{"cleaning": tc.cleaning})
			_, err := is.Attach(t.Context(), n, tc.to, tc.ports, nil)
			var lasting interface{ Permanent() bool }
			var refused *node.Refusal
			forGood := errors.As(err, &refused) || errors.As(err, &lasting) && lasting.Permanent()
			if err == nil || forGood != tc.lasting || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%v (for good: %v), expected %q (%v)", err, forGood, tc.says, tc.lasting)
			}
		})
	}
}

// TestReplugged: a port with a moved cable is made anew; a port that was left in a former network is removed.
func TestReplugged(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	before, now := c.network("before"), c.network("now")
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	n := node.Node{UUID: nodeUUID}
	attach := func(network string) string {
		t.Helper()
		is := client(t, s.URL, map[string]string{"cleaning": network, "rescuing": "nowhere"})
		a, err := is.Attach(t.Context(), n, "cleaning", ports, nil)
		if err != nil || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "nowhere") {
			t.Fatalf("%+v, %v", a, err)
		}
		return a.Ports["p1"]
	}
	first := attach("before")
	ports[0].InternalInfo = object{"cleaning_vif_port_id": first}
	ports[0].LocalLinkConnection = object{"port_id": "e2"}
	second := attach("before")
	if second == first || len(c.in(before)) != 1 {
		t.Errorf("the port stays at the switch port of before: %v", c.in(before))
	}
	ports[0].InternalInfo = object{"cleaning_vif_port_id": second}
	if attach("now"); len(c.in(before)) != 0 || len(c.in(now)) != 1 {
		t.Errorf("before %v, now %v", c.in(before), c.in(now))
	}
}

// TestSharedNetwork: a VIF in a network that is also one of ramdisks stays, though it has the machine's address.
func TestSharedNetwork(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	network := c.network("one")
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	ports[0].SetVIF(c.vif(network))
	is := client(t, s.URL, map[string]string{"cleaning": "one", "provisioning": "one"})
	for _, to := range []string{plan.TenantNetwork, plan.TenantNetwork, "cleaning", plan.TenantNetwork} {
		if _, err := is.Attach(t.Context(), node.Node{UUID: nodeUUID}, to, ports, nil); err != nil {
			t.Fatalf("%s: %v", to, err)
		}
	}
	if there := c.in(network); len(there) != 1 || there[0]["id"] != ports[0].VIF() || there[0]["mac_address"] != mac {
		t.Errorf("%v", there)
	}
}

// TestUnboundSwitch: a port that no switch has is a warning, and is made anew at the next request.
func TestUnboundSwitch(t *testing.T) {
	s := newServer(t)
	s.Bound = "binding_failed"
	cloud{t, s.URL}.network("one")
	ports := []node.Port{{UUID: "p1", Address: mac, PXEEnabled: true, LocalLinkConnection: object{"port_id": "e1"}}}
	is := client(t, s.URL, map[string]string{"cleaning": "one", "provisioning": "one"})
	for range 2 {
		a, err := is.Attach(t.Context(), node.Node{UUID: nodeUUID}, "cleaning", ports, nil)
		if err != nil || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "binding_failed") {
			t.Errorf("%+v, %v", a, err)
		}
	}
	others := func(r neutrontest.Request) bool { return r.String() != "POST ports" }
	if made := len(slices.DeleteFunc(s.Requests(), others)); made != 2 || s.Ports() != 1 {
		t.Errorf("%d ports were made, %d are there", made, s.Ports())
	}
}

// TestVIF: the physical networks come from all segments of the VIF's network.
func TestVIF(t *testing.T) {
	s := newServer(t)
	c := cloud{t, s.URL}
	for want, network := range map[string]object{
		"[]":  {"name": "none"},
		"[a]": {"name": "one", "provider:physical_network": "a"},
		"[a b]": {"name": "two", "segments": []any{
			object{"provider:physical_network": "a"}, object{"provider:physical_network": "b"},
		}},
	} {
		id := c.do(http.MethodPost, "networks", object{"network": network})["network"].(object)["id"]
		vif := c.vif(id)
		_, got, err := client(t, s.URL, nil).VIF(t.Context(), vif)
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v: %v, %v", network, got, err)
		}
	}
}

// TestAt: a URL that cannot be Neutron's is refused at the start.
func TestAt(t *testing.T) {
	for _, bad := range []string{"", "neutron:9696", "ftp://h", "http://", "http://u:p@h", "http://h?x=1"} {
		if _, err := neutron.At(bad, http.DefaultTransport); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
