package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/openstack"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// tenancy is a machine that OpenStack's Nova manages, by way of our conductor.
type tenancy struct {
	*bed
	cloud    *openstack.Cloud
	networks map[string]string // UUIDs of Neutron by name
	site     *site.Site
	machine  *lab.Machine
	admin    *gophercloud.ProviderClient // of the whole cloud
	tenant   *gophercloud.ServiceClient  // of Nova, as a user of a project
	flavor   string
	images   map[string]string // UUIDs of Glance by the images' IDs
	server   string            // UUID of the instance
	took     map[string]time.Duration
}

const (
	serverName = "metal-server"
	// resourceClass is the node's, as Placement calls it.
	resourceClass = "CUSTOM_BAREMETAL"
)

// novaLife: a user of a cloud boots a machine by Nova, has it rebuilt, rescued and deleted, first without a network of
// Neutron, then with one.
func novaLife(ctx context.Context, b *bed) (err error) {
	n := &tenancy{bed: b, images: map[string]string{}, networks: map[string]string{}, took: map[string]time.Duration{}}
	spec := machine("metal-1", qemu.UEFI)
	s, done, err := b.siteOf(ctx, []qemu.Spec{spec}, site.Config{Serve: []string{"--log-level", "debug"}, Before: n.start})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.cloud.Stop(), done()) }()
	n.site, n.machine = s, s.Machines[0]
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"enroll", n.enroll}, {"upload", n.upload}, {"prepare the tenant", n.prepareTenant},
		{"boot without a network", n.bootAlone}, {"power", n.power}, {"delete without a network", n.undeploy},
		{"flat", n.useFlat}, {"boot", n.bootInNetwork}, {"reboot", n.reboot}, {"rebuild", n.rebuild},
		{"rescue", n.rescue}, {"unrescue", n.unrescue}, {"delete", n.undeploy},
		{"neutron", n.useNeutron}, {"boot at a switch", n.bootAtSwitch}, {"delete at a switch", n.undeploy},
		{"offer", n.offered}, {"delete amid a boot", n.deleteAmidBoot}, {"check ports", n.checkNoPorts},
	} {
		if err := part.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		b.lap(part.name)
	}
	fmt.Printf("interop-nova: ok boot %.1f s, rebuild %.1f s, rescue %.1f s, delete %.1f s\n", n.took["boot"].Seconds(),
		n.took["rebuild"].Seconds(), n.took["rescue"].Seconds(), n.took["delete"].Seconds())
	return nil
}

// start starts the cloud, with our conductor in its catalogue.
func (n *tenancy) start(ctx context.Context, l *lab.Lab) (serve []string, access site.Access, err error) {
	if n.cloud, err = openstack.StartCloud(ctx, l.Network, filepath.Join(n.dir, "openstack")); err != nil {
		return nil, access, err
	}
	k := n.cloud.Keystone
	url := fmt.Sprintf("http://%s:%d", l.Network.Gateway, site.APIPort)
	password, err := k.Register(ctx, "ironic", "baremetal", url)
	if err != nil {
		return nil, access, err
	}
	file := filepath.Join(n.dir, "keystone-password")
	if err := os.WriteFile(file, []byte(password), 0o600); err != nil {
		return nil, access, err
	}
	if n.admin, err = k.LogIn(ctx, "admin", openstack.AdminPassword, "admin"); err != nil {
		return nil, access, err
	}
	for _, name := range []string{"provisioning", "cleaning"} {
		if n.networks[name], err = n.cloud.Neutron.Network(ctx, n.admin, name, l.Network.Subnet); err != nil {
			return nil, access, err
		}
	}
	n.lap("cloud")
	return []string{"--auth", "keystone", "--keystone-url", k.URL, "--keystone-password-file", file,
			"--neutron-networks", "provisioning=provisioning,cleaning=cleaning"},
		site.Access{Token: n.admin.Token}, nil
}

