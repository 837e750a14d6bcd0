package ramdisk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// generator is an engine that has agents make users of BMCs; those below 10.0.1.0 speak Redfish.
func generator(driver string, types ...string) (*engine.Engine, *bytes.Buffer) {
	log := &bytes.Buffer{}
	bmcs := map[string]core.BMC{}
	for _, name := range types {
		bmcs[name] = idle{}
	}
	return engine.New(core.Config{
		Store: mem.New(), BMCs: bmcs, Settings: plan.Settings{ConductorName: "c1"},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Discovery: core.Discovery{Driver: driver, Limit: 10, BMCUser: true,
			Redfish: func(_ context.Context, at netip.Addr) bool { return at.Less(netip.MustParseAddr("10.0.1.0")) }},
	}), log
}

// asked discovers a machine and has its agent asked for a BMC user.
func asked(t *testing.T, e *engine.Engine, data agentapi.Inspection) (node.Node, string) {
	t.Helper()
	raw, err := json.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	n, request, err := e.Discover(t.Context(), data, raw, stranger)
	if err != nil || request == nil || request.Name != plan.BMCUserName || len(request.Token) < 32 {
		t.Fatalf("%+v, %v", request, err)
	}
	return n, request.Token
}

const madeUp = "Abcdefgh-1234567"

func made(token, address string) agentapi.BMCUser {
	return agentapi.BMCUser{Token: token, Name: plan.BMCUserName, Password: madeUp, Address: address}
}

// TestBMCUser: the user becomes the node's credentials, for the driver that its BMC speaks to.
func TestBMCUser(t *testing.T) {
	both := []string{"redfish", "ipmi", "idrac"}
	for name, tc := range map[string]struct {
		driver   string
		types    []string
		reported string // by the inventory
		address  string // by the agent
		want     map[string]any
		becomes  string
	}{
		"Redfish": {"redfish", both, "10.0.0.5", "10.0.0.5", map[string]any{"redfish_address": "https://10.0.0.5",
			"redfish_username": plan.BMCUserName, "redfish_password": madeUp}, "redfish"},
		"Redfish under another name": {"idrac", both, "10.0.0.5", "10.0.0.5", map[string]any{
			"redfish_address": "https://10.0.0.5", "redfish_username": plan.BMCUserName, "redfish_password": madeUp}, "idrac"},
		"no Redfish": {"redfish", both, "10.0.1.5", "10.0.1.5", map[string]any{"ipmi_address": "10.0.1.5",
			"ipmi_username": plan.BMCUserName, "ipmi_password": madeUp}, "ipmi"},
		"more than IPMI": {"ipmi", both, "10.0.0.5", "10.0.0.5", map[string]any{"redfish_address": "https://10.0.0.5",
			"redfish_username": plan.BMCUserName, "redfish_password": madeUp}, "redfish"},
		"IPMI is not enabled": {"redfish", []string{"redfish"}, "10.0.1.5", "10.0.1.5", map[string]any{
			"redfish_address": "https://10.0.1.5", "redfish_username": plan.BMCUserName, "redfish_password": madeUp}, "redfish"},
		"an address that came late": {"redfish", both, "", "2001:db8::5", map[string]any{"ipmi_address": "2001:db8::5",
			"ipmi_username": plan.BMCUserName, "ipmi_password": madeUp}, "ipmi"},
	} {
		t.Run(name, func(t *testing.T) {
			e, log := generator(tc.driver, tc.types...)
			data := found(tc.reported, enginetest.SystemA, "52:54:00:00:00:0a", "52:54:00:00:00:0b")
			n, token := asked(t, e, data)
			for range 2 { // the first answer was lost
				if err := e.TakeBMCUser(t.Context(), n.UUID, made(token, tc.address), stranger); err != nil {
					t.Fatal(err)
				}
			}
			n, err := e.Node(t.Context(), n.UUID)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, n.DriverInfo); diff != "" || n.Driver != tc.becomes || !plan.Undecided(n) ||
				!strings.HasPrefix(n.Interfaces["power"], node.BaseType(tc.becomes)) && tc.becomes == "ipmi" {
				t.Errorf("driver %s, interfaces %v: %s", n.Driver, n.Interfaces, diff)
			}
			wantHistory(t, e, n.UUID, 2, "user ferrite-inband made at BMC "+tc.address)
			if strings.Contains(log.String(), madeUp) || strings.Contains(log.String(), token) ||
				!strings.Contains(log.String(), "user ferrite-inband made") {
				t.Errorf("the log is %s", log)
			}
			again, err := discover(t, e, data) // wants no request
			if err != nil || again.UUID != n.UUID {
				t.Errorf("the same machine again: %v", err)
			}
		})
	}
}

