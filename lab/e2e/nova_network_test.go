package e2e

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// The machine's port of a switch, as an inspection by LLDP would find it.
const (
	switchID   = "02:00:00:00:00:01"
	switchPort = "Ethernet1/1"
)

// setNetworkInterface has the node get its networks in another way, and waits until Nova offers it again.
func (n *tenancy) setNetworkInterface(ctx context.Context, network string) error {
	err := n.site.Call(ctx, http.MethodPatch, "/v1/nodes/"+n.machine.Name,
		[]nodeapi.Patch{{Op: "replace", Path: "/network_interface", Value: network}}, nil)
	if err != nil {
		return err
	}
	return n.offered(ctx)
}

// useFlat has the node take ports of Neutron, which change no switch.
func (n *tenancy) useFlat(ctx context.Context) (err error) {
	n.networks["tenant"], err = n.cloud.Neutron.Network(ctx, n.tenant.ProviderClient, "tenant", n.site.Network.Subnet)
	if err != nil {
		return err
	}
	return n.setNetworkInterface(ctx, "flat")
}

// bootInNetwork is boot with a network of the tenant's, so that the node gets its port. The operating system reports by
// a config drive.
func (n *tenancy) bootInNetwork(ctx context.Context) error {
	asked, drive := time.Now(), true
	err := n.boot(ctx, servers.CreateOpts{
		Networks: []servers.Network{{UUID: n.networks["tenant"]}}, ConfigDrive: &drive,
		UserData: []byte("#cloud-config\nphone_home:\n  url: " + n.site.PhoneHomeURL + "\n"),
	})
	if err != nil {
		return err
	}
	if err := booted(ctx, n.site, n.machine, n.tiny.ID, serverName, asked); err != nil {
		return err
	}
	n.noteSlowest("boot", asked)
	var vifs struct {
		VIFs []any `json:"vifs"`
	}
	if err := n.site.Call(ctx, http.MethodGet, "/v1/nodes/"+n.machine.Name+"/vifs", nil, &vifs); err != nil {
		return err
	}
	if len(vifs.VIFs) != 1 {
		return fmt.Errorf("the node has the VIFs %v, expected one", vifs.VIFs)
	}
	return n.bound(ctx)
}

// bound wants Neutron to know the tenant's port as the machine's.
func (n *tenancy) bound(ctx context.Context) error {
	node, err := n.site.Node(ctx, n.machine.Name)
	if err != nil {
		return err
	}
	p, err := n.tenantPort(ctx)
	if err != nil {
		return err
	}
	if p.Host != node.UUID || p.VNIC != "baremetal" || p.Device != n.server || p.MAC != n.machine.Spec().NICs[0].MAC {
		return fmt.Errorf("the tenant's port is %+v, expected that of server %s and node %s", p, n.server, node.UUID)
	}
	return nil
}

func (n *tenancy) tenantPort(ctx context.Context) (p openstack.Port, err error) {
	ports, err := n.cloud.Neutron.Ports(ctx, n.admin, n.networks["tenant"])
	if err == nil && len(ports) != 1 {
		err = fmt.Errorf("the tenant's network has the ports %+v, expected one", ports)
	}
	if err != nil {
		return p, err
	}
	return ports[0], nil
}

// recordSwitchPort records the machine's port of the switch in the conductor.
func (n *tenancy) recordSwitchPort(ctx context.Context) error {
	var all struct {
		Ports []struct {
			UUID string `json:"uuid"`
		} `json:"ports"`
	}
	if err := n.site.Call(ctx, http.MethodGet, "/v1/ports?node="+n.machine.Name, nil, &all); err != nil {
		return err
	}
	for _, p := range all.Ports {
		err := n.site.Call(ctx, http.MethodPatch, "/v1/ports/"+p.UUID, []nodeapi.Patch{{Op: "replace",
			Path: "/local_link_connection", Value: map[string]any{"switch_id": switchID, "port_id": switchPort}}}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// useNeutron has Neutron set the machine's networks on its switch.
func (n *tenancy) useNeutron(ctx context.Context) error { return n.setNetworkInterface(ctx, "neutron") }

// bootAtSwitch is bootInNetwork, after which Neutron has the tenant's port at the machine's port of the switch, and the
// ramdisk's ports are gone.
func (n *tenancy) bootAtSwitch(ctx context.Context) error {
	if err := n.bootInNetwork(ctx); err != nil {
		return err
	}
	p, err := n.tenantPort(ctx)
	if err != nil {
		return err
	}
	if len(p.Profile.Links) != 1 || p.Profile.Links[0]["port_id"] != switchPort {
		return fmt.Errorf("the tenant's port is %+v, expected it at %s", p, switchPort)
	}
	return n.portless(ctx, "provisioning", "cleaning")
}

// checkNoPorts checks that no port is left in any network.
func (n *tenancy) checkNoPorts(ctx context.Context) error {
	return n.portless(ctx, "tenant", "provisioning", "cleaning")
}

func (n *tenancy) portless(ctx context.Context, networks ...string) error {
	for _, name := range networks {
		ports, err := n.cloud.Neutron.Ports(ctx, n.admin, n.networks[name])
		if err != nil {
			return err
		}
		if len(ports) > 0 {
			return fmt.Errorf("the network %s still has the ports %+v", name, ports)
		}
	}
	return nil
}