// enroll makes a node available that Nova may take.
func (n *tenancy) enroll(ctx context.Context) error {
	more := map[string]any{"resource_class": "baremetal", "rescue_interface": "agent", "network_interface": "noop"}
	if _, err := n.site.Enroll(ctx, n.machine, more); err != nil {
		return err
	}
	if err := n.recordSwitchPort(ctx); err != nil {
		return err
	}
	for _, verb := range [][2]string{{"manage", "manageable"}, {"inspect", "manageable"}, {"provide", "available"}} {
		if _, err := n.site.Ask(ctx, n.machine.Name, verb[0], verb[1]); err != nil {
			return err
		}
	}
	return nil
}

// upload gives Glance both images, which everybody may read.
func (n *tenancy) upload(ctx context.Context) error {
	for format, of := range map[string]struct{ id, file string }{
		"raw": {n.tiny.ID, n.tiny.Raw}, "qcow2": {n.other.ID, n.other.Qcow2},
	} {
		body, err := os.ReadFile(of.file)
		if err != nil {
			return err
		}
		n.images[of.id], err = n.cloud.Glance.Create(ctx, map[string]any{"name": of.id, "disk_format": format,
			"container_format": "bare", "visibility": "public"}, body)
		if err != nil {
			return err
		}
	}
	return nil
}

// prepareTenant makes a flavor for the machine and a user, and waits until Nova offers the machine.
func (n *tenancy) prepareTenant(ctx context.Context) error {
	k := n.cloud.Keystone
	var err error
	if n.flavor, err = n.cloud.Nova.Flavor(ctx, n.admin, "metal", resourceClass); err != nil {
		return err
	}
	if err := n.offered(ctx); err != nil {
		return err
	}
	identity, err := k.Admin(ctx)
	if err != nil {
		return err
	}
	if _, err := k.Grant(ctx, identity, "tenant", "tenant-password", "blue", "member"); err != nil {
		return err
	}
	tenant, err := k.LogIn(ctx, "tenant", "tenant-password", "blue")
	if err != nil {
		return err
	}
	n.tenant = n.cloud.Nova.Client(tenant)
	return nil
}

// boot makes a server, and waits until Nova calls it active.
func (n *tenancy) boot(ctx context.Context, opts servers.CreateOpts) error {
	if err := n.create(ctx, opts); err != nil {
		return err
	}
	return n.becomes(ctx, "ACTIVE")
}

func (n *tenancy) create(ctx context.Context, opts servers.CreateOpts) error {
	opts.Name, opts.ImageRef, opts.FlavorRef = serverName, n.images[n.tiny.ID], n.flavor
	made, err := servers.Create(ctx, n.tenant, opts, nil).Extract()
	if err != nil {
		return err
	}
	n.server = made.ID
	return nil
}

// bootAlone is boot without a network of Neutron (--nic none), and so without a config drive: Nova 26 cannot make one
// for such a machine.
func (n *tenancy) bootAlone(ctx context.Context) error {
	asked := time.Now()
	if err := n.boot(ctx, servers.CreateOpts{Networks: "none"}); err != nil {
		return err
	}
	if err := osIsUp(ctx, n.machine, 0); err != nil {
		return err
	}
	n.noteSlowest("boot", asked)
	return nil
}

// power is switched by an operator, and Nova takes it over from our conductor's word: by itself it would look in ten
// minutes, and stop the server.
func (n *tenancy) power(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := n.commands(ctx, n.site, "node power off "+n.machine.Name+" --wait"); err != nil {
		return err
	}
	if err := n.becomes(ctx, "SHUTOFF"); err != nil {
		return err
	}
	system := starts(n.machine)
	if err := servers.Start(ctx, n.tenant, n.server).ExtractErr(); err != nil {
		return err
	}
	if err := n.becomes(ctx, "ACTIVE"); err != nil {
		return err
	}
	return osIsUp(ctx, n.machine, system)
}

// reboot is a hard one: the power goes off and on.
func (n *tenancy) reboot(ctx context.Context) error {
	asked := time.Now()
	err := servers.Reboot(ctx, n.tenant, n.server, servers.RebootOpts{Type: servers.HardReboot}).ExtractErr()
	if err != nil {
		return err
	}
	if err := booted(ctx, n.site, n.machine, n.tiny.ID, serverName, asked); err != nil {
		return err
	}
	return n.becomes(ctx, "ACTIVE")
}

