package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

// TestInventory: the library's types take the result of an inspection by a ramdisk.
func TestInventory(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{
		Name: "m1", Driver: "fake-hardware", InspectInterface: "agent", BootInterface: "ipxe",
		DriverInfo: map[string]any{"deploy_kernel": "http://images/k", "deploy_ramdisk": "http://images/r"},
	})
	const mac = "52:54:00:aa:00:01"
	if _, err := ports.Create(ctx, client, ports.CreateOpts{NodeUUID: n.UUID, Address: mac}).Extract(); err != nil {
		t.Fatal(err)
	}
	if r := nodes.GetInventory(ctx, client, "m1"); !gophercloud.ResponseCodeIs(r.Err, http.StatusNotFound) {
		t.Errorf("before the inspection: %v", r.Err)
	}
	c.provision(client, n.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetManage})
	c.provision(client, n.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetInspect})
	c.must(http.StatusAccepted, 1, "POST", "/v1/continue_inspection",
		`{"boot_interface":"01-52-54-00-aa-00-01","root_disk":{"name":"/dev/vda","size":10737418240},
		"configuration":{"collectors":["default"],"managers":[{"name":"generic","version":"1.0"}]},
		"inventory":{"hostname":"m1","bmc_address":"10.0.0.1","boot":{"current_boot_mode":"uefi"},"cpu":{"count":8,
		"architecture":"x86_64","frequency":"2500.0","flags":["vmx"]},
		"memory":{"total":8589934592,"physical_mb":8192},"disks":[{"name":"/dev/vda","size":10737418240}],
		"system_vendor":{"manufacturer":"V","product_name":"P","serial_number":"S"},
		"interfaces":[{"name":"eth0","mac_address":"`+mac+
			`","ipv4_address":"10.0.0.100","has_carrier":true,"lldp":[[1,"0a"]]}]}}`)
	if err := nodes.WaitForProvisionState(ctx, client, n.UUID, nodes.Manageable); err != nil {
		t.Fatal(err)
	}
	data, err := nodes.GetInventory(ctx, client, "m1").Extract()
	if err != nil {
		t.Fatal(err)
	}
	inv := data.Inventory
	if inv.CPU.Count != 8 || inv.Memory.PhysicalMb != 8192 || inv.Boot.CurrentBootMode != "uefi" ||
		inv.SystemVendor.SerialNumber != "S" || len(inv.Disks) != 1 ||
		len(inv.Interfaces) != 1 || inv.Interfaces[0].MACAddress != mac || inv.BmcAddress != "10.0.0.1" {
		t.Errorf("inventory %+v", inv)
	}
	free, err := data.PluginData.AsMap()
	if err != nil || !cmp.Equal(free["macs"], any([]any{mac})) {
		t.Errorf("plugin data %v: %v", free, err)
	}
	standard, err := data.PluginData.AsStandardData()
	if err != nil || !standard.ValidInterfaces["eth0"].PXEEnabled || standard.RootDisk.Name != "/dev/vda" ||
		len(standard.Configuration.Managers) != 1 {
		t.Errorf("plugin data %+v: %v", standard, err)
	}
	ironic, inspector, err := data.PluginData.GuessFormat()
	if err != nil || ironic == nil || inspector != nil {
		t.Errorf("plugin data is taken for %v, %v: %v", ironic, inspector, err)
	}
}
