package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestFirmware: BIOS settings and firmware, as the BMC reports them.
func TestFirmware(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware"}, nodes.TargetManage)
	c.provision(client, n.UUID, nodes.ProvisionStateOpts{Target: nodes.TargetClean, CleanSteps: []nodes.CleanStep{{
		Interface: nodes.InterfaceBIOS, Step: "apply_configuration",
		Args: map[string]any{"settings": []any{map[string]any{"name": "BootDelay", "value": "5"}}},
	}}})
	low, high, yes := 0, 60, true
	plain := []nodes.BIOSSetting{{Name: "BootDelay", Value: "5"}, {Name: "Turbo", Value: "Enabled"}}
	detailed := []nodes.BIOSSetting{
		{Name: "BootDelay", Value: "5", AttributeType: "Integer", AllowableValues: []string{}, LowerBound: &low,
			UpperBound: &high, ResetRequired: &yes},
		{Name: "Turbo", Value: "Enabled", AttributeType: "Enumeration", AllowableValues: []string{"Enabled", "Disabled"}},
	}
	for name, tc := range map[string]struct {
		opts nodes.ListBIOSSettingsOptsBuilder
		want []nodes.BIOSSetting
	}{
		"plain":     {nil, plain},
		"in detail": {nodes.ListBIOSSettingsOpts{Detail: true}, detailed},
		"by fields": {nodes.ListBIOSSettingsOpts{Fields: []string{"name", "value"}}, plain},
	} {
		got, err := nodes.ListBIOSSettings(ctx, client, "m1", tc.opts).Extract()
		if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
			t.Errorf("settings %s: %v (-want +got):\n%s", name, err, diff)
		}
	}
	var one map[string]nodes.BIOSSetting // as Ironic answers it; the library's own Extract expects another key
	r := nodes.GetBIOSSetting(ctx, client, "m1", "Turbo")
	if err := r.ExtractInto(&one); err != nil || !cmp.Equal(one, map[string]nodes.BIOSSetting{"Turbo": detailed[1]}) {
		t.Errorf("one setting %+v: %v", one, err)
	}
	if r := nodes.GetBIOSSetting(ctx, client, "m1", "nobody"); !gophercloud.ResponseCodeIs(r.Err, http.StatusNotFound) {
		t.Errorf("a setting that is not there: %v", r.Err)
	}
	newest := *client
	newest.Microversion = nodeapi.Version(nodeapi.MaxMinor)
	for vendor, client := range map[string]*gophercloud.ServiceClient{"": client, "V": &newest} {
		got, err := nodes.ListFirmware(ctx, client, "m1").Extract()
		if err != nil || len(got) != 1 || got[0].Component != "bmc" || got[0].CurrentVersion != "1.5" ||
			got[0].CreatedAt.IsZero() {
			t.Fatalf("firmware %+v: %v", got, err)
		}
		if v := got[0].Vendor; (v != nil) != (vendor != "") || v != nil && *v != vendor {
			t.Errorf("at %s: vendor %v, want %q", client.Microversion, v, vendor)
		}
	}
}

// TestMedia: images in virtual drives.
func TestMedia(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client,
		nodes.CreateOpts{Name: "m1", Driver: "redfish", DriverInfo: map[string]any{"redfish_address": "http://bmc"}},
		nodes.TargetManage)
	type drive struct {
		Types    []string `json:"media_types"`
		Inserted bool     `json:"inserted"`
		Image    *string  `json:"image"`
	}
	drives := func() (all []drive) {
		t.Helper()
		if err := nodes.GetVirtualMedia(ctx, client, "m1").ExtractInto(&all); err != nil {
			t.Fatal(err)
		}
		return all
	}
	empty, image := []drive{{Types: []string{"CD", "DVD"}}}, "http://images/a.iso"
	for _, source := range []nodes.ImageDownloadSource{"", nodes.ImageDownloadSourceHTTP} {
		if diff := cmp.Diff(empty, drives()); diff != "" {
			t.Errorf("empty drives (-want +got):\n%s", diff)
		}
		err := nodes.AttachVirtualMedia(ctx, client, "m1", nodes.AttachVirtualMediaOpts{DeviceType: nodes.VirtualMediaCD,
			ImageURL: image, ImageDownloadSource: source}).ExtractErr()
		if err != nil {
			t.Fatal(err)
		}
		c.Settle(n.UUID)
		if diff := cmp.Diff([]drive{{Types: []string{"CD", "DVD"}, Inserted: true, Image: &image}}, drives()); diff != "" {
			t.Errorf("full drives (-want +got):\n%s", diff)
		}
		if err := nodes.DetachVirtualMedia(ctx, client, "m1",
			nodes.DetachVirtualMediaOpts{
				DeviceTypes: []nodes.VirtualMediaDeviceType{nodes.VirtualMediaCD},
			}).ExtractErr(); err != nil {
			t.Error(err)
		}
		c.Settle(n.UUID)
	}
	if err := nodes.AttachVirtualMedia(ctx, client, "m1",
		nodes.AttachVirtualMediaOpts{DeviceType: "tape", ImageURL: image}).ExtractErr(); !gophercloud.ResponseCodeIs(err,
		http.StatusBadRequest) {
		t.Errorf("a tape: %v", err)
	}
	if err := nodes.DetachVirtualMedia(ctx, client, "m1", nodes.DetachVirtualMediaOpts{}).ExtractErr(); err != nil {
		t.Error(err)
	}
	c.Settle(n.UUID)
}

// TestRAID: the configuration that the next RAID step creates, and its properties.
func TestRAID(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware", RAIDInterface: "fake"})
	c.create(client, nodes.CreateOpts{Name: "m2", Driver: "fake-hardware", RAIDInterface: "no-raid"})
	size, yes := 100, true
	config := nodes.RAIDConfigOpts{LogicalDisks: []nodes.LogicalDisk{
		{SizeGB: &size, RAIDLevel: nodes.RAID1, IsRootVolume: &yes, DiskType: nodes.SSD},
		{RAIDLevel: nodes.RAID5, VolumeName: "data", NumberOfPhysicalDisks: 3, Controller: "c0"},
	}}
	if err := nodes.SetRAIDConfig(ctx, client, "m1", config).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"logical_disks": []any{
		map[string]any{"size_gb": 100.0, "raid_level": "1", "is_root_volume": true, "disk_type": "ssd"},
		map[string]any{"size_gb": "MAX", "raid_level": "5", "volume_name": "data", "number_of_physical_disks": 3.0,
			"controller": "c0"},
	}}
	n, err := nodes.Get(ctx, client, "m1").Extract()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, n.TargetRAIDConfig); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := nodes.SetRAIDConfig(ctx, client, "m2", config).ExtractErr(); !gophercloud.ResponseCodeIs(err,
		http.StatusNotFound) {
		t.Errorf("RAID that is switched off: %v", err)
	}
	properties, err := drivers.GetDriverDiskProperties(ctx, client, "fake-hardware").Extract()
	if err != nil || (*properties)["raid_level"] == nil || (*properties)["size_gb"] == nil {
		t.Errorf("properties %v: %v", properties, err)
	}
}
