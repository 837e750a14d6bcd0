package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/lab/network"
	"github.com/ferrite-metal/ferrite/lab/qemu"
)

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
	a := s.Network.Subnet.Addr().As4()
	conf := filepath.Join(b.dir, "dnsmasq.conf")
	text := fmt.Sprintf("port=0\ninterface=%s\nno-ping\ndhcp-range=%d.%d.%d.100,%[2]d.%[3]d.%[4]d.110,1h\n"+
		"dhcp-leasefile=%s\n%s", network.BridgeName, a[0], a[1], a[2], filepath.Join(b.dir, "dnsmasq.leases"), settings)
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		return err
	}
	if _, err := s.Start("dnsmasq", exec.Command("dnsmasq", "--keep-in-foreground", "--log-facility=-", "--log-dhcp",
		"--user=root", "--pid-file=", "--conf-file="+conf)); err != nil {
		return err
	}
	return b.inspectedBy(ctx, s, "dhcp-off", "ipxe script", nil)
}
