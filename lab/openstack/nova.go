package openstack

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/flavors"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/hypervisors"
)

// Nova is Debian's packages nova-api, nova-scheduler, nova-conductor and nova-compute-ironic: all machines are nodes of
// the bare metal service of a catalogue.
type Nova struct {
	URL string // with the version
	api service
	// beside it, in the order of their start.
	beside    []*service
	placement *Placement
}

// novaPrograms are the programs beside the API, each with its package of Debian's.
var novaPrograms = []struct{ debian, program string }{
	{"nova-conductor", "nova-conductor"}, {"nova-scheduler", "nova-scheduler"}, {"nova-compute-ironic", "nova-compute"},
}

// NovaNeeds are the services that a Nova needs.
type NovaNeeds struct {
	Keystone  *Keystone
	Glance    *Glance
	Placement *Placement
	Database  *MariaDB
	Bus       *RabbitMQ
}

// StartNova makes a Nova in a folder, puts it into the catalogue of a Keystone, and starts it.
func StartNova(ctx context.Context, at Place, dir string, with NovaNeeds) (n *Nova, err error) {
	n = &Nova{placement: with.Placement}
	for _, p := range novaPrograms {
		if err := installed(p.debian, p.program); err != nil {
			return nil, err
		}
	}
	if n.api, err = newService(at, "nova-api", "nova-api", "nova-api", dir); err != nil {
		return nil, err
	}
	n.URL = "http://" + n.api.address + "/v2.1"
	if _, err := with.Keystone.Register(ctx, "nova", "compute", n.URL); err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for _, name := range []string{"nova_api", "nova_cell0", "nova"} {
		if urls[name], err = with.Database.Database(ctx, name, name, servicePassword); err != nil {
			return nil, err
		}
	}
	if err := n.api.configure(n.conf(with, urls)); err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"api_db", "sync"},
		{"cell_v2", "map_cell0", "--database_connection", urls["nova_cell0"]},
		{"db", "sync"},
		{"cell_v2", "create_cell", "--name", "cell1"},
	} {
		if err := n.api.run(ctx, "nova-manage", args...); err != nil {
			return nil, err
		}
	}
	for _, p := range novaPrograms {
		s := &service{name: p.program, at: at, dir: dir}
		if err := s.startUntil(ctx, func() error { return nil }, p.program, "--config-file", n.api.config()); err != nil {
			return nil, errors.Join(err, n.Stop())
		}
		n.beside = append(n.beside, s)
	}
	if err := n.api.start(ctx, "nova-api", "--config-file", n.api.config()); err != nil {
		return nil, errors.Join(err, n.Stop())
	}
	return n, nil
}

// conf is its configuration, of databases by name.
func (n *Nova) conf(with NovaNeeds, urls map[string]string) string {
	k := with.Keystone
	host, port := n.api.hostPort()
	text := fmt.Sprintf(novaConf, n.api.dir, host, port, with.Bus.URL(), urls["nova_api"], urls["nova"],
		with.Glance.URL)
	for _, section := range []string{"placement", "neutron", "ironic"} {
		text += k.login(section, "nova")
	}
	return text + k.tokens("nova")
}

// novaConf is its configuration, of a folder, host, port, bus, the API's database, the cell's, and Glance.
const novaConf = `[DEFAULT]
state_path = %[1]s
my_ip = %[2]s
host = compute-1
transport_url = %[4]s
enabled_apis = osapi_compute
osapi_compute_listen = %[2]s
osapi_compute_listen_port = %[3]s
osapi_compute_workers = 1
compute_driver = ironic.IronicDriver
reserved_host_memory_mb = 0
update_resources_interval = 10
[api]
auth_strategy = keystone
[wsgi]
api_paste_config = /etc/nova/api-paste.ini
[conductor]
workers = 1
[scheduler]
workers = 1
discover_hosts_in_cells_interval = 5
[filter_scheduler]
track_instance_changes = false
[api_database]
connection = %[5]s
[database]
connection = %[6]s
[glance]
api_servers = %[7]s
[oslo_concurrency]
lock_path = %[1]s/locks
`

// novaMicroversion is the last before 2.88. From 2.88 on, the list of hypervisors asks each hypervisor for its uptime,
// and a bare metal service has none.
const novaMicroversion = "2.87"

// Client is a client of the compute API for a logged-in user.
func (n *Nova) Client(of *gophercloud.ProviderClient) *gophercloud.ServiceClient {
	c := serviceClient(of, "compute", n.URL)
	c.Microversion = novaMicroversion
	return c
}

// Flavor makes a flavor for machines of a resource class, and answers with its UUID.
func (n *Nova) Flavor(ctx context.Context, admin *gophercloud.ProviderClient, name, class string,
) (id string, err error) {
	disk := 1
	c := n.Client(admin)
	made, err := flavors.Create(ctx, c, flavors.CreateOpts{Name: name, RAM: 512, VCPUs: 1, Disk: &disk}).Extract()
	if err != nil {
		return "", fmt.Errorf("flavor %s: %w", name, err)
	}
	_, err = flavors.CreateExtraSpecs(ctx, c, made.ID, flavors.ExtraSpecsOpts{"resources:" + class: "1",
		"resources:VCPU": "0", "resources:MEMORY_MB": "0", "resources:DISK_GB": "0"}).Extract()
	if err != nil {
		return "", fmt.Errorf("flavor %s: %w", name, err)
	}
	return made.ID, nil
}

// Offered waits until a machine of a resource class may be had.
func (n *Nova) Offered(ctx context.Context, admin *gophercloud.ProviderClient, class string) error {
	err := gophercloud.WaitFor(ctx, func(ctx context.Context) (bool, error) { return n.offered(ctx, admin, class) })
	if err != nil {
		return fmt.Errorf("Nova offers no machine of the class %s: %w", class, err)
	}
	return nil
}

func (n *Nova) offered(ctx context.Context, admin *gophercloud.ProviderClient, class string) (bool, error) {
	pages, err := hypervisors.List(n.Client(admin), nil).AllPages(ctx)
	if err != nil {
		return false, fmt.Errorf("list hypervisors: %w", err)
	}
	if empty, err := pages.IsEmpty(); err != nil || empty {
		return false, err //nolint:wrapcheck // says what it is
	}
	candidates, err := n.placement.candidates(ctx, admin, class)
	return candidates > 0, err
}

// Stop ends all of it.
func (n *Nova) Stop() error {
	err := n.api.Stop()
	for _, s := range slices.Backward(n.beside) {
		err = errors.Join(err, s.Stop())
	}
	return err
}
