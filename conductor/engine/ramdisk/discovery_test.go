package ramdisk_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// idle is a BMC that gets no calls.
type idle struct{ core.BMC }

func (idle) Validate(node.Node) error { return nil }

// explorer is an engine that discovers machines, and no more.
func explorer(t *testing.T, driver string, limit int) *engine.Engine {
	t.Helper()
	return engine.New(core.Config{
		Store: mem.New(), BMCs: map[string]core.BMC{"redfish": idle{}, "ipmi": idle{}, "fake-hardware": idle{}},
		Settings: plan.Settings{ConductorName: "c1"}, Log: slog.New(slog.DiscardHandler),
		Discovery: core.Discovery{Driver: driver, Limit: limit},
	})
}

var stranger = netip.MustParseAddr("10.0.0.77")

// found is the inspection data of a machine with these cards. It booted from the first, and the last has no carrier.
func found(bmc, system string, macs ...string) agentapi.Inspection {
	data := agentapi.Inspection{
		BootInterface: macs[0], SystemUUID: system,
		SkippedDisks: []agentapi.SkippedDisk{{Name: "/dev/sr0", Reason: "optical drive"}},
	}
	for i, mac := range macs {
		data.Inventory.Interfaces = append(data.Inventory.Interfaces,
			agentapi.Interface{Name: fmt.Sprintf("eth%d", i), MACAddress: mac, HasCarrier: i < len(macs)-1})
	}
	data.Inventory.BMCAddress = bmc
	data.Inventory.CPU = agentapi.CPU{Count: 8, Architecture: "x86_64"}
	return data
}

func discover(t *testing.T, e *engine.Engine, data agentapi.Inspection) (node.Node, error) {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	n, request, err := e.Discover(t.Context(), data, raw, stranger)
	if request != nil {
		t.Errorf("a user of the BMC is asked for: %+v", request)
	}
	return n, err
}

func TestDiscovery(t *testing.T) {
	e := explorer(t, "redfish", 10)
	n, err := discover(t, e, found("192.168.1.20", enginetest.SystemA,
		"52:54:00:00:00:0A", "52:54:00:00:00:0b", "52:54:00:00:00:0c"))
	if err != nil {
		t.Fatal(err)
	}
	if n.ProvisionState != node.Enroll || n.Driver != "redfish" || n.Interfaces["power"] != "redfish" ||
		n.Properties["cpu_arch"] != "x86_64" || !plan.Undecided(n) {
		t.Errorf("%+v", n)
	}
	if diff := cmp.Diff(map[string]any{"redfish_address": "https://192.168.1.20"}, n.DriverInfo); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]bool{"52:54:00:00:00:0a": true, "52:54:00:00:00:0b": false},
		portsOf(t, e, n.UUID)); diff != "" {
		t.Error(diff)
	}
	kept, err := e.Inspected(t.Context(), n.UUID)
	if err != nil || !strings.Contains(string(kept.Inventory), "192.168.1.20") ||
		!strings.Contains(string(kept.PluginData), "optical drive") {
		t.Errorf("%s, %s, %v", kept.Inventory, kept.PluginData, err)
	}
	history, err := e.History(t.Context(), n.UUID)
	if err != nil || len(history) != 1 || !strings.Contains(history[0].Event, "found by discovery") ||
		!strings.Contains(history[0].Event, stranger.String()) {
		t.Errorf("%+v, %v", history, err)
	}
	// The operator has said more meanwhile; the machine boots again, with another card.
	if _, err := e.UpdateNode(t.Context(), n.UUID, func(n *node.Node) error {
		n.DriverInfo["redfish_username"] = "root"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]agentapi.Inspection{
		"a card":      found("", "", "52:54:00:00:00:0d", "52:54:00:00:00:0b", "52:54:00:00:00:0e"),
		"its UUID":    found("192.168.1.99", strings.ToUpper(enginetest.SystemA), "52:54:00:00:00:1a", "52:54:00:00:00:1b"),
		"its BMC":     found("192.168.1.20", "", "52:54:00:00:00:2a", "52:54:00:00:00:2b"),
		"all of that": found("192.168.1.20", enginetest.SystemA, "52:54:00:00:00:0a", "52:54:00:00:00:0b"),
	} {
		again, err := discover(t, e, again)
		if err != nil || again.UUID != n.UUID || again.DriverInfo["redfish_username"] != "root" ||
			again.DriverInfo["redfish_address"] != "https://192.168.1.20" {
			t.Errorf("known again by %s: %v, %v", name, again, err)
		}
	}
	if ports := portsOf(t, e, n.UUID); len(ports) != 2 { // a caller that claims one of its cards adds none of its own
		t.Errorf("ports %v", ports)
	}
	all, err := e.Nodes(t.Context(), node.Query{})
	if err != nil || len(all) != 1 {
		t.Errorf("%d nodes, %v", len(all), err)
	}
}

