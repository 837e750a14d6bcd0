package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/lab"
	"github.com/ferrite-metal/ferrite/lab/network"
	netswitch "github.com/ferrite-metal/ferrite/lab/network/switch"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// bootsOfNetwork is how often each firmware boots on each network.
const bootsOfNetwork = 5

// bothFirmwares boot from a medium in ways of their own: UEFI by GRUB, BIOS by ISOLINUX.
var bothFirmwares = []qemu.Firmware{qemu.UEFI, qemu.BIOS}

// The network behind the switch, in its VLAN: two routers, of which one is down.
const (
	rackVLAN    = 100
	rackUplink  = "uplink"
	rackRouter  = "10.7.0.1"
	deadRouter  = "10.7.0.2"
	rackRouter6 = "fd00:7::1"
)

// staticNetwork is a network without DHCP that a machine with two cards is at.
type staticNetwork struct {
	name  string
	ports []netswitch.Port // of the machine's cards
	six   bool             // the conductor is reached by IPv6
	data  func(macs [2]string, last int) map[string]any
}

// staticNetworks are the kinds that a medium must get a machine through.
var staticNetworks = []staticNetwork{
	{name: "ipv4", ports: []netswitch.Port{{Access: rackVLAN}, {Access: 7}},
		data: func(macs [2]string, last int) map[string]any {
			return networkData(bothCards(macs), ipv4At("card0", last, rackRouter))
		}},
	{name: "vlan", ports: []netswitch.Port{{Access: 7, Tagged: []int{rackVLAN}}, {Access: 7}},
		data: func(macs [2]string, last int) map[string]any {
			return networkData(append(bothCards(macs), vlanOf("card0", macs[0])), ipv4At("tagged", last, rackRouter))
		}},
	{name: "bond", ports: []netswitch.Port{{Access: rackVLAN, Group: 1}, {Access: rackVLAN, Group: 1}},
		data: func(macs [2]string, last int) map[string]any {
			return networkData(append(bothCards(macs), map[string]any{"id": "both", "type": "bond", "bond_mode": "802.3ad",
				"ethernet_mac_address": macs[0], "bond_links": []string{"card0", "card1"}, "bond_lacp_rate": "fast"}),
				ipv4At("both", last, rackRouter))
		}},
	{name: "routers", ports: []netswitch.Port{{Access: rackVLAN}, {Access: 7}},
		data: func(macs [2]string, last int) map[string]any {
			return networkData(bothCards(macs), ipv4At("card0", last, deadRouter, rackRouter))
		}},
	{name: "ipv6", ports: []netswitch.Port{{Access: rackVLAN}, {Access: 7}}, six: true,
		data: func(macs [2]string, last int) map[string]any {
			return networkData(bothCards(macs), map[string]any{"id": "n0", "network_id": "n0", "type": "ipv6", "link": "card0",
				"ip_address": fmt.Sprintf("fd00:7::%x", last), "netmask": "ffff:ffff:ffff:ffff::",
				"routes": []any{map[string]any{"network": "::", "netmask": "::", "gateway": rackRouter6}}})
		}},
}

func networkData(links []any, networks ...any) map[string]any {
	return map[string]any{"links": links, "networks": networks, "services": []any{}}
}

// bothCards are the links card0 and card1.
func bothCards(macs [2]string) (links []any) {
	for i, mac := range macs {
		links = append(links, map[string]any{"id": fmt.Sprintf("card%d", i), "type": "phy", "ethernet_mac_address": mac})
	}
	return links
}

func vlanOf(link, mac string) map[string]any {
	return map[string]any{"id": "tagged", "type": "vlan", "vlan_mac_address": mac, "vlan_link": link, "vlan_id": rackVLAN}
}

// ipv4At is a static address on a link, with a default route by each router.
func ipv4At(link string, last int, routers ...string) map[string]any {
	var routes []any
	for _, r := range routers {
		routes = append(routes, map[string]any{"network": "0.0.0.0", "netmask": "0.0.0.0", "gateway": r})
	}
	return map[string]any{"id": "n0", "network_id": "n0", "type": "ipv4", "link": link,
		"ip_address": fmt.Sprintf("10.7.0.%d", last), "netmask": "255.255.255.0", "routes": routes}
}

