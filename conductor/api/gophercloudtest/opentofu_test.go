package gophercloudtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
	inspector "github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/noauth"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetalintrospection/v1/introspection"
)

// tofu sends the calls of the two providers for OpenTofu and Terraform that know Ironic, in their order:
// openshift-metal3/terraform-provider-ironic of April 2026 and metal3-community/terraform-provider-ironic of September
// 2025. docs/operate/opentofu.md names each call that fails.
type tofu struct {
	*conductor
	*gophercloud.ServiceClient
	ctx context.Context //nolint:containedctx // of one test
}

func newTofu(t *testing.T, microversion string) tofu {
	c := newConductor(t)
	client := c.client()
	client.Microversion = microversion
	return tofu{c, client, t.Context()}
}

// goTo drives a node as both providers do: read it, and send the next verb of its state until it is where it shall be.
func (p tofu) goTo(id string, target nodes.TargetProvisionState, opts nodes.ProvisionStateOpts) {
	p.t.Helper()
	ends := map[nodes.TargetProvisionState][]nodes.ProvisionState{
		nodes.TargetManage: {nodes.Manageable}, nodes.TargetProvide: {nodes.Available}, nodes.TargetActive: {nodes.Active},
		nodes.TargetDeleted: {nodes.Available, nodes.Manageable, nodes.Enroll},
	}[target]
	verbs := map[nodes.ProvisionState]nodes.TargetProvisionState{
		nodes.Enroll: nodes.TargetManage, nodes.Manageable: nodes.TargetProvide,
		nodes.Available: nodes.TargetActive, nodes.Active: nodes.TargetDeleted,
	}
	if target == nodes.TargetManage {
		verbs[nodes.Available] = nodes.TargetManage
	}
	for range 6 {
		n, err := nodes.Get(p.ctx, p.ServiceClient, id).Extract()
		if err != nil {
			p.t.Fatal(err)
		}
		state := nodes.ProvisionState(n.ProvisionState)
		if slices.Contains(ends, state) {
			return
		}
		opts.Target = verbs[state]
		if opts.Target != target {
			p.provision(p.ServiceClient, id, nodes.ProvisionStateOpts{Target: opts.Target})
		} else {
			p.provision(p.ServiceClient, id, opts)
		}
	}
	p.t.Fatalf("node %s does not come to %s", id, target)
}

// update patches a node, one operation a call.
func (p tofu) update(id string, ops ...nodes.UpdateOperation) (n *nodes.Node) {
	p.t.Helper()
	for _, op := range ops {
		var err error
		if n, err = nodes.Update(p.ctx, p.ServiceClient, id, nodes.UpdateOpts{op}).Extract(); err != nil {
			p.t.Fatalf("%s %s: %v", op.Op, op.Path, err)
		}
	}
	return n
}

// fails expects a status of a call that does not work.
func (p tofu) fails(what string, err error, status int) {
	p.t.Helper()
	if !gophercloud.ResponseCodeIs(err, status) {
		p.t.Errorf("%s: %v, expected status %d", what, err, status)
	}
}

// allocate creates, reads and deletes an allocation, of which the node must be id.
func (p tofu) allocate(id string) {
	p.t.Helper()
	a, err := allocations.Create(p.ctx, p.ServiceClient, allocations.CreateOpts{Name: "master-0",
		ResourceClass: "baremetal", CandidateNodes: []string{id}, Traits: []string{}, Extra: map[string]string{}}).Extract()
	if err != nil {
		p.t.Fatal(err)
	}
	p.Allocated(a.UUID)
	if a, err = allocations.Get(p.ctx, p.ServiceClient, a.UUID).Extract(); err != nil || a.State != "active" ||
		a.NodeUUID != id {
		p.t.Errorf("allocation %+v: %v", a, err)
	}
	if err := allocations.Delete(p.ctx, p.ServiceClient, a.UUID).ExtractErr(); err != nil {
		p.t.Error(err)
	}
	_, err = allocations.Get(p.ctx, p.ServiceClient, a.UUID).Extract()
	p.fails("a deleted allocation", err, http.StatusNotFound)
}