// portsOf is whether each port boots, by address.
func portsOf(t *testing.T, e *engine.Engine, uuid string) map[string]bool {
	t.Helper()
	ports, err := e.Ports(t.Context(), node.PortQuery{NodeUUID: uuid})
	if err != nil {
		t.Fatal(err)
	}
	boots := map[string]bool{}
	for _, p := range ports {
		boots[p.Address] = p.PXEEnabled
	}
	return boots
}

// TestOneBMCAddressInAllMachines: some are delivered with the same.
func TestOneBMCAddressInAllMachines(t *testing.T) {
	e := explorer(t, "ipmi", 10)
	first, err := discover(t, e, found("192.168.0.120", enginetest.SystemA, "52:54:00:00:00:01", "52:54:00:00:00:02"))
	if err != nil || first.DriverInfo["ipmi_address"] != "192.168.0.120" {
		t.Fatalf("%v, %v", first.DriverInfo, err)
	}
	second, err := discover(t, e, found("192.168.0.120", enginetest.SystemB, "52:54:00:00:00:03", "52:54:00:00:00:04"))
	if err != nil || second.UUID == first.UUID || second.DriverInfo != nil {
		t.Errorf("the second machine is node %s (%v), the first %s: %v", second.UUID, second.DriverInfo, first.UUID, err)
	}
}