// wantHistory wants so many entries, with a text in the newest, and the password in none.
func wantHistory(t *testing.T, e *engine.Engine, uuid string, count int, text string) {
	t.Helper()
	history, err := e.History(t.Context(), uuid)
	if err != nil || len(history) != count {
		t.Fatalf("%+v, %v", history, err)
	}
	hit := false
	for _, h := range history {
		hit = hit || strings.Contains(h.Event, text)
		if strings.Contains(h.Event, madeUp) {
			t.Errorf("the history has the password: %s", h.Event)
		}
	}
	if !hit {
		t.Errorf("no %q in %+v", text, history)
	}
}

// TestNoBMCUser: the reason is in the history once, the node is as without the request, and the next boot is asked
// again.
func TestNoBMCUser(t *testing.T) {
	for name, tc := range map[string]struct {
		answer agentapi.BMCUser
		change func(*node.Node)
		want   string
	}{
		"no BMC":   {answer: agentapi.BMCUser{Error: "this machine shows no BMC"}, want: "no BMC user made: this"},
		"loopback": {answer: made("", "127.0.0.1"), want: "127.0.0.1 is none that a conductor can call"},
		"zero":     {answer: made("", "0.0.0.0"), want: "0.0.0.0 is none"},
		"link":     {answer: made("", "169.254.0.5"), want: "169.254.0.5 is none"},
		"another's": {answer: made("", "10.0.0.9"), want: "has the BMC at 10.0.0.9 already",
			change: func(n *node.Node) { n.DriverInfo = nil }},
		"not the operator's": {answer: made("", "10.0.0.5"), want: "BMC is at [10.0.0.7], the machine says 10.0.0.5",
			change: func(n *node.Node) { n.DriverInfo["redfish_address"] = "https://10.0.0.7" }},
	} {
		t.Run(name, func(t *testing.T) {
			e, _ := generator("redfish", "redfish", "ipmi")
			asked(t, e, found("10.0.0.9", enginetest.SystemB, "52:54:00:00:00:1a", "52:54:00:00:00:1b"))
			data := found("10.0.0.5", enginetest.SystemA, "52:54:00:00:00:0a", "52:54:00:00:00:0b")
			n, token := asked(t, e, data)
			if tc.change != nil {
				if _, err := e.UpdateNode(t.Context(), n.UUID, func(n *node.Node) error { tc.change(n); return nil }); err != nil {
					t.Fatal(err)
				}
			}
			before, err := e.Node(t.Context(), n.UUID)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				tc.answer.Token = token
				if err := e.TakeBMCUser(t.Context(), n.UUID, tc.answer, stranger); err != nil {
					t.Fatal(err)
				}
				after, err := e.Node(t.Context(), n.UUID)
				if diff := cmp.Diff(before.DriverInfo, after.DriverInfo); err != nil || diff != "" {
					t.Errorf("%v, %s", err, diff)
				}
				wantHistory(t, e, n.UUID, 2, tc.want)
				if err := e.TakeBMCUser(t.Context(), n.UUID, agentapi.BMCUser{Token: token, Error: "more for the history"},
					stranger); enginetest.KindOf(t, err) != node.NotFound {
					t.Errorf("the token is taken twice: %v", err)
				}
				_, token = asked(t, e, data)
			}
		})
	}
}

// TestBMCUserOfOthers: only the agent that was asked gives a node credentials, and only if it has none.
func TestBMCUserOfOthers(t *testing.T) {
	e, log := generator("redfish", "redfish", "ipmi")
	data := found("10.0.0.5", enginetest.SystemA, "52:54:00:00:00:0a", "52:54:00:00:00:0b")
	n, old := asked(t, e, data)
	_, token := asked(t, e, data) // it booted again
	take := func(uuid, token string) error {
		return e.TakeBMCUser(t.Context(), uuid, made(token, "10.0.0.5"), stranger)
	}
	for name, err := range map[string]error{
		"no token": take(n.UUID, ""), "an old one": take(n.UUID, old), "no node": take(enginetest.SystemA, token),
	} {
		if enginetest.KindOf(t, err) != node.NotFound {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := e.UpdateNode(t.Context(), n.UUID, func(n *node.Node) error {
		n.DriverInfo["redfish_username"] = "root"
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := take(n.UUID, token); enginetest.KindOf(t, err) != node.NotFound {
		t.Errorf("an operator's credentials: %v", err)
	}
	if again, err := discover(t, e, data); err != nil || again.DriverInfo["redfish_username"] != "root" {
		t.Errorf("%v, %v", again.DriverInfo, err)
	}
	if strings.Contains(log.String(), madeUp) {
		t.Errorf("the log is %s", log)
	}
}
