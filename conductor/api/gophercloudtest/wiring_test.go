package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/ports"
)

// TestPorts: ports, page by page.
func TestPorts(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware", NetworkInterface: "flat"})
	yes := true
	p, err := ports.Create(ctx, client, ports.CreateOpts{
		NodeUUID: n.UUID, Address: "52:54:00:aa:00:01", PXEEnabled: &yes, PhysicalNetwork: "red",
		Extra:               map[string]any{"slot": "1"},
		LocalLinkConnection: map[string]any{"switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet3/1", "switch_info": "s1"},
	}).Extract()
	if err != nil || p.PhysicalNetwork != "red" || p.LocalLinkConnection["port_id"] != "Ethernet3/1" {
		t.Fatalf("port %+v: %v", p, err)
	}
	if _, err := ports.Create(ctx, client,
		ports.CreateOpts{NodeUUID: n.UUID, Address: p.Address}).Extract(); !gophercloud.ResponseCodeIs(err,
		http.StatusConflict) {
		t.Errorf("the same address again: %v", err)
	}
	for _, address := range []string{"52:54:00:aa:00:02", "52:54:00:aa:00:03"} {
		if _, err := ports.Create(ctx, client, ports.CreateOpts{NodeUUID: n.UUID, Address: address}).Extract(); err != nil {
			t.Fatal(err)
		}
	}
	var addresses []string
	for opts := (ports.ListOpts{Node: "m1", Limit: 1, SortKey: "address", SortDir: "desc"}); ; {
		page, err := ports.ListDetail(client, opts).AllPages(ctx) // of which it only finds the first
		if err != nil {
			t.Fatal(err)
		}
		all, err := ports.ExtractPorts(page)
		if err != nil {
			t.Fatal(err)
		}
		if len(all) == 0 {
			break
		}
		addresses, opts.Marker = append(addresses, all[0].Address), all[0].UUID
	}
	if diff := cmp.Diff([]string{"52:54:00:aa:00:03", "52:54:00:aa:00:02", "52:54:00:aa:00:01"}, addresses); diff != "" {
		t.Errorf("three pages (-want +got):\n%s", diff)
	}
	p, err = ports.Update(ctx, client, p.UUID, ports.UpdateOpts{
		ports.UpdateOperation{Op: ports.ReplaceOp, Path: "/physical_network", Value: "blue"},
		ports.UpdateOperation{Op: ports.RemoveOp, Path: "/extra/slot"},
	}).Extract()
	if err != nil || p.PhysicalNetwork != "blue" || len(p.Extra) != 0 {
		t.Errorf("updated %+v: %v", p, err)
	}
	if got, err := ports.Get(ctx, client, p.UUID).Extract(); err != nil || !cmp.Equal(got, p) {
		t.Errorf("read %+v: %v", got, err)
	}
	if err := ports.Delete(ctx, client, "11111111-2222-4333-8444-555555555555").ExtractErr(); !gophercloud.ResponseCodeIs(
		err, http.StatusNotFound) {
		t.Errorf("deleting what is not there: %v", err)
	}
}

// TestVIFs: a network service attaches virtual interfaces to a node, and detaches them.
func TestVIFs(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware", NetworkInterface: "flat"})
	p, err := ports.Create(ctx, client, ports.CreateOpts{NodeUUID: n.UUID, Address: "52:54:00:aa:00:01"}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	const vif = "11111111-2222-4333-8444-0000000000f1"
	if err := nodes.AttachVirtualInterface(ctx, client, "m1",
		nodes.VirtualInterfaceOpts{ID: vif, PortUUID: p.UUID}).ExtractErr(); err != nil {
		t.Fatal(err)
	}
	all, err := nodes.ListVirtualInterfaces(ctx, client, "m1").Extract()
	if diff := cmp.Diff([]nodes.VIF{{ID: vif}}, all); err != nil || diff != "" {
		t.Errorf("attached: %v (-want +got):\n%s", err, diff)
	}
	err = nodes.AttachVirtualInterface(ctx, client, "m1", nodes.VirtualInterfaceOpts{ID: vif}).ExtractErr()
	if !gophercloud.ResponseCodeIs(err, http.StatusConflict) {
		t.Errorf("attaching it again: %v", err)
	}
	if err := nodes.DetachVirtualInterface(ctx, client, "m1", vif).ExtractErr(); err != nil {
		t.Error(err)
	}
	if all, err := nodes.ListVirtualInterfaces(ctx, client, "m1").Extract(); err != nil || len(all) != 0 {
		t.Errorf("still attached: %v: %v", all, err)
	}
}