func TestDiscoveryRefused(t *testing.T) {
	good := func() agentapi.Inspection {
		return found("192.168.1.20", "", "52:54:00:00:00:0a", "52:54:00:00:00:0b")
	}
	lend := func(mac, ip string) func(*testing.T, *engine.Engine) {
		return func(t *testing.T, e *engine.Engine) {
			if err := e.SaveLease(t.Context(), node.Lease{MAC: mac, IP: ip, Expires: time.Now().Add(time.Hour)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	known := func(n node.Node) func(*testing.T, *engine.Engine) {
		return func(t *testing.T, e *engine.Engine) {
			n, err := e.CreateNode(t.Context(), n)
			if err == nil {
				_, err = e.CreatePort(t.Context(), node.Port{NodeUUID: n.UUID, Address: "52:54:00:00:00:0b"})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	none := func(*testing.T, *engine.Engine) {}
	var crowd []string
	for i := range 65 {
		crowd = append(crowd, fmt.Sprintf("52:54:00:00:01:%02x", i))
	}
	for name, tc := range map[string]struct {
		driver string
		before func(*testing.T, *engine.Engine)
		data   agentapi.Inspection
		want   node.Kind
	}{
		"switched off":             {"", none, good(), node.NotFound},
		"a card is another node's": {"redfish", known(node.Node{Driver: "redfish"}), good(), node.NotFound},
		"the BMC is another node's": {
			"redfish", known(node.Node{Driver: "ipmi", DriverInfo: map[string]any{"ipmi_address": "192.168.1.21"}}),
			found("192.168.1.21", "", "52:54:00:00:00:1a", "52:54:00:00:00:1b"), node.NotFound,
		},
		"its address is lent to another": {"redfish", lend("52:54:00:00:00:77", stranger.String()), good(), node.NotFound},
		"it was lent another address":    {"redfish", lend("52:54:00:00:00:0a", "10.0.0.78"), good(), node.NotFound},
		"too many cards":                 {"redfish", none, found("", "", crowd...), node.Invalid},
		"no cards":                       {"redfish", none, agentapi.Inspection{}, node.Invalid},
		"none of Ethernet":               {"redfish", none, found("", "", "00:01:02:03:04:05:06:07"), node.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			e := explorer(t, tc.driver, 10)
			tc.before(t, e)
			before, err := e.Nodes(t.Context(), node.Query{})
			if err != nil {
				t.Fatal(err)
			}
			if n, err := discover(t, e, tc.data); enginetest.KindOf(t, err) != tc.want {
				t.Errorf("%v, %v", n, err)
			}
			if after, err := e.Nodes(t.Context(), node.Query{}); err != nil || len(after) != len(before) {
				t.Errorf("%d nodes, before %d, %v", len(after), len(before), err)
			}
		})
	}
	e := explorer(t, "redfish", 10)
	lend("52:54:00:00:00:0a", stranger.String())(t, e)
	_, _, err := e.Discover(t.Context(), good(), make([]byte, 2<<20), stranger)
	if enginetest.KindOf(t, err) != node.Invalid {
		t.Errorf("two megabytes: %v", err)
	}
	if _, err := discover(t, e, good()); err != nil {
		t.Errorf("where it was lent its address: %v", err)
	}
}

// TestDiscoveryIsBounded: an attacker cannot fill the database, and room is made
// by deciding.
func TestDiscoveryIsBounded(t *testing.T) {
	e := explorer(t, "fake-hardware", 3)
	var last node.Node
	for i := range 5 {
		n, err := discover(t, e, found("", "", fmt.Sprintf("52:54:00:00:00:%02x", i), "52:54:00:00:01:ff"))
		switch {
		case i < 3 && err != nil:
			t.Fatal(err)
		case i >= 3 && enginetest.KindOf(t, err) != node.Busy:
			t.Errorf("machine %d: %v", i, err)
		case i < 3:
			last = n
		}
	}
	if err := e.DeleteNode(t.Context(), last.UUID); err != nil {
		t.Fatal(err)
	}
	if _, err := discover(t, e, found("", "", "52:54:00:00:00:55", "52:54:00:00:01:fe")); err != nil {
		t.Errorf("after one was deleted: %v", err)
	}
}

// TestDiscoveredBMC: an address is written down as the driver wants it, when it
// can be one.
func TestDiscoveredBMC(t *testing.T) {
	for _, tc := range []struct{ driver, v4, v6, want string }{
		{"redfish", "10.1.2.3", "", "https://10.1.2.3"},
		{"redfish", "0.0.0.0", "2001:db8::5/64", "https://[2001:db8::5]"},
		{"ipmi", "", "2001:db8::5", "2001:db8::5"},
		{"ipmi", "127.0.0.1", "fe80::1", ""},
		{"ipmi", "169.254.1.1", "fe80::1%eth0", ""},
		{"ipmi", "239.1.2.3", "::", ""},
		{"redfish", "evil.example/x?", "10.0.0.1@evil", ""},
		{"fake-hardware", "10.1.2.3", "", ""},
	} {
		e := explorer(t, tc.driver, 10)
		data := found(tc.v4, "", "52:54:00:00:00:0a", "52:54:00:00:00:0b")
		data.Inventory.BMCv6Address = tc.v6
		n, err := discover(t, e, data)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, v := range n.DriverInfo {
			got = fmt.Sprint(v)
		}
		if got != tc.want || len(n.DriverInfo) > 1 {
			t.Errorf("%+v: %v", tc, n.DriverInfo)
		}
	}
}
