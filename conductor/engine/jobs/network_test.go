package jobs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/engine/enginetest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// switches are networks that record the attached VIFs, and whether the machine was on meanwhile.
type switches struct {
	core.Networks
	w     *enginetest.World
	said  []string
	fail  error  // of the next call
	heard func() // called for every call; nil for none
}

func (s *switches) note(format string, args ...any) error {
	s.w.Mu.Lock()
	defer s.w.Mu.Unlock()
	s.said = append(s.said, fmt.Sprintf(format, args...))
	err := s.fail
	s.fail = nil
	if s.heard != nil {
		s.heard()
	}
	return err
}

// Attach notes the network, and is of a ramdisk's port.
func (s *switches) Attach(_ context.Context, n node.Node, network string, ports []node.Port, _ []node.Portgroup) (
	a plan.Attached, err error) {
	s.w.Mu.Lock()
	power := s.w.Machine(n.UUID).Power
	s.w.Mu.Unlock()
	a.Network = network
	if network != plan.NoNetwork && network != plan.TenantNetwork {
		a.Ports = map[string]string{ports[0].UUID: "port-" + network}
	}
	return a, s.note("%s, power %s, VIF %q", network, strings.TrimPrefix(string(power), "power "), ports[0].VIF())
}

// Plug notes a VIF.
func (s *switches) Plug(ctx context.Context, _ node.Node, vif string, ports []node.Port, _ []node.Portgroup) error {
	return cmp.Or(s.note("plug %s at %s", vif, ports[0].VIF()), ctx.Err())
}

// Unplug notes a VIF.
func (s *switches) Unplug(ctx context.Context, vif string) error {
	return cmp.Or(s.note("unplug %s", vif), ctx.Err())
}

// Readdress notes a VIF.
func (s *switches) Readdress(ctx context.Context, _ node.Node, vif string, ports []node.Port,
	groups []node.Portgroup) error {
	mac := ""
	for _, p := range ports {
		if p.VIF() == vif {
			mac = p.Address
		}
	}
	for _, g := range groups {
		if g.VIF() == vif {
			mac = g.Address
		}
	}
	return cmp.Or(s.note("%s has %s", vif, mac), ctx.Err())
}

// Leave notes it.
func (s *switches) Leave(context.Context, node.Node, []node.Port, []node.Portgroup) error {
	return s.note("leave")
}

// VIF is of a project, in one physical network.
func (s *switches) VIF(context.Context, string) (string, []string, error) {
	return "blue", []string{"physnet1"}, nil
}

// networked is a conductor that knows Neutron, and a manageable node with a network interface. Its port is at a switch,
// unless that is flat.
func networked(t *testing.T, network string) (w *enginetest.World, s *switches, n node.Node, port node.Port) {
	t.Helper()
	w = enginetest.New(t, 1)
	s = &switches{w: w}
	w.Settings.Neutron, w.Networks = true, s
	w.Start()
	n, err := w.E.CreateNode(w.Ctx, node.Node{Driver: "redfish", Interfaces: map[string]string{"deploy": "direct",
		"inspect": "agent", "rescue": "agent", "network": network}, InstanceInfo: enginetest.Instance(0)})
	w.Must(err)
	port = node.Port{NodeUUID: n.UUID, Address: enginetest.MACOf(n.UUID), PXEEnabled: true, PhysicalNetwork: "physnet1"}
	if network != "flat" {
		port.LocalLinkConnection = map[string]any{"switch_id": "02:00:00:00:00:01", "port_id": "e1"}
	}
	port, err = w.E.CreatePort(w.Ctx, port)
	w.Must(err)
	w.Ask(n.UUID, node.Manage, node.Manageable)
	return w, s, n, port
}