// TestOpenTofuOpenShift: the resources of openshift-metal3's provider, at its default microversion.
func TestOpenTofuOpenShift(t *testing.T) {
	p := newTofu(t, "1.52")
	up, err := p.Client().Get(p.URL + "/v1") // it waits for the API, then for drivers
	if err != nil || up.StatusCode != http.StatusOK {
		t.Fatalf("the API answers %+v: %v", up, err)
	}
	up.Body.Close()
	page, err := drivers.ListDrivers(p.ServiceClient, drivers.ListDriversOpts{}).AllPages(p.ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := drivers.ExtractDrivers(page); err != nil || len(all) == 0 {
		t.Errorf("drivers %v: %v", all, err)
	}

	// ironic_node_v1; all values of maps are text, and a root device without hints is sent as {}
	properties := map[string]any{"local_gb": "50", "cpu_arch": "x86_64", "root_device": map[string]any{}}
	n, err := nodes.Create(p.ctx, p.ServiceClient, nodes.CreateOpts{Name: "master-0", Driver: "fake-hardware",
		DriverInfo: map[string]any{"ipmi_password": "secret"}, Properties: properties, ResourceClass: "baremetal",
		BootInterface: "fake", InspectInterface: "fake", Extra: map[string]any{"rack": "7"}}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	on, off := true, false
	port := ports.CreateOpts{NodeUUID: n.UUID, Address: "00:bb:4a:d0:5e:38", PXEEnabled: &on}
	if _, err := ports.Create(p.ctx, p.ServiceClient, port).Extract(); err != nil {
		t.Fatal(err)
	}
	p.goTo(n.UUID, nodes.TargetManage, nodes.ProvisionStateOpts{})
	p.provision(p.ServiceClient, n.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetInspect})
	p.goTo(n.UUID, nodes.TargetProvide, nodes.ProvisionStateOpts{})
	power := nodes.PowerStateOpts{Target: nodes.PowerOn, Timeout: 30}
	if err := nodes.ChangePowerState(p.ctx, p.ServiceClient, n.UUID, power).ExtractErr(); err != nil {
		t.Error(err)
	}
	p.Settle(n.UUID)
	properties["root_device"] = map[string]any{"name": "/dev/sda"}
	n = p.update(n.UUID, nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/name", Value: "master-1"},
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/owner", Value: "me"},
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/properties", Value: properties})
	if n, err = nodes.Get(p.ctx, p.ServiceClient, n.UUID).Extract(); err != nil || n.Name != "master-1" ||
		n.Owner != "me" || n.DriverInfo["ipmi_password"] != "******" || n.Extra["rack"] != "7" ||
		n.PowerState != "power on" || n.Properties["local_gb"] != "50" {
		t.Errorf("node %+v: %v", n, err)
	}

	// ironic_port_v1 sends is_smartnic, which is of 1.53; its update and delete send nothing
	port.Address, port.IsSmartNIC = "00:bb:4a:d0:5e:39", &off
	_, err = ports.Create(p.ctx, p.ServiceClient, port).Extract()
	p.fails("ironic_port_v1 at 1.52", err, http.StatusNotAcceptable)
	p.Microversion = "1.53"
	made, err := ports.Create(p.ctx, p.ServiceClient, port).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ports.Get(p.ctx, p.ServiceClient, made.UUID).Extract(); err != nil || got.Address != port.Address {
		t.Errorf("port %+v: %v", got, err)
	}
	p.Microversion = "1.52"
	p.allocate(n.UUID)

	// ironic_deployment; below 1.56 the provider makes an ISO as config drive
	iso := make([]byte, 40<<10)
	copy(iso[32768:], "\x01CD001")
	var drive bytes.Buffer
	z := gzip.NewWriter(&drive)
	if _, err := z.Write(iso); err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	p.update(n.UUID, nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info",
		Value: map[string]any{"image_source": "http://images/os.raw", "image_checksum": "aa", "root_gb": "25"}},
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info/capabilities",
			Value: map[string]string{"boot_option": "local"}})
	p.goTo(n.UUID, nodes.TargetActive, nodes.ProvisionStateOpts{
		ConfigDrive: base64.StdEncoding.EncodeToString(drive.Bytes())})
	p.goTo(n.UUID, nodes.TargetDeleted, nodes.ProvisionStateOpts{})
	p.Microversion = "1.56"
	p.update(n.UUID, nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info",
		Value: map[string]any{"image_source": "http://images/os.raw", "image_checksum": "aa"}})
	p.goTo(n.UUID, nodes.TargetActive, nodes.ProvisionStateOpts{ConfigDrive: &nodes.ConfigDrive{UserData: "{}"}})
	p.goTo(n.UUID, nodes.TargetDeleted, nodes.ProvisionStateOpts{})
	if err := nodes.Delete(p.ctx, p.ServiceClient, n.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}

	// the data source ironic_introspection asks ironic-inspector
	inspect, err := inspector.NewBareMetalIntrospectionNoAuth(inspector.EndpointOpts{
		IronicInspectorEndpoint: p.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = introspection.GetIntrospectionStatus(p.ctx, inspect, n.UUID).Extract()
	p.fails("ironic_introspection", err, http.StatusNotFound)
}

// TestOpenTofuCommunity: the resources of metal3-community's provider, at its default microversion.
func TestOpenTofuCommunity(t *testing.T) {
	p := newTofu(t, "1.99")
	versions, err := apiversions.List(p.ctx, p.ServiceClient).Extract()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions.Versions {
		if v.ID == "v1" && v.Status != "CURRENT" {
			t.Errorf("version %+v", v)
		}
	}

	// ironic_node; its maps are sent key by key
	clean := true
	n, err := nodes.Create(p.ctx, p.ServiceClient, nodes.CreateOpts{Name: "site~master-0", Driver: "fake-hardware",
		DriverInfo: map[string]any{"a": "1", "b": "2"}, Properties: map[string]any{"cpu_arch": "x86_64", "cpus": 8},
		AutomatedClean: &clean, BootInterface: "fake", BIOSInterface: "fake"}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	p.goTo(n.UUID, nodes.TargetManage, nodes.ProvisionStateOpts{})
	ops := nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/name", Value: "site~master-1"},
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/driver_info/a", Value: "3"},
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/driver_info/c", Value: "4"},
		nodes.UpdateOperation{Op: nodes.RemoveOp, Path: "/driver_info/b"},
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/bios_interface", Value: "no-bios"},
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/resource_class", Value: "baremetal"},
	}
	if n, err = nodes.Update(p.ctx, p.ServiceClient, n.UUID, ops).Extract(); err != nil {
		t.Fatal(err)
	}
	group := p.portgroup(n.UUID)
	p.port(n.UUID, group)
	if _, err := p.Delete(p.ctx, p.ServiceURL("portgroups", group), nil); err != nil {
		t.Error(err)
	}
	p.goTo(n.UUID, nodes.TargetProvide, nodes.ProvisionStateOpts{})
	if n, err = nodes.Get(p.ctx, p.ServiceClient, n.UUID).Extract(); err != nil || n.Name != "site~master-1" ||
		!maps.Equal(n.DriverInfo, map[string]any{"a": "3", "c": "4"}) || n.BIOSInterface != "no-bios" {
		t.Errorf("node %+v: %v", n, err)
	}
	err = nodes.ChangeProvisionState(p.ctx, p.ServiceClient, n.UUID,
		nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{}}).ExtractErr()
	p.fails("clean = true without steps", err, http.StatusBadRequest)

	p.allocate(n.UUID)

	// ironic_deployment
	_, err = nodes.Update(p.ctx, p.ServiceClient, n.UUID, nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/deploy_steps", Value: []nodes.DeployStep{}}}).Extract()
	p.fails("deploy_steps together with fixed_ips", err, http.StatusBadRequest)
	n = p.update(n.UUID, nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info/image_source",
		Value: "http://images/os.raw"},
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/instance_info/fixed_ips",
			Value: []any{map[string]any{"ip_address": "10.0.0.7"}}})
	p.goTo(n.UUID, nodes.TargetActive, nodes.ProvisionStateOpts{ConfigDrive: &nodes.ConfigDrive{
		MetaData: map[string]any{"hostname": "m1"}}})
	p.goTo(n.UUID, nodes.TargetDeleted, nodes.ProvisionStateOpts{})
	p.fails("ironic_inventory before an inspection", nodes.GetInventory(p.ctx, p.ServiceClient, n.UUID).Err,
		http.StatusNotFound)
	if err := nodes.Delete(p.ctx, p.ServiceClient, n.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}
}

