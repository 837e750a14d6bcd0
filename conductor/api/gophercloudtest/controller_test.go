package gophercloudtest

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/drivers"
	"github.com/gophercloud/gophercloud/v2/openstack/baremetal/v1/nodes"
)

// TestController: power, boot devices and the interrupt of a machine.
func TestController(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	n := c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware"}, nodes.TargetManage)
	for _, tc := range []struct{ target, want string }{{"power on", "power on"}, {"soft power off", "power off"},
		{"rebooting", "power on"}, {"power off", "power off"}} {
		opts := nodes.PowerStateOpts{Target: nodes.TargetPowerState(tc.target), Timeout: 60}
		if err := nodes.ChangePowerState(ctx, client, "m1", opts).ExtractErr(); err != nil {
			t.Fatalf("%s: %v", tc.target, err)
		}
		c.Settle(n.UUID)
		if n, err := nodes.Get(ctx, client, "m1").Extract(); err != nil || n.PowerState != tc.want {
			t.Errorf("after %s it is %q: %v", tc.target, n.PowerState, err)
		}
	}
	devices, err := nodes.GetSupportedBootDevices(ctx, client, "m1").Extract()
	if err != nil || !cmp.Equal(devices, []string{"pxe"}) {
		t.Errorf("boot devices %v: %v", devices, err)
	}
	if err := nodes.SetBootDevice(ctx, client, "m1",
		nodes.BootDeviceOpts{BootDevice: "pxe", Persistent: true}).ExtractErr(); err != nil {
		t.Error(err)
	}
	if device, err := nodes.GetBootDevice(ctx, client, "m1").Extract(); err != nil || device.BootDevice != "pxe" {
		t.Errorf("boot device %+v: %v", device, err)
	}
	if err := nodes.InjectNMI(ctx, client, "m1").ExtractErr(); !gophercloud.ResponseCodeIs(err, http.StatusBadRequest) {
		t.Errorf("fake hardware knows no interrupt: %v", err)
	}
}

// TestVendor: vendor methods of nodes and of drivers.
func TestVendor(t *testing.T) {
	c := newConductor(t)
	ctx, client := t.Context(), c.client()
	c.create(client, nodes.CreateOpts{Name: "m1", Driver: "fake-hardware"})
	methods, err := nodes.ListVendorPassthruMethods(ctx, client, "m1").Extract()
	if err != nil || len(methods) == 0 {
		t.Fatalf("methods %+v: %v", methods, err)
	}
	for name, m := range methods {
		if len(m.HTTPMethods) == 0 {
			t.Errorf("method %s is %+v", name, m)
		}
	}
	if _, err := nodes.GetVendorPassthruMethods(ctx, client, "m1").Extract(); err != nil {
		t.Error(err)
	}
	r := nodes.CallVendorPassthru(ctx, client, "m1", http.MethodPost,
		nodes.VendorPassthruCallOpts{Method: "second_method", Body: map[string]any{"bar": "kazoo"}})
	if r.Err != nil || r.StatusCode != http.StatusAccepted {
		t.Errorf("a method that takes its time: status %d: %v", r.StatusCode, r.Err)
	}
	c.Settle("m1")
	r = nodes.CallVendorPassthru(ctx, client, "m1", http.MethodPost,
		nodes.VendorPassthruCallOpts{Method: "third_method_sync"})
	if !gophercloud.ResponseCodeIs(r.Err, http.StatusBadRequest) {
		t.Errorf("a method without its argument: %v", r.Err)
	}
	ofDriver, err := drivers.ListVendorPassthruMethods(ctx, client, "fake-hardware").Extract()
	if err != nil || len(ofDriver) != 0 {
		t.Errorf("methods of a driver %v: %v", ofDriver, err)
	}
	if r := drivers.CallVendorPassthru(ctx, client, "fake-hardware", http.MethodPost,
		drivers.VendorPassthruCallOpts{Method: "nothing"}); !gophercloud.ResponseCodeIs(r.Err, http.StatusBadRequest) {
		t.Errorf("a driver's method that is not there: %v", r.Err)
	}
}
