package openstack

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/networks"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/ports"
	"github.com/gophercloud/gophercloud/v2/openstack/networking/v2/subnets"
)

// Neutron is Debian's package neutron-server. Its networks are VLANs of the physical network physnet1; no agent and no
// switch is there, so a port of a machine is binding_failed.
type Neutron struct {
	service
	URL string
}

// StartNeutron makes a Neutron in a folder, puts it into the catalogue of a Keystone, and starts it. Without a Keystone
// every caller is an administrator. It takes some ten seconds, half of them for the tables.
func StartNeutron(ctx context.Context, at Place, dir string, k *Keystone) (*Neutron, error) {
	s, err := newService(at, "neutron-server", "neutron-server", "neutron-server", dir)
	if err != nil {
		return nil, err
	}
	n := &Neutron{service: s, URL: "http://" + s.address}
	strategy, tokens := "noauth", ""
	if k != nil {
		strategy, tokens = "keystone", k.tokens("neutron")
		if _, err := k.Register(ctx, "neutron", "network", n.URL); err != nil {
			return nil, err
		}
	}
	host, port := n.hostPort()
	if err := n.configure(fmt.Sprintf(neutronConf, dir, host, port, strategy, tokens)); err != nil {
		return nil, err
	}
	if err := n.finish(n.command(ctx, "python3", "-c", neutronTables, n.file("neutron.sqlite"))); err != nil {
		return nil, fmt.Errorf("tables of Neutron: %w", err)
	}
	if err := n.writeAhead(ctx, "neutron.sqlite"); err != nil {
		return nil, err
	}
	return n, n.start(ctx, "neutron-server", "--config-file", n.config())
}

// Network makes a network with a subnet, as a logged-in user. The gateway is the subnet's first address. It returns the
// network's UUID.
func (n *Neutron) Network(ctx context.Context, of *gophercloud.ProviderClient, name string, subnet netip.Prefix,
) (id string, err error) {
	c := n.client(of)
	made, err := networks.Create(ctx, c, networks.CreateOpts{Name: name}).Extract()
	if err != nil {
		return "", fmt.Errorf("network %s: %w", name, err)
	}
	_, err = subnets.Create(ctx, c, subnets.CreateOpts{NetworkID: made.ID, CIDR: subnet.Masked().String(), IPVersion: 4}).
		Extract()
	if err != nil {
		return "", fmt.Errorf("subnet of the network %s: %w", name, err)
	}
	return made.ID, nil
}

// Port is a port of Neutron's as its driver for a switch sees it.
type Port struct {
	Name    string `json:"name"`
	Network string `json:"network_id"`
	MAC     string `json:"mac_address"`
	Device  string `json:"device_id"`
	Owner   string `json:"device_owner"`
	Host    string `json:"binding:host_id"`
	VNIC    string `json:"binding:vnic_type"`
	Profile struct {
		Links []map[string]any `json:"local_link_information"`
	} `json:"binding:profile"`
}

// Ports are all ports of a network.
func (n *Neutron) Ports(ctx context.Context, admin *gophercloud.ProviderClient, network string) ([]Port, error) {
	pages, err := ports.List(n.client(admin), ports.ListOpts{NetworkID: network}).AllPages(ctx)
	if err != nil {
		return nil, fmt.Errorf("ports of the network %s: %w", network, err)
	}
	var all []Port
	err = ports.ExtractPortsInto(pages, &all)
	return all, err //nolint:wrapcheck // says what it is
}

func (n *Neutron) client(of *gophercloud.ProviderClient) *gophercloud.ServiceClient {
	return serviceClient(of, "network", n.URL+"/v2.0")
}

// neutronTables makes the tables in a file. The migrations of Debian's package change constraints, which SQLite cannot;
// its models make the same tables.
const neutronTables = `import sys, sqlalchemy
from neutron.db.migration.models import head
head.get_metadata().create_all(sqlalchemy.create_engine("sqlite:///" + sys.argv[1]))
`

// neutronConf is its configuration, of a folder, host, port, how callers log in, and tokens.
const neutronConf = `[DEFAULT]
log_file = %[1]s/neutron.log
state_path = %[1]s
bind_host = %[2]s
bind_port = %[3]s
core_plugin = ml2
service_plugins =
auth_strategy = %[4]s
api_workers = 0
rpc_workers = 0
rpc_state_report_workers = 0
transport_url = fake://
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
[database]
connection = sqlite:///%[1]s/neutron.sqlite
[oslo_concurrency]
lock_path = %[1]s
[quotas]
quota_port = -1
quota_network = -1
[ml2]
type_drivers = vlan
tenant_network_types = vlan
mechanism_drivers = openvswitch
extension_drivers =
[ml2_type_vlan]
network_vlan_ranges = physnet1:100:200
%[5]s`
