package openstack

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Ironic is Debian's packages ironic-api and ironic-conductor as one process, with hardware that is not there: for its
// API and its database alone.
type Ironic struct {
	service
	URL string // without the version
}

// StartIronic makes an Ironic in a folder, and starts it. It takes callers with a token of a Keystone, or all if there
// is none. Its database is one of SQLAlchemy's URLs; "" is SQLite.
func StartIronic(ctx context.Context, at Place, dir string, k *Keystone, database string) (*Ironic, error) {
	s, err := newService(at, "ironic", "ironic-conductor", "ironic", dir)
	if err != nil {
		return nil, err
	}
	i := &Ironic{service: s, URL: "http://" + s.address}
	auth, tokens := "noauth", ""
	if k != nil {
		if err := k.makeServiceUser(ctx, "ironic"); err != nil {
			return nil, err
		}
		auth, tokens = "keystone", k.tokens("ironic")+"token_cache_time = -1\n" // a revoked token is refused at once
	}
	if database == "" {
		database = "sqlite:///" + i.file("ironic.sqlite")
	}
	for _, name := range []string{"http", "tftp", "locks", "images", "master", "certificates"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("ironic: %w", err)
		}
	}
	host, port := i.hostPort()
	if err := i.configure(fmt.Sprintf(ironicConf, dir, host, port, auth, database, tokens)); err != nil {
		return nil, err
	}
	if err := i.run(ctx, "ironic-dbsync", "create_schema"); err != nil {
		return nil, err
	}
	return i, i.start(ctx, "ironic", "--config-file", i.config())
}

// ironicConf is its configuration, of a folder, host, port, auth_strategy, database, and tokens.
const ironicConf = `[DEFAULT]
host = test
my_ip = %[2]s
auth_strategy = %[4]s
rpc_transport = none
state_path = %[1]s
pybasedir = /usr/lib/python3/dist-packages/ironic
enabled_hardware_types = fake-hardware,ipmi
enabled_bios_interfaces = fake,no-bios
enabled_boot_interfaces = fake,ipxe
enabled_console_interfaces = fake,no-console
enabled_deploy_interfaces = fake,direct
enabled_inspect_interfaces = fake,no-inspect
enabled_management_interfaces = fake,ipmitool
enabled_network_interfaces = noop
enabled_power_interfaces = fake,ipmitool
enabled_raid_interfaces = fake,no-raid
enabled_rescue_interfaces = fake,no-rescue
enabled_storage_interfaces = fake,noop
enabled_vendor_interfaces = fake,no-vendor
grub_config_path = boot/grub/grub.cfg
[api]
host_ip = %[2]s
port = %[3]s
public_endpoint = http://%[2]s:%[3]s
[service_catalog]
auth_type = none
endpoint_override = http://%[2]s:%[3]s
[inspector]
auth_type = none
endpoint_override = http://%[2]s:%[3]s
[glance]
auth_type = none
[database]
connection = %[5]s
[oslo_concurrency]
lock_path = %[1]s/locks
[dhcp]
dhcp_provider = none
[conductor]
automated_clean = false
deploy_callback_timeout = 0
[agent]
certificates_path = %[1]s/certificates
[deploy]
http_root = %[1]s/http
http_url = http://%[2]s:8088
default_boot_mode = uefi
[pxe]
tftp_root = %[1]s/tftp
tftp_master_path = %[1]s/master
images_path = %[1]s/images
instance_master_path = %[1]s/master
%[6]s`
