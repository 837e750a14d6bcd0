package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/lab/network"
	netswitch "github.com/ferrite-metal/ferrite/lab/network/switch"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/site"
)

// scriptStage is the boot stage of a machine that asks the conductor for its boot script.
const scriptStage = "ipxe script"

// besideDnsmasq inspects a machine that has its address from Debian's dnsmasq, which names the boot
// files by the settings that `ferrite boot snippet` prints.
func besideDnsmasq(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--dhcp", "off")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	settings, err := exec.CommandContext(ctx, filepath.Join(b.bin, "ferrite"), "boot", "snippet", "dnsmasq",
		"--boot-address", s.Network.Gateway.String()).Output()
	if err != nil {
		return fmt.Errorf("ferrite boot snippet dnsmasq: %w", err)
	}
	if err := b.dnsmasq(s, s.Network, b.addresses(s, network.BridgeName)+string(settings)); err != nil {
		return err
	}
	return b.inspectedBy(ctx, s, "dhcp-off", scriptStage, nil)
}

// behindProxy inspects a machine that has its address from a dnsmasq, which names no boot file: the
// conductor does. The dnsmasq is on a host of its own.
func behindProxy(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--dhcp", "proxy")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	host, err := s.Network.AddHost("dhcp", onLab(s))
	if err != nil {
		return err
	}
	if err := b.dnsmasq(s, host, b.addresses(s, network.HostLink)); err != nil {
		return err
	}
	return b.inspectedBy(ctx, s, "proxy", scriptStage, nil)
}

// sharedProxy is the same with a dnsmasq on the conductor's own host, which shares port 67.
func sharedProxy(ctx context.Context, b *bed) (err error) {
	s, done, err := b.site(ctx, []qemu.Spec{machine("metal-1", qemu.UEFI)}, "--dhcp", "proxy")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := b.dnsmasq(s, s.Network, "bind-dynamic\n"+b.addresses(s, network.BridgeName)); err != nil {
		return err
	}
	return b.inspectedBy(ctx, s, "proxy-shared", scriptStage, nil)
}

// onLab is the address of another host on the lab's bridge.
func onLab(s *site.Site) netip.Prefix {
	return netip.PrefixFrom(s.Network.Gateway.Next(), s.Network.Subnet.Bits())
}

// addresses are the settings of a dnsmasq that gives addresses of the lab's network by an interface.
func (b *bed) addresses(s *site.Site, card string) string {
	a := s.Network.Subnet.Addr().As4()
	return fmt.Sprintf("interface=%s\nno-ping\ndhcp-range=%d.%d.%d.100,%[2]d.%[3]d.%[4]d.110,1h\ndhcp-leasefile=%s\n",
		card, a[0], a[1], a[2], filepath.Join(b.dir, "dnsmasq.leases"))
}

// dnsmasq starts Debian's dnsmasq on a host.
func (b *bed) dnsmasq(s *site.Site, host *network.Namespace, settings string) error {
	conf := filepath.Join(b.dir, "dnsmasq.conf")
	if err := os.WriteFile(conf, []byte("port=0\n"+settings), 0o644); err != nil {
		return err
	}
	_, err := s.StartOn(host, "dnsmasq", exec.Command("dnsmasq", "--keep-in-foreground", "--log-facility=-", "--log-dhcp",
		"--user=root", "--pid-file=", "--conf-file="+conf))
	return err
}

// behindRelay inspects a machine of a rack of its own: dnsmasq on the rack's router relays its DHCP to the
// conductor, and the router forwards the rest.
func behindRelay(ctx context.Context, b *bed) (err error) {
	spec := machine("metal-1", qemu.UEFI)
	wire := filepath.Join(b.dir, "wire0")
	spec.NICs[0].Wire = wire
	const rack = "rack"
	plan, err := network.NewPlan(b.labID() + "-" + rack)
	if err != nil {
		return err
	}
	s, done, err := b.site(ctx, []qemu.Spec{spec}, "--boot-subnets",
		fmt.Sprintf("%s router=%s", plan.Subnet, plan.Gateway))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	router, err := s.Network.AddHost(rack, onLab(s))
	if err != nil {
		return err
	}
	stop, err := runSwitch(ctx, []netswitch.Port{{Access: rackVLAN}}, []string{wire}, router,
		netip.PrefixFrom(plan.Gateway, plan.Subnet.Bits()))
	if err != nil {
		return err
	}
	defer stop()
	err = errors.Join(router.Forwards(), s.Network.Route(plan.Subnet, onLab(s).Addr()),
		b.dnsmasq(s, router, fmt.Sprintf("dhcp-relay=%s,%s\n", plan.Gateway, s.Network.Gateway)))
	if err != nil {
		return err
	}
	return b.inspectedBy(ctx, s, "relay", scriptStage, nil)
}
