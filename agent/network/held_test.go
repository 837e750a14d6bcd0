package network

import (
	"context"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// TestDemote: the routes by one router of a VLAN go behind the others', and back.
func TestDemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine("eth0")
		m.carrier["eth0"], m.carrier["vlan7"] = true, true
		plan, err := netconfig.NetworkData([]byte(`{"links": [
			{"id": "a", "type": "phy", "ethernet_mac_address": "52:54:00:00:00:01"},
			{"id": "b", "type": "vlan", "vlan_mac_address": "52:54:00:00:00:01", "vlan_link": "a", "vlan_id": 7}],
			"networks": [{"id": "n", "type": "ipv4", "link": "b", "ip_address": "10.7.0.9", "netmask": "255.255.255.0",
			"routes": [{"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "10.7.0.1"},
			{"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": "10.7.0.2"}]}], "services": []}`))
		if err != nil {
			t.Fatal(err)
		}
		mgr := New(m, m, nil, func([]Config) {}, slog.New(slog.DiscardHandler))
		mgr.Plan = plan
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := mgr.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		defer func() { cancel(); wg.Wait() }()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		held, err := mgr.Static()
		if err != nil || len(held) != 1 || held[0].Link.Name != "vlan7" || held[0].Base != "eth0" || !held[0].Carrier {
			t.Fatalf("held %+v, %v", held, err)
		}
		for _, dead := range []bool{true, false} {
			if err := mgr.Demote("vlan7", netip.MustParseAddr("10.7.0.1"), dead); err != nil {
				t.Error(err)
			}
		}
		moves := slices.DeleteFunc(m.done(), func(c string) bool { return !strings.HasPrefix(c, "move") })
		want := []string{"move vlan7 by 10.7.0.1 metric 50 to 10050", "move vlan7 by 10.7.0.1 metric 10050 to 50"}
		if !slices.Equal(moves, want) {
			t.Errorf("moves %v, want %v", moves, want)
		}
		if err := mgr.Demote("eth9", netip.MustParseAddr("10.7.0.1"), true); err == nil {
			t.Error("routes of an unknown interface were moved")
		}
	})
}
