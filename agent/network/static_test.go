package network

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// tagged is a VLAN on a bond of the first two cards.
func tagged(t *testing.T, ip string) netconfig.Plan {
	t.Helper()
	p, err := netconfig.KernelLine("ifname=left:52:54:00:00:00:01 ifname=right:52:54:00:00:00:02 "+
		"bond=bond0:left,right:mode=802.3ad vlan=vlan7:bond0 nameserver=10.7.0.53 ip="+ip, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// planned runs a manager with a plan until the test's end.
func planned(t *testing.T, m *machine, p netconfig.Plan, dns func([]Config)) (*Manager, func()) {
	t.Helper()
	mgr := New(m, m, mac(1), dns, slog.New(slog.DiscardHandler))
	mgr.Plan = p
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := mgr.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return mgr, func() { cancel(); wg.Wait() }
}

// TestPlan: operations run in order as soon as they are possible, a failed operation is tried again, a card that comes
// late joins, and no member asks DHCP.
func TestPlan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1", "eth2")
		late := m.links[1]
		m.links = append(m.links[:1:1], m.links[2:]...)
		m.broken["create"] = 2
		m.carrier["eth0"], m.carrier["eth2"] = true, true
		var servers []Config
		mgr, stop := planned(t, m, tagged(t, "10.7.0.9::10.7.0.1:24::vlan7:none"), func(all []Config) { servers = all })
		time.Sleep(500 * time.Millisecond)
		if s := mgr.Summary(); !strings.Contains(s, `link "bond0": create "bond0": no such device`) {
			t.Error(s)
		}
		time.Sleep(5 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		if err := mgr.Wait(ctx, false, time.Hour); err == nil {
			t.Error("the network is there before the bond has a link: " + mgr.Summary())
		}
		m.set("vlan7", true)
		if err := mgr.Wait(t.Context(), false, time.Hour); err != nil {
			t.Error(err)
		}
		if s := mgr.Summary(); !strings.Contains(s, `link "right": no card has the MAC address 52:54:00:00:00:02`) {
			t.Error(s)
		}
		late.MAC, late.Permanent = mac(1), late.MAC // as in a bond
		m.mu.Lock()
		m.links = append(m.links, late)
		m.mu.Unlock()
		time.Sleep(3 * time.Second)
		stop()
		want := []string{
			"up eth2", // outside the plan, for its link alone
			`create "bond0" on= other=`, `add to bond "left" on "bond0" on=eth0 other=bond0`, `switch on "left" on=eth0 other=`,
			`switch on "bond0" on=bond0 other=`, `create "vlan7" on "bond0" on= other=bond0`,
			`switch on "vlan7" on=vlan7 other=`,
			`set address of "vlan7" to 10.7.0.9/24 on=vlan7 other=`,
			`set route of "vlan7" to 0.0.0.0/0 by 10.7.0.1 metric 50 on=vlan7 other=`,
			`add to bond "right" on "bond0" on=eth1 other=bond0`, `switch on "right" on=eth1 other=`,
		}
		if diff := cmp.Diff(want, m.done()); diff != "" {
			t.Error(diff)
		}
		if len(m.asked) != 0 || len(servers) == 0 || servers[0].DNS[0].String() != "10.7.0.53" {
			t.Errorf("asked %v, name servers %v", m.asked, servers)
		}
	})
}

// TestPlanByDHCP: a VLAN asks DHCP once it is there, and its card does not.
func TestPlanByDHCP(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1")
		m.carrier["eth0"], m.carrier["vlan7"] = true, true
		mgr, stop := planned(t, m, tagged(t, "vlan7:dhcp"), func([]Config) {})
		if err := mgr.Wait(t.Context(), false, time.Hour); err != nil {
			t.Error(err)
		}
		stop()
		if diff := cmp.Diff(map[string]int{"vlan7": 1}, m.asked); diff != "" {
			t.Error(diff)
		}
	})
}

// TestDHCPByTheCardsAddress: a bond with cards that appear late is made when the first is there, and asks DHCP by the
// address of that card: another is known to no conductor.
func TestDHCPByTheCardsAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0", "eth1")
		cards := m.links
		m.links = nil
		m.carrier["bond0"] = true
		mgr, stop := planned(t, m, tagged(t, "bond0:dhcp"), func([]Config) {})
		defer stop()
		time.Sleep(3 * time.Second)
		if calls := m.done(); len(calls) > 0 {
			t.Errorf("done without a card: %q", calls)
		}
		m.mu.Lock()
		m.links = append(m.links, cards...)
		m.mu.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := mgr.Wait(ctx, false, time.Hour); err != nil {
			t.Error(err)
		}
		if m.asker != mac(1).String() {
			t.Errorf("asked by %s, the first card has %s", m.asker, mac(1))
		}
	})
}

func TestIsLink(t *testing.T) {
	card := Link{Name: "eth0", MAC: mac(9), Permanent: mac(1), Physical: true}
	for _, tc := range []struct {
		planned netconfig.Link
		l       Link
		want    bool
	}{
		{netconfig.Link{Kind: netconfig.Card, MAC: net.HardwareAddr(mac(1))}, card, true},
		{netconfig.Link{Kind: netconfig.Card, MAC: mac(9)}, card, false}, // the bond's address
		{netconfig.Link{Kind: netconfig.Card, Name: "eth0"}, card, true},
		{netconfig.Link{Kind: netconfig.Card, MAC: mac(1)}, Link{Name: "vlan7", MAC: mac(1)}, false},
		{netconfig.Link{Kind: netconfig.VLAN, Name: "vlan7"}, Link{Name: "vlan7", MAC: mac(1)}, true},
		{netconfig.Link{Kind: netconfig.Bond, Name: "eth0"}, card, false},
	} {
		if got := isLink(tc.planned, tc.l); got != tc.want {
			t.Errorf("%+v is %+v: %v", tc.l, tc.planned, got)
		}
	}
}
