package redfish_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Impossible arguments are refused without a request to the BMC.
func TestVendorArguments(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	for _, c := range []struct {
		method string
		args   map[string]any
		want   string // "" for good ones
	}{
		{"create_subscription", map[string]any{"Destination": "https://h:1/p"}, ""},
		{"create_subscription", map[string]any{"Destination": "https://h", "Context": "c", "Protocol": "Redfish",
			"EventTypes": []any{"Alert"}, "HttpHeaders": []any{}}, ""},
		{"create_subscription", nil, "Destination <nil> is not a valid URI"},
		{"create_subscription", map[string]any{"Destination": 1.0}, "is not a valid URI"},
		{"create_subscription", map[string]any{"Destination": "h/p"}, "is not a valid URI"},
		{"create_subscription", map[string]any{"Destination": "https:///p"}, "is not a valid URI"},
		{"create_subscription", map[string]any{"Destination": "https://h", "Context": 1.0},
			"Context 1 is not a valid string"},
		{"create_subscription", map[string]any{"Destination": "https://h", "Protocol": nil},
			"Protocol <nil> is not a valid string"},
		{"create_subscription", map[string]any{"Destination": "https://h", "EventTypes": "Alert"},
			"EventTypes Alert is not a valid value"},
		{"create_subscription", map[string]any{"Destination": "https://h", "EventTypes": []any{1.0}}, "is not a valid value"},
		{"create_subscription",
			map[string]any{"Destination": "https://h", "HttpHeaders": map[string]any{"Authorization": "secret"}},
			"HttpHeaders is not a list"},
		{"delete_subscription", map[string]any{"id": "7"}, ""},
		{"delete_subscription", nil, "id can't be None"},
		{"delete_subscription", map[string]any{"id": ""}, "id can't be None"},
		{"get_subscription", map[string]any{"id": 7.0}, "is not the Id"},
		{"get_subscription", map[string]any{"id": "../../Systems/1"}, "is not the Id"},
		{"get_subscription", map[string]any{"id": ".."}, "is not the Id"},
		{"get_all_subscriptions", nil, ""},
		{"eject_vmedia", nil, ""},
		{"eject_vmedia", map[string]any{"boot_device": "CD"}, ""},
		{"eject_vmedia", map[string]any{"boot_device": "tape"}, "tape is not a valid value"},
		{"eject_vmedia", map[string]any{"boot_device": 1.0}, "is not a valid value"},
	} {
		err := d.CheckVendor(t.Context(), b.node(), c.method, c.args)
		var r *node.Refusal
		if c.want == "" && err != nil || c.want != "" &&
			(!errors.As(err, &r) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s %v: got %v, want %q", c.method, c.args, err, c.want)
		}
	}
	if err := d.CheckVendor(t.Context(), b.node("redfish_address", ""), "eject_vmedia", nil); err == nil {
		t.Error("a node without an address is no reason to refuse")
	}
	if len(b.calls) != 0 {
		t.Errorf("the BMC was asked: %v", b.calls)
	}
}

// TestSubscriptionsOfOtherBMCs: a BMC without events is an error, and a BMC without a manager has no medium to eject,
// which is none. An older BMC names no types of events, and a new subscription in the body instead of a header.
func TestSubscriptionsOfOtherBMCs(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	if _, err := d.CallVendor(t.Context(), b.node(), "get_all_subscriptions", nil); err == nil || !permanent(err) ||
		!strings.Contains(err.Error(), "has no subscriptions to events") {
		t.Errorf("no event service: %v", err)
	}
	if _, err := d.CallVendor(t.Context(), b.node(), "eject_vmedia", nil); err != nil {
		t.Errorf("no manager, so nothing is inserted: %v", err)
	}

	const all = "/redfish/v1/EventService/Subscriptions"
	b = newBoard(t)
	b.extra = map[string]any{
		"/redfish/v1": map[string]any{"Systems": link("/redfish/v1/Systems"),
			"EventService": link("/redfish/v1/EventService"),
			"Links":        map[string]any{"Sessions": link("/redfish/v1/SessionService/Sessions")}},
		"/redfish/v1/EventService": map[string]any{"Subscriptions": link(all)},
		all:                        map[string]any{"@odata.id": all + "/7"},
		all + "/7": map[string]any{"Id": "7", "Destination": "https://h/p", "EventTypes": []any{"Alert"},
			"Oem": 1},
	}
	create := func(types ...any) (any, error) {
		return d.CallVendor(t.Context(), b.node(), "create_subscription",
			map[string]any{"Destination": "https://h/p", "EventTypes": types})
	}
	got, err := create("Alert")
	want := map[string]any{"Id": "7", "Destination": "https://h/p", "EventTypes": []any{"Alert"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if _, err := create("Weather"); err == nil || !strings.Contains(err.Error(),
		"[Weather] is not a valid value, allowed values [StatusChange ResourceUpdated") {
		t.Errorf("a type of events that Redfish does not have: %v", err)
	}
	b.set(func() { b.extra[all] = map[string]any{} })
	if _, err := create("Alert"); err == nil || !strings.Contains(err.Error(), "look for it in "+all) {
		t.Errorf("a subscription at no place: %v", err)
	}
}

// If a BMC cannot show one part of the machine, the others are read, and secure boot is unknown.
func TestPartsThatAreMissing(t *testing.T) {
	b := newBoard(t)
	b.extra = map[string]any{
		"Links": map[string]any{
			"Chassis": []any{link("/redfish/v1/Chassis/1"), link("/redfish/v1/Systems/99")},
		},
		"/redfish/v1/Chassis/1": map[string]any{"Id": "1", "IndicatorLED": nil},
		"UUID":                  "u", "IndicatorLED": "Unknown",
		"SecureBoot": link("/redfish/v1/Systems/98"),
	}
	d := newDriver(t, redfish.Options{})
	got, err := d.Indicators(t.Context(), b.node())
	want := []node.Indicator{{Component: "system", Name: "u", States: []string{"blinking", "off", "on"}}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if state, err := d.IndicatorState(t.Context(), b.node(), "system", "u"); err != nil || state != node.IndicatorUnknown {
		t.Errorf("the light is %q, %v", state, err)
	}
	if on, err := d.SecureBoot(t.Context(), b.node()); err != nil || on != nil {
		t.Errorf("secure boot is %v, %v", on, err)
	}
	b.set(func() { delete(b.extra, "SecureBoot") })
	if err := d.SetSecureBoot(t.Context(), b.node(), true); err == nil ||
		!strings.Contains(err.Error(), "Driver redfish does not support set_secure_boot_state") {
		t.Errorf("without secure boot: %v", err)
	}
	b.set(func() { b.power, b.resets = "On", []string{"On", "ForceOff"} })
	if err := d.InjectNMI(t.Context(), b.node()); err == nil ||
		!strings.Contains(err.Error(), `the BMC cannot set "an NMI": it takes [On ForceOff]`) {
		t.Errorf("without an NMI: %v", err)
	}
}