func (n *tenancy) rebuild(ctx context.Context) error {
	asked := time.Now()
	_, err := servers.Rebuild(ctx, n.tenant, n.server, servers.RebuildOpts{ImageRef: n.images[n.other.ID]}).Extract()
	if err != nil {
		return err
	}
	if err := n.becomes(ctx, "ACTIVE"); err != nil {
		return err
	}
	if err := booted(ctx, n.site, n.machine, n.other.ID, serverName, asked); err != nil {
		return err
	}
	n.noteSlowest("rebuild", asked)
	return nil
}

func (n *tenancy) rescue(ctx context.Context) error {
	asked := time.Now()
	password, err := servers.Rescue(ctx, n.tenant, n.server, servers.RescueOpts{AdminPass: "let-me-in-please"}).Extract()
	if err != nil {
		return err
	}
	if err := n.becomes(ctx, "RESCUE"); err != nil {
		return err
	}
	address, err := leased(ctx, n.site, n.machine)
	if err != nil {
		return err
	}
	if _, err := logsIn(ctx, n.site, address, password); err != nil {
		return err
	}
	n.noteSlowest("rescue", asked)
	return nil
}

func (n *tenancy) unrescue(ctx context.Context) error {
	ramdisk := starts(n.machine)
	if err := servers.Unrescue(ctx, n.tenant, n.server).ExtractErr(); err != nil {
		return err
	}
	if err := n.becomes(ctx, "ACTIVE"); err != nil {
		return err
	}
	return osIsUp(ctx, n.machine, ramdisk)
}

// undeploy has Nova delete the server, and waits until the machine may be another's.
func (n *tenancy) undeploy(ctx context.Context) error {
	asked := time.Now()
	if err := servers.Delete(ctx, n.tenant, n.server).ExtractErr(); err != nil {
		return err
	}
	for {
		_, err := servers.Get(ctx, n.tenant, n.server).Extract()
		if gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
			break
		}
		if err := errors.Join(err, wait(ctx, time.Second)); err != nil {
			return err
		}
	}
	if _, err := n.site.Until(ctx, n.machine.Name, "available"); err != nil {
		return err
	}
	n.noteSlowest("delete", asked)
	var node struct {
		Instance     string         `json:"instance_uuid"`
		InstanceInfo map[string]any `json:"instance_info"`
	}
	if err := n.site.Call(ctx, http.MethodGet, "/v1/nodes/"+n.machine.Name, nil, &node); err != nil {
		return err
	}
	if node.Instance != "" || len(node.InstanceInfo) > 0 {
		return fmt.Errorf("the node still has the instance %q with %v", node.Instance, node.InstanceInfo)
	}
	return bootsNothing(n.machine)
}

// offered waits until Nova offers the machine.
func (n *tenancy) offered(ctx context.Context) error {
	return n.cloud.Nova.Offered(ctx, n.admin, resourceClass)
}

// deleteAmidBoot has Nova delete a server while the machine is being deployed.
func (n *tenancy) deleteAmidBoot(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	err := n.create(ctx, servers.CreateOpts{Networks: []servers.Network{{UUID: n.networks["tenant"]}}})
	if err != nil {
		return err
	}
	for {
		node, err := n.site.Node(ctx, n.machine.Name)
		if err != nil {
			return err
		}
		if node.ProvisionState == "wait call-back" {
			return n.undeploy(ctx)
		}
		if err := wait(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("the node is %s, and not deployed: %w", node.ProvisionState, err)
		}
	}
}

// noteSlowest notes how long a part took, if it is the slowest of its kind.
func (n *tenancy) noteSlowest(part string, asked time.Time) {
	n.took[part] = max(n.took[part], time.Since(asked))
}

// becomes waits until the server has a status.
func (n *tenancy) becomes(ctx context.Context, status string) error {
	for {
		server, err := servers.Get(ctx, n.tenant, n.server).Extract()
		switch {
		case err != nil:
			return err
		case server.Status == status:
			return nil
		case server.Status == "ERROR":
			return fmt.Errorf("the server is in ERROR, not %s: %s; Nova's logs are in its folder", status, server.Fault.Message)
		}
		if err := wait(ctx, time.Second); err != nil {
			return fmt.Errorf("the server is %s, not %s: %w", server.Status, status, err)
		}
	}
}

// wait passes some time.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