// TestNetworks: a machine with network interface neutron is in a network of its own for each activity, which it enters
// while it is off. Its ports say which Neutron ports are theirs, and a tear-down takes its VIF.
func TestNetworks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, port := networked(t, "neutron")
		defer w.Close()
		reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.Available)
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
		for _, step := range []struct {
			request plan.Request
			want    node.State
		}{
			{plan.Request{Verb: node.Deploy}, node.Active},
			{enginetest.Servicing("burnin_cpu"), node.Active},
			{plan.Request{Verb: node.RescueIt, RescuePassword: "open, please"}, node.Rescue},
			{plan.Request{Verb: node.Unrescue}, node.Active},
		} {
			reach(w, n.UUID, step.request, step.want)
		}
		w.Must(w.E.DetachVIF(w.Ctx, n.UUID, "v1"))
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v2"}))
		reach(w, n.UUID, plan.Request{Verb: node.Delete}, node.Available)
		want := []string{
			`cleaning, power off, VIF ""`, `none, power off, VIF ""`, "plug v1 at v1",
			`provisioning, power off, VIF "v1"`, `tenant, power off, VIF "v1"`,
			`servicing, power off, VIF "v1"`, `tenant, power off, VIF "v1"`,
			`rescuing, power off, VIF "v1"`, `tenant, power on, VIF "v1"`, `tenant, power off, VIF "v1"`,
			"unplug v1", "plug v2 at v2",
			`none, power off, VIF "v2"`, `cleaning, power off, VIF ""`, `none, power off, VIF ""`,
		}
		if !slices.Equal(s.said, want) {
			t.Errorf("the switches heard\n%s\nexpected\n%s", strings.Join(s.said, "\n"), strings.Join(want, "\n"))
		}
		if p, err := w.E.Port(w.Ctx, port.UUID); err != nil || len(p.InternalInfo) > 0 {
			t.Errorf("the port keeps %v, %v", p.InternalInfo, err)
		}
	})
}

// TestReattach: the networks of a running machine are attached again. A failure says that it has none meanwhile.
func TestReattach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := networked(t, "neutron")
		defer w.Close()
		reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.Available)
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
		reach(w, n.UUID, plan.Request{Verb: node.Deploy}, node.Active)
		s.said = nil
		service := plan.Request{Verb: node.Service,
			ServiceSteps: []node.Step{{Interface: "network", Step: "reattach_networking"}}}
		reach(w, n.UUID, service, node.Active)
		if want := []string{`none, power on, VIF "v1"`, `tenant, power on, VIF "v1"`}; !slices.Equal(s.said, want) {
			t.Errorf("the switches heard %q, expected %q", s.said, want)
		}
		s.said, s.heard = nil, func() {
			if len(s.said) == 1 { // they are unbound
				s.fail = node.Refuse(node.Invalid, "Neutron binds none")
			}
		}
		reach(w, n.UUID, service, node.ServiceFailed)
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || !strings.Contains(n.LastError, "no network until this step is "+
			"done again: Neutron binds none") {
			t.Errorf("%s, %v", n.LastError, err)
		}
	})
}

// TestNetworkFails: a machine with a failed change of network is not started in another one, and its node says why. A
// VIF that Neutron refuses is not attached.
func TestNetworkFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := networked(t, "neutron")
		defer w.Close()
		s.fail = node.Refuse(node.Invalid, "Neutron has no such network")
		reach(w, n.UUID, plan.Request{Verb: node.Provide}, node.CleanFailed)
		n, err := w.E.Node(w.Ctx, n.UUID)
		if err != nil || !strings.Contains(n.LastError, "network.attach: Neutron has no such network") ||
			n.PowerState != node.PowerOff {
			t.Errorf("power %q, %s, %v", n.PowerState, n.LastError, err)
		}
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		if err := w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1", Project: "red"}); err == nil ||
			!strings.Contains(err.Error(), "no such port") {
			t.Errorf("a VIF of another project: %v", err)
		}
		s.fail = errors.New("no answer")
		var refused *node.Refusal
		if err := w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}); !errors.As(err, &refused) || refused.Kind != node.Busy {
			t.Errorf("a VIF without an answer: %v", err)
		}
		if vifs, err := w.E.VIFs(w.Ctx, n.UUID); err != nil || len(vifs) > 0 {
			t.Errorf("attached are %q, %v", vifs, err)
		}
	})
}

