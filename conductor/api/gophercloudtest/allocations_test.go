package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/allocations"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// TestAllocations: an allocation finds a node by its resource class.
func TestAllocations(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware", ResourceClass: "big"},
		nodes.TargetManage, nodes.TargetProvide)
	a, err := allocations.Create(ctx, client, allocations.CreateOpts{
		Name: "a1", ResourceClass: "big", CandidateNodes: []string{"m1"}, Extra: map[string]string{"who": "me"},
	}).Extract()
	if err != nil || a.Name != "a1" || a.State != "allocating" || a.Extra["who"] != "me" ||
		!cmp.Equal(a.CandidateNodes, []string{n.UUID}) {
		t.Fatalf("allocation %+v: %v", a, err)
	}
	c.Allocated("a1")
	if a, err = allocations.Get(ctx, client, "a1").Extract(); err != nil || a.State != allocations.Active ||
		a.NodeUUID != n.UUID {
		t.Fatalf("allocation %+v: %v", a, err)
	}
	if n, err := nodes.Get(ctx, client, n.UUID).Extract(); err != nil || n.AllocationUUID != a.UUID ||
		n.InstanceUUID != a.UUID {
		t.Errorf("the node %+v: %v", n, err)
	}
	none, err := allocations.Create(ctx, client, allocations.CreateOpts{Name: "a2", ResourceClass: "big"}).Extract()
	if err != nil {
		t.Fatal(err)
	}
	c.Allocated("a2")
	if none, err = allocations.Get(ctx, client, none.UUID).Extract(); err != nil || none.State != allocations.Error ||
		none.LastError == "" {
		t.Errorf("a second one for the same node: %+v: %v", none, err)
	}
	page, err := allocations.List(client,
		allocations.ListOpts{Node: "m1", ResourceClass: "big", State: "active", SortKey: "name", Limit: 1}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := allocations.ExtractAllocations(page); err != nil || len(all) != 1 || all[0].UUID != a.UUID {
		t.Errorf("allocations %+v: %v", all, err)
	}
	for _, id := range []string{"a1", "a2"} {
		if err := allocations.Delete(ctx, client, id).ExtractErr(); err != nil {
			t.Errorf("delete %s: %v", id, err)
		}
	}
	if _, err := allocations.Get(ctx, client, "a1").Extract(); !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		t.Errorf("a deleted one: %v", err)
	}
}