// portgroup is ironic_port_group: this release of the library has no call for it.
func (p tofu) portgroup(id string) (uuid string) {
	p.t.Helper()
	var made, got struct{ UUID, Mode string }
	body := map[string]any{"node_uuid": id, "name": "bond0", "address": "00:bb:4a:d0:5e:40", "mode": "802.3ad",
		"extra": map[string]string{"a": "b"}}
	if _, err := p.Post(p.ctx, p.ServiceURL("portgroups"), body, &made,
		&gophercloud.RequestOpts{OkCodes: []int{http.StatusCreated}}); err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.Get(p.ctx, p.ServiceURL("portgroups", made.UUID), &got, nil); err != nil || got.Mode != "802.3ad" {
		p.t.Errorf("port group %+v: %v", got, err)
	}
	return made.UUID
}

// port is ironic_port, with all changes that it sends. The node must be manageable for most of them.
func (p tofu) port(id, group string) {
	p.t.Helper()
	on, off := true, false
	link := map[string]any{"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet1/1", "switch_info": "leaf-1"}
	made, err := ports.Create(p.ctx, p.ServiceClient, ports.CreateOpts{NodeUUID: id, Address: "00:bb:4a:d0:5e:38",
		PXEEnabled: &on, IsSmartNIC: &off, LocalLinkConnection: link, Extra: map[string]any{"slot": 1},
		PhysicalNetwork: "physnet1"}).Extract()
	if err != nil {
		p.t.Fatal(err)
	}
	link["port_id"] = "Ethernet1/2"
	if _, err := ports.Update(p.ctx, p.ServiceClient, made.UUID, ports.UpdateOpts{
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/address", Value: "00:bb:4a:d0:5e:39"},
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/portgroup_uuid", Value: group},
		ports.UpdateOperation{Op: ports.RemoveOp, Path: "/physical_network"},
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/pxe_enabled", Value: false},
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/local_link_connection", Value: link},
	}).Extract(); err != nil {
		p.t.Fatal(err)
	}
	got, err := ports.Get(p.ctx, p.ServiceClient, made.UUID).Extract()
	if err != nil || got.Address != "00:bb:4a:d0:5e:39" || got.PortGroupUUID != group || got.PXEEnabled ||
		got.PhysicalNetwork != "" || got.LocalLinkConnection["port_id"] != "Ethernet1/2" {
		p.t.Errorf("port %+v: %v", got, err)
	}
	if err := ports.Delete(p.ctx, p.ServiceClient, made.UUID).ExtractErr(); err != nil {
		p.t.Error(err)
	}
}
