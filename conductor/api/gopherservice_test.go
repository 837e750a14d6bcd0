package api_test

import (
	"net/http"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"

	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestGophercloudService: what the service says of itself, its conductors and
// drivers.
func TestGophercloudService(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.gophercloud()
	root := *client
	root.Endpoint = c.URL + "/"
	all, err := apiversions.List(ctx, &root).Extract()
	if err != nil || all.DefaultVersion.ID != "v1" || len(all.Versions) != 1 {
		t.Errorf("versions %+v: %v", all, err)
	}
	v, err := apiversions.Get(ctx, &root, "v1").Extract()
	if err != nil || v.MinVersion != "1.1" || v.Version != nodeapi.Version(nodeapi.MaxMinor) {
		t.Errorf("version %+v: %v", v, err)
	}
	host, err := conductors.Get(ctx, client, "conductor-1").Extract()
	if err != nil || !host.Alive || len(host.Drivers) == 0 || host.CreatedAt.IsZero() {
		t.Errorf("conductor %+v: %v", host, err)
	}
	if _, err := conductors.Get(ctx, client, "nobody").Extract(); !gophercloud.ResponseCodeIs(err, http.StatusNotFound) {
		t.Errorf("a conductor that is not there: %v", err)
	}
	d, err := drivers.GetDriverDetails(ctx, client, "redfish").Extract()
	if err != nil || d.DefaultPowerInterface != "redfish" || len(d.EnabledBootInterfaces) == 0 || len(d.Hosts) != 1 {
		t.Errorf("driver %+v: %v", d, err)
	}
	p, err := drivers.GetDriverProperties(ctx, client, "redfish").Extract()
	if err != nil || (*p)["redfish_address"] == "" {
		t.Errorf("properties %v: %v", p, err)
	}
}