// TestNetworkLeft: after a failed activity, a machine leaves the network of its ramdisk: with manage, and before its
// node is deleted. If Neutron fails, the node says so, and stays.
func TestNetworkLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, _ := networked(t, "neutron")
		defer w.Close()
		fails := func() { // and begins anew
			t.Helper()
			w.Mute[n.UUID] = true
			w.Must(w.E.Provision(w.Ctx, n.UUID, plan.Request{Verb: node.Provide}))
			time.Sleep(time.Minute)
			reach(w, n.UUID, plan.Request{Verb: node.Abort}, node.CleanFailed)
			s.said = nil
		}
		fails()
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		w.Must(w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0))
		if w.Settled(n.UUID); !slices.Equal(s.said, []string{"leave"}) {
			t.Errorf("the switches heard %q", s.said)
		}
		fails()
		s.fail = node.Refuse(node.Invalid, "Neutron has no such network")
		reach(w, n.UUID, plan.Request{Verb: node.Manage}, node.Manageable)
		if n, err := w.E.Node(w.Ctx, n.UUID); err != nil || !strings.Contains(n.LastError, "no such network") {
			t.Errorf("last_error is %q, %v", n.LastError, err)
		}
		var refused *node.Refusal
		if err := w.E.SetPower(w.Ctx, n.UUID, node.PowerOn, 0); !errors.As(err, &refused) {
			t.Errorf("a start in the network of the ramdisk: %v", err)
		}
		s.fail = errors.New("no answer")
		if err := w.E.DeleteNode(w.Ctx, n.UUID); !errors.As(err, &refused) || refused.Kind != node.Busy {
			t.Errorf("deleted while Neutron is away: %v", err)
		}
		s.said = nil
		w.Must(w.E.DeleteNode(w.Ctx, n.UUID))
		if !slices.Equal(s.said, []string{"leave"}) {
			t.Errorf("the switches heard %q", s.said)
		}
	})
}

// TestReaddressed: the VIF of a port and of a portgroup gets the new address. An address that Neutron refuses is not
// kept.
func TestReaddressed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, s, n, port := networked(t, "neutron")
		defer w.Close()
		group, err := w.E.Catalogs().Portgroups.Create(w.Ctx, node.Portgroup{NodeUUID: n.UUID, Address: "52:54:00:00:00:0b",
			Record: node.Record{}, StandalonePorts: true})
		w.Must(err)
		address := func(mac string) error {
			_, err := w.E.UpdatePort(w.Ctx, port.UUID, func(p *node.Port) error {
				p.Address = mac
				return nil
			})
			return err
		}
		w.Must(address("52:54:00:00:00:01")) // has no VIF yet
		w.Must(w.E.AttachVIF(w.Ctx, n.UUID, node.VIF{ID: "v1"}))
		s.said = nil
		w.Must(address("52:54:00:00:00:02"))
		w.Must(address("52:54:00:00:00:02"))
		s.fail = errors.New("no answer")
		var refused *node.Refusal
		if err := address("52:54:00:00:00:03"); !errors.As(err, &refused) || refused.Kind != node.Busy {
			t.Errorf("Neutron is away: %v", err)
		}
		if p, err := w.E.Port(w.Ctx, port.UUID); err != nil || p.Address != "52:54:00:00:00:02" {
			t.Errorf("the port has %s, %v", p.Address, err)
		}
		change := func(edit func(*node.Portgroup)) {
			t.Helper()
			_, err := w.E.Catalogs().Portgroups.Update(w.Ctx, group.UUID, func(g *node.Portgroup) error {
				edit(g)
				return nil
			})
			w.Must(err)
		}
		change(func(g *node.Portgroup) { g.SetVIF("v2") })
		change(func(g *node.Portgroup) { g.Address = "52:54:00:00:00:0c" })
		change(func(g *node.Portgroup) { g.Address = "" })
		want := []string{"v1 has 52:54:00:00:00:02", "v1 has 52:54:00:00:00:03", "v2 has 52:54:00:00:00:0c"}
		if !slices.Equal(s.said, want) {
			t.Errorf("the switches heard %q, expected %q", s.said, want)
		}
	})
}

// reach asks for a verb, and fails unless the node settles in a state.
func reach(w *enginetest.World, uuid string, r plan.Request, want node.State) {
	w.T.Helper()
	w.Must(w.E.Provision(w.Ctx, uuid, r))
	if n := w.Settled(uuid); n.ProvisionState != want {
		w.T.Fatalf("%s: node is %q: %s", r.Verb, n.ProvisionState, n.LastError)
	}
}
