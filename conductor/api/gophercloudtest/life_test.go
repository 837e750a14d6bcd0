package gophercloudtest

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

// TestLife: a node's life.
func TestLife(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n, err := nodes.Create(ctx, client, nodes.CreateOpts{
		Name: "default~m1", Driver: "fake-hardware", BootInterface: "ipxe", NetworkInterface: "flat", ResourceClass: "bm",
		DriverInfo: map[string]any{"address": "10.0.0.1"}, Properties: map[string]any{"cpu_arch": "x86_64"},
	}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	if n.ProvisionState != "enroll" || n.BootInterface != "ipxe" || n.Name != "default~m1" || n.CreatedAt.IsZero() {
		t.Errorf("created: %+v", n)
	}
	p, err := ports.Create(ctx, client, ports.CreateOpts{NodeUUID: n.UUID, Address: "52:54:00:AA:00:01"}).Extract()
	if err != nil || p.Address != "52:54:00:aa:00:01" {
		t.Fatalf("port %+v: %v", p, err)
	}
	if _, err := nodes.Get(ctx, client, "nobody").Extract(); !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		t.Errorf("a node that is not there: %v", err)
	}
	n, err = nodes.Update(ctx, client, n.UUID, nodes.UpdateOpts{
		nodes.UpdateOperation{Op: nodes.AddOp, Path: "/properties/capabilities", Value: "boot_mode:uefi"},
		nodes.UpdateOperation{Op: nodes.ReplaceOp, Path: "/instance_uuid", Value: "11111111-2222-4333-8444-555555555555"},
	}).Extract()
	if err != nil || n.Properties["capabilities"] != "boot_mode:uefi" || n.InstanceUUID == "" {
		t.Fatalf("updated: %+v: %v", n, err)
	}
	// it can only read them
	c.must(http.StatusNoContent, 89, "PUT", "/v1/nodes/"+n.UUID+"/traits", `{"traits":["HW_CPU_X86_VMX","CUSTOM_A"]}`)
	if n, err = nodes.Get(ctx, client, n.UUID).Extract(); err != nil ||
		!slices.Equal(n.Traits, []string{"CUSTOM_A", "HW_CPU_X86_VMX"}) {
		t.Errorf("traits: %+v: %v", n, err)
	}
	for _, verb := range []nodes.TargetProvisionState{nodes.TargetManage, nodes.TargetInspect, nodes.TargetProvide,
		nodes.TargetActive, nodes.TargetDeleted} {
		opts := nodes.ProvisionStateOpts{Target: verb}
		if verb == nodes.TargetActive {
			opts.ConfigDrive = nodes.ConfigDrive{MetaData: map[string]any{"uuid": "x"}, UserData: "#!/bin/sh"}
		}
		c.provision(client, n.UUID, opts)
	}
	checkLists(ctx, t, client, n.UUID)
	checkVIFs(ctx, t, client, n.UUID)
	if err := nodes.ChangePowerState(ctx, client, n.UUID,
		nodes.PowerStateOpts{Target: nodes.PowerOn, Timeout: 60}).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	c.Settle(n.UUID)
	if n, err = nodes.Get(ctx, client, "default~m1").Extract(); err != nil || n.PowerState != "power on" ||
		n.ProvisionState != "available" {
		t.Errorf("in the end: %+v: %v", n, err)
	}
	if err := nodes.SetMaintenance(ctx, client, n.UUID, nodes.MaintenanceOpts{Reason: "over"}).ExtractErr(); err != nil {
		t.Error(err)
	}
	if err := nodes.UnsetMaintenance(ctx, client, n.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}
	if err := ports.Delete(ctx, client, p.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}
	if err := nodes.Delete(ctx, client, n.UUID).ExtractErr(); err != nil {
		t.Error(err)
	}
}

// checkLists reads lists, the validation and the boot device.
func checkLists(ctx context.Context, t *testing.T, client *gophercloud.ServiceClient, id string) {
	t.Helper()
	page, err := nodes.ListDetail(client, nodes.ListOpts{ProvisionState: "available", Limit: 1}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := nodes.ExtractNodes(page); err != nil || len(all) != 1 || all[0].UUID != id {
		t.Errorf("nodes: %+v: %v", all, err)
	}
	page, err = ports.List(client,
		ports.ListOpts{Address: "52:54:00:aa:00:01", Fields: []string{"node_uuid", "uuid", "address"}}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := ports.ExtractPorts(page); err != nil || len(all) != 1 || all[0].NodeUUID != id {
		t.Errorf("ports: %+v: %v", all, err)
	}
	page, err = drivers.ListDrivers(client, drivers.ListDriversOpts{}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := drivers.ExtractDrivers(page); err != nil || len(all) != 3 {
		t.Errorf("drivers: %+v: %v", all, err)
	}
	page, err = conductors.List(client, conductors.ListOpts{Detail: true}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := conductors.ExtractConductors(page); err != nil || len(all) != 1 || !all[0].Alive {
		t.Errorf("conductors: %+v: %v", all, err)
	}
	valid, err := nodes.Validate(ctx, client, id).Extract()
	if err != nil || !valid.Boot.Result || !valid.Deploy.Result {
		t.Errorf("validation: %+v: %v", valid, err)
	}
	device, err := nodes.GetBootDevice(ctx, client, id).Extract()
	if err != nil || device.BootDevice != "pxe" {
		t.Errorf("boot device: %+v: %v", device, err)
	}
	if err := nodes.SetBootDevice(ctx, client, id,
		nodes.BootDeviceOpts{BootDevice: "pxe", Persistent: true}).ExtractErr(); err != nil {
		t.Error(err)
	}
	if _, err := nodes.GetInventory(ctx, client, id).Extract(); err != nil &&
		!gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		t.Error(err)
	}
}

// checkVIFs attaches a virtual interface and detaches it again.
func checkVIFs(ctx context.Context, t *testing.T, client *gophercloud.ServiceClient, id string) {
	t.Helper()
	if err := nodes.AttachVirtualInterface(ctx, client, id,
		nodes.VirtualInterfaceOpts{ID: "vif"}).ExtractErr(); err != nil {
		t.Error(err)
	}
	if all, err := nodes.ListVirtualInterfaces(ctx, client, id).Extract(); err != nil || len(all) != 1 ||
		all[0].ID != "vif" {
		t.Errorf("VIFs: %+v: %v", all, err)
	}
	if err := nodes.DetachVirtualInterface(ctx, client, id, "vif").ExtractErr(); err != nil {
		t.Error(err)
	}
}