// mediumOn inspects a machine again and again from its virtual drive. Its cards are at a switch without any
// DHCP server, so that only the addresses of its medium, new ones each time, lead to the conductor.
func mediumOn(n staticNetwork, firmware qemu.Firmware) func(context.Context, *bed) error {
	return func(ctx context.Context, b *bed) (err error) {
		spec := machine("metal-1", firmware)
		wires := []string{filepath.Join(b.dir, "wire0"), filepath.Join(b.dir, "wire1")}
		spec.NICs = []qemu.NIC{{Wire: wires[0]}, {Wire: wires[1]}}
		serve, err := n.serve(b.labID())
		if err != nil {
			return err
		}
		s, done, err := b.site(ctx, []qemu.Spec{spec}, serve...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, done()) }()
		stop, err := n.rack(ctx, s, wires)
		if err != nil {
			return err
		}
		defer stop()
		m := s.Machines[0]
		macs := [2]string{m.Spec().NICs[0].MAC, m.Spec().NICs[1].MAC}
		if _, err := s.Enroll(ctx, m, map[string]any{"boot_interface": "redfish-virtual-media",
			"network_data": n.data(macs, 9)}); err != nil {
			return fmt.Errorf("enroll: %w", err)
		}
		if _, err := s.Ask(ctx, m.Name, "manage", "manageable"); err != nil {
			return fmt.Errorf("manage: %w", err)
		}
		for i := range bootsOfNetwork {
			took, err := bootedBy(ctx, s, m, n.data(macs, 20+i))
			if err != nil {
				return fmt.Errorf("boot %d of %d: %w", i+1, bootsOfNetwork, err)
			}
			b.laps = append(b.laps, lap{fmt.Sprint("boot ", i+1), took})
			b.figures.bootedStatic()
		}
		return driveIsEmpty(ctx, s, m)
	}
}

// serve are the conductor's flags.
func (n staticNetwork) serve(labID string) ([]string, error) {
	flags := []string{"--dhcp", "off"}
	if !n.six {
		return flags, nil
	}
	plan, err := network.NewPlan(labID)
	return append(flags, "--api-address", fmt.Sprintf("[::]:%d", site.APIPort),
		"--advertise-url", fmt.Sprintf("http://[%s]:%d", plan.Gateway6, site.APIPort)), err
}

// rack runs the switch between a machine's wires and the lab's namespace, which has the router's addresses.
func (n staticNetwork) rack(ctx context.Context, s *site.Site, wires []string) (stop func(), err error) {
	return runSwitch(ctx, n.ports, wires, s.Network,
		netip.MustParsePrefix(rackRouter+"/24"), netip.MustParsePrefix(rackRouter6+"/64"))
}

// runSwitch runs a switch between wires to NICs, one for each port, and a new link of a router, which gets
// addresses and is in VLAN rackVLAN.
func runSwitch(ctx context.Context, ports []netswitch.Port, wires []string, router *network.Namespace,
	addresses ...netip.Prefix) (stop func(), err error) {
	core, err := netswitch.New(append(slices.Clone(ports), netswitch.Port{Access: rackVLAN}))
	if err != nil {
		return nil, err
	}
	ends, err := wiresTo(wires)
	if err != nil {
		return nil, err
	}
	var uplink io.ReadWriteCloser
	err = router.Do(func() (err error) {
		uplink, err = netswitch.Tap(rackUplink)
		return err
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	running := netswitch.Run(ctx, core, append(ends, uplink), slog.New(slog.DiscardHandler))
	stop = func() {
		cancel()
		running.Wait()
	}
	if err := router.Address(rackUplink, addresses...); err != nil {
		stop()
		return nil, err
	}
	return stop, nil
}

// wiresTo opens a switch's ends of wires to NICs.
func wiresTo(wires []string) (ends []io.ReadWriteCloser, err error) {
	for _, wire := range wires {
		end, err := netswitch.Datagrams(wire, qemu.WireEnd(wire))
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
	}
	return ends, nil
}

// bootedBy gives a machine another network for its medium, inspects it, and returns the time from power-on.
func bootedBy(ctx context.Context, s *site.Site, m *lab.Machine, data map[string]any) (time.Duration, error) {
	patch := []nodeapi.Patch{{Op: "replace", Path: "/network_data", Value: data}}
	if err := s.Call(ctx, http.MethodPatch, "/v1/nodes/"+m.Name, patch, nil); err != nil {
		return 0, err
	}
	asked := time.Now()
	if _, err := s.Ask(ctx, m.Name, "inspect", "manageable"); err != nil {
		return 0, err
	}
	st, err := s.Status(ctx, m.Name)
	if err != nil {
		return 0, err
	}
	if len(st.BootStages) == 0 || st.BootStages[0].At.Before(asked) {
		return 0, fmt.Errorf("boot stages since %s: expected those of a new boot, found %v", asked, st.BootStages)
	}
	return fromPowerOn(st.BootStages, mediumStage)
}
