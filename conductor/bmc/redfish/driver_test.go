package redfish_test

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/bmc"
	"github.com/ferrite-metal/ferrite/conductor/bmc/bmctest"
	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// newDriver traces into the test's log and is closed when the test ends.
func newDriver(t *testing.T, o redfish.Options) *redfish.Driver {
	o.Log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	if o.Pause == 0 {
		o.Pause = time.Millisecond
	}
	d := redfish.New(o)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestDriver(t *testing.T) {
	bmctest.Run(t, func(t *testing.T) (bmc.Driver, node.Node) {
		b := newBoard(t)
		b.extra = map[string]any{
			"SecureBoot": link("/redfish/v1/SecureBoot"), "/redfish/v1/SecureBoot": map[string]any{"SecureBootEnable": false},
			"Bios":                       link("/redfish/v1/Systems/1/Bios"),
			"/redfish/v1/Systems/1/Bios": map[string]any{"Attributes": map[string]any{"Cores": 4, "Turbo": true}},
			"BiosVersion":                "U1", "Status": map[string]any{"Health": "OK"},
			"VirtualMedia":          link("/redfish/v1/Media"),
			"/redfish/v1/Media":     map[string]any{"Members": []any{link("/redfish/v1/Media/1"), link("/redfish/v1/Media/2")}},
			"/redfish/v1/Media/1":   map[string]any{"MediaTypes": []any{"DVD"}}, // as before there were actions: to be patched
			"/redfish/v1/Media/2":   map[string]any{"MediaTypes": []any{"USBStick"}},
			"Links":                 map[string]any{"Chassis": []any{link("/redfish/v1/Chassis/1")}},
			"/redfish/v1/Chassis/1": map[string]any{"Id": "Enclosure", "LocationIndicatorActive": false},
		}
		return newDriver(t, redfish.Options{}), b.node()
	})
}

// One session for all calls, one request at a time, given back at the end.
func TestOneSession(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := d.PowerState(t.Context(), b.node()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if b.made != 1 || b.many != 1 {
		t.Errorf("%d sessions made, %d requests at once, want 1 and 1", b.made, b.many)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if len(b.sessions) != 0 {
		t.Errorf("sessions %v are left open", b.sessions)
	}
}

func TestIdleSessionIsGivenBack(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{IdleTimeout: 20 * time.Millisecond})
	if _, err := d.PowerState(t.Context(), b.node()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the session is given back", func() bool { return b.count("DELETE") == 1 })
	if _, err := d.PowerState(t.Context(), b.node()); err != nil || b.count("POST") != 2 {
		t.Errorf("the next call: %v with %d logins, want the second", err, b.count("POST"))
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func TestSystem(t *testing.T) {
	b := newBoard(t)
	got, err := newDriver(t, redfish.Options{}).System(t.Context(), b.node())
	if err != nil {
		t.Fatal(err)
	}
	want := node.System{UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", MemoryMB: 1536, CPUs: 2, BootMode: "uefi"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// The actions that the BMC offers decide which button is pressed.
func TestButtons(t *testing.T) {
	for _, c := range []struct {
		power   string
		target  node.PowerState
		offered []string
		want    string
	}{
		{"Off", node.PowerOn, nil, "reset On"},
		{"Off", node.PowerOn, []string{"ForceOn", "ForceOff"}, "reset ForceOn"},
		{"On", node.PowerOn, nil, ""},
		{"On", node.Rebooting, []string{"On", "PowerCycle", "ForceRestart"}, "reset ForceRestart"},
		{"On", node.Rebooting, []string{"On", "PowerCycle"}, "reset PowerCycle"},
		{"Off", node.Rebooting, []string{"On", "PowerCycle"}, "reset On"},
		{"On", node.SoftPowerOff, []string{"PushPowerButton"}, "reset PushPowerButton"},
		{"PoweringOff", node.PowerOn, []string{"On"}, "reset On"},
		{"On", node.SoftRebooting, []string{"On", "ForceOff"},
			"refused: the BMC cannot set \"soft rebooting\": it takes [On ForceOff] for a reset, [GracefulRestart] is wanted"},
	} {
		b := newBoard(t)
		b.power, b.resets = c.power, c.offered
		got := ""
		if err := newDriver(t, redfish.Options{}).SetPower(t.Context(), b.node(), c.target); err != nil {
			got = "refused: " + err.Error()[strings.Index(err.Error(), "the BMC"):]
		}
		for _, call := range b.calls {
			if strings.HasPrefix(call, "reset") {
				got = call
			}
		}
		if got != c.want {
			t.Errorf("%s, %s of %v: got %q, want %q", c.power, c.target, c.offered, got, c.want)
		}
	}
}

// A path after the host is where the service root is, as in Ironic; a node can
// name its system where there are several.
func TestAddress(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	b.hook = func(_ http.ResponseWriter, r *http.Request, _ int) bool {
		if r.URL.Path == "/elsewhere/" {
			r.URL.Path = "/redfish/v1/"
		}
		return false
	}
	for _, address := range []string{b.url + "/", b.url + "/redfish/v1", b.url + "/elsewhere"} {
		if _, err := d.PowerState(t.Context(), b.node("redfish_address", address)); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if b.count("GET /elsewhere/") == 0 {
		t.Errorf("the root was not asked where the address says: %v", b.calls)
	}
	b.set(func() { b.systems = 2 })
	d = newDriver(t, redfish.Options{})
	_, err := d.PowerState(t.Context(), b.node())
	want := "redfish_system_id is missing, and the BMC has 2 systems: choose from"
	if err == nil || !strings.Contains(err.Error(), want) || !permanent(err) {
		t.Errorf("two systems: got %v, want %q for good", err, want)
	}
	if _, err := d.PowerState(t.Context(), b.node("redfish_system_id", "/redfish/v1/Systems/2")); err != nil {
		t.Error(err)
	}
	_, err = d.PowerState(t.Context(), b.node("redfish_system_id", "/redfish/v1/Systems/99"))
	if err == nil || !strings.Contains(err.Error(), "which the BMC does not have") || !permanent(err) {
		t.Errorf("a system that is not there: got %v", err)
	}
}
