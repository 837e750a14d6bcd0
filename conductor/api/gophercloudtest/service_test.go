package gophercloudtest

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/apiversions"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/httpbasic"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/conductors"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
	"golang.org/x/crypto/bcrypt"

	"github.com/ferrite-metal/ferrite/conductor/api"
	"github.com/ferrite-metal/ferrite/conductor/api/apitest"
	"github.com/ferrite-metal/ferrite/conductor/api/auth"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestService: versions, conductors and drivers.
func TestService(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
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

// TestLogin: only a client with a user's name and password gets an answer.
func TestLogin(t *testing.T) {
	hash, err := bcrypt.GenerateFromPassword([]byte("wonderland"), bcrypt.MinCost)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "htpasswd")
	if err := os.WriteFile(file, []byte("alice:"+string(hash)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &conductor{t: t, Conductor: apitest.Start(t, mem.New(), nil, func(o *api.Options) {
		if o.Auth, err = auth.New(auth.Options{Htpasswd: file, Log: o.Log}); err != nil {
			t.Fatal(err)
		}
	})}
	ctx := t.Context()
	login := func(password string) *gophercloud.ServiceClient {
		client, err := httpbasic.NewBareMetalHTTPBasic(httpbasic.EndpointOpts{IronicEndpoint: c.URL + "/v1",
			IronicUser: "alice", IronicUserPassword: password})
		if err != nil {
			t.Fatal(err)
		}
		client.Microversion = microversion
		return client
	}
	n, err := nodes.Create(ctx, login("wonderland"), nodes.CreateOpts{Name: "m1", Driver: "fake-hardware"}).Extract()
	if err != nil || n.Name != "m1" {
		t.Errorf("as alice: %+v: %v", n, err)
	}
	page, err := nodes.List(login("wonderland"), nodes.ListOpts{Fields: []string{"uuid", "name"}}).AllPages(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all, err := nodes.ExtractNodes(page); err != nil || len(all) != 1 || all[0].UUID != n.UUID {
		t.Errorf("nodes %+v: %v", all, err)
	}
	if _, err := nodes.Get(ctx, login("looking-glass"), "m1").Extract(); !gophercloud.ResponseCodeIs(err,
		http.StatusUnauthorized) {
		t.Errorf("with another password: %v", err)
	}
	if _, err := nodes.Get(ctx, c.client(), "m1").Extract(); !gophercloud.ResponseCodeIs(err,
		http.StatusUnauthorized) {
		t.Errorf("as nobody: %v", err)
	}
}
