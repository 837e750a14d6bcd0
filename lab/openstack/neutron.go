package openstack

import (
	"context"
	"fmt"
)

// Neutron is Debian's package neutron-server without Keystone: whoever asks is an administrator. Its networks are VLANs
// of the physical network physnet1; no agent and no switch is there, so a port of a machine is binding_failed.
type Neutron struct {
	service
	URL string
}

// StartNeutron makes a Neutron in a folder, and starts it. It takes some ten seconds, half of them for the tables.
func StartNeutron(ctx context.Context, at Place, dir string) (*Neutron, error) {
	s, err := newService(at, "neutron-server", "neutron-server", dir)
	if err != nil {
		return nil, err
	}
	n := &Neutron{service: s, URL: "http://" + s.address}
	host, port := n.hostPort()
	if err := n.configure(fmt.Sprintf(neutronConf, dir, host, port)); err != nil {
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

// neutronTables makes the tables in a file. The migrations of Debian's package change constraints, which SQLite cannot;
// its models make the same tables.
const neutronTables = `import sys, sqlalchemy
from neutron.db.migration.models import head
head.get_metadata().create_all(sqlalchemy.create_engine("sqlite:///" + sys.argv[1]))
`

// neutronConf is its configuration, of a folder, a host and a port.
const neutronConf = `[DEFAULT]
log_file = %[1]s/neutron.log
state_path = %[1]s
bind_host = %[2]s
bind_port = %[3]s
core_plugin = ml2
service_plugins =
auth_strategy = noauth
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
`
