package redfish_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// slowest is how slowly a BMC may answer each request, and be enrolled with the defaults.
const slowest = 8 * time.Second

// A verification has few enough requests for a BMC that answers each after eight seconds,
// and so has each other call that a deploy makes.
func TestSlowBMC(t *testing.T) {
	patience := node.DefaultPatience()
	if slowest > patience.Request {
		t.Errorf("one request may take %s", patience.Request)
	}
	b := newBoard(t)
	b.extra = map[string]any{"Manufacturer": "Supermicro", "SecureBoot": link("/redfish/v1/SecureBoot"),
		"/redfish/v1/SecureBoot": map[string]any{"SecureBootEnable": false}}
	d := newDriver(t, redfish.Options{})
	ctx, n := t.Context(), b.node()
	for _, c := range []struct {
		name string
		most time.Duration
		do   func() error
	}{
		{"validate power, before any login", patience.Verify, func() error { _, err := d.Vitals(ctx, n); return err }},
		{"validate management", patience.Verify, func() error {
			if _, _, err := d.BootDevice(ctx, n); err != nil {
				return err
			}
			if _, err := d.BootMode(ctx, n); err != nil {
				return err
			}
			if _, err := d.SecureBoot(ctx, n); err != nil {
				return err
			}
			_, err := d.SystemUUID(ctx, n)
			return err
		}},
		{"set the boot device", patience.Call, func() error { return d.SetBootDevice(ctx, n, "pxe", false) }},
		{"power on", patience.Call, func() error { return d.SetPower(ctx, n, node.PowerOn) }},
	} {
		before := b.count("")
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if took := time.Duration(b.count("")-before) * slowest; took > c.most {
			t.Errorf("%s: %d requests take %s, at most %s is left", c.name, b.count("")-before, took, c.most)
		}
	}
}

// A node's own time for a request is longer or shorter than the driver's.
func TestOwnPatience(t *testing.T) {
	b := newBoard(t)
	hang := b.node("bmc_request_timeout", 1)
	for _, wrong := range []any{0, "soon", 1e9} {
		if err := newDriver(t, redfish.Options{}).Validate(b.node("bmc_request_timeout", wrong)); err == nil {
			t.Errorf("%v was taken", wrong)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	b.set(func() {
		b.hook = func(_ http.ResponseWriter, r *http.Request, _ int) bool { <-r.Context().Done(); return true }
	})
	start := time.Now()
	_, err := newDriver(t, redfish.Options{}).PowerState(ctx, hang)
	if took := time.Since(start); err == nil || took > 10*time.Second {
		t.Errorf("got %v after %s, the request was to end after 1 s", err, took)
	}
}
