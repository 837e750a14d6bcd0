package redfish_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/lab/redfish/redfishtest"
)

var (
	_ engine.SecureBooter = (*redfish.Driver)(nil)
	_ engine.Interrupter  = (*redfish.Driver)(nil)
	_ engine.Indicators   = (*redfish.Driver)(nil)
	_ engine.Vendor       = (*redfish.Driver)(nil)
)

// The life of a subscription, as Ironic's clients ask for it.
func TestDriverSubscriptions(t *testing.T) {
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	call := func(method string, args map[string]any, want any) {
		t.Helper()
		if err := d.CheckVendor(t.Context(), n, method, args); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		got, err := d.CallVendor(t.Context(), n, method, args)
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
	}
	first := map[string]any{"Id": "1", "Context": "", "Protocol": "Redfish", "Destination": "https://listener.example/",
		"EventTypes": []any{"Alert"}}
	second := map[string]any{"Id": "2", "Context": "c", "Protocol": "Redfish", "Destination": "http://[fd00::1]:8080/x?y",
		"EventTypes": []any{"StatusChange", "Alert"}}
	call("create_subscription", map[string]any{"Destination": first["Destination"]}, first)
	call("create_subscription", map[string]any{
		"Destination": second["Destination"], "Context": "c", "EventTypes": second["EventTypes"],
		"HttpHeaders": []any{map[string]any{"Authorization": "secret"}},
	}, second)
	call("get_subscription", map[string]any{"id": "2"}, second)
	call("delete_subscription", map[string]any{"id": "1"}, nil)
	call("get_all_subscriptions", nil, map[string]any{
		"@odata.id": subscriptionsPath, "@odata.type": "#EventDestinationCollection.EventDestinationCollection",
		"Name": "Event Subscriptions", "Members@odata.count": 1.0,
		"Members": []any{map[string]any{"@odata.id": subscriptionsPath + "/2"}},
	})
	for _, method := range []string{"get_subscription", "delete_subscription"} {
		if _, err := d.CallVendor(t.Context(), n, method, map[string]any{"id": "1"}); !errors.Is(err, node.ErrNotFound) {
			t.Errorf("%s of one that is gone: %v", method, err)
		}
	}
	_, err := d.CallVendor(t.Context(), n, "create_subscription",
		map[string]any{"Destination": "http://h/", "EventTypes": []any{"Party"}})
	var r *node.Refusal
	if !errors.As(err, &r) || !strings.Contains(err.Error(), "allowed values [Alert") {
		t.Errorf("an event type that the controller lacks: %v", err)
	}
}

// eject_vmedia empties the drives it is meant for, and an empty one stays so.
func TestDriverEject(t *testing.T) {
	image := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("an image"))
	}))
	defer image.Close()
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	for _, c := range []struct {
		args  map[string]any
		stays bool
	}{{map[string]any{"boot_device": "floppy"}, true}, {map[string]any{"boot_device": "cd"}, false}, {nil, false}} {
		if c.args["boot_device"] != "cd" {
			b.Call(t, http.MethodPost, insertCDPath, `{"Image": "`+image.URL+`/cd.iso"}`)
		}
		for range 2 {
			if _, err := d.CallVendor(t.Context(), n, "eject_vmedia", c.args); err != nil {
				t.Fatal(err)
			}
		}
		if image, _ := b.Read(t, cdPath)["Image"].(string); (image != "") != c.stays {
			t.Errorf("%v: %q is inserted", c.args, image)
		}
	}
}

// The names and states of the lights, as Ironic has them.
func TestDriverIndicators(t *testing.T) {
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	all := []string{"blinking", "off", "on"}
	got, err := d.Indicators(t.Context(), n)
	want := []node.Indicator{
		{Component: "chassis", Name: fmt.Sprint(b.Read(t, "/redfish/v1/Chassis/1")["UUID"]), States: all},
		{Component: "system", Name: b.machine.Spec().UUID, States: all},
		{Component: "disk", Name: "1:1", States: all},
		{Component: "disk", Name: "1:2", States: all},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// Secure boot is UEFI's alone.
func TestDriverSecureBoot(t *testing.T) {
	b := newBench(t)
	d, n := newDriver(t, redfish.Options{}), b.node(redfishtest.Password)
	if err := d.SetBootMode(t.Context(), n, "bios"); err != nil {
		t.Fatal(err)
	}
	if err := d.SetSecureBoot(t.Context(), n, false); err != nil {
		t.Errorf("what is off already: %v", err)
	}
	if err := d.SetSecureBoot(t.Context(), n, true); err == nil || !strings.Contains(err.Error(), "requires UEFI") {
		t.Errorf("with a BIOS: %v", err)
	}
}
