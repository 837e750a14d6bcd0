//go:build e2e && ways

package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/server"
	"github.com/ferrite-metal/ferrite/pxe/snippet"
)

// write writes a file of a test.
func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// dhcpServers start a DHCP server at 10.77.0.2, with further settings besides addresses.
var dhcpServers = map[string]func(t *testing.T, n neighbour, more string){
	"dnsmasq": func(t *testing.T, n neighbour, more string) {
		conf := write(t, "dnsmasq.conf", "port=0\ninterface=eth0\nno-ping\ndhcp-range=10.77.0.100,10.77.0.110,1h\n"+
			"dhcp-leasefile="+filepath.Join(t.TempDir(), "leases")+"\n"+more)
		n.run(t, "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--log-dhcp", "--user=root", "--conf-file="+conf)
	},
	"kea": func(t *testing.T, n neighbour, more string) {
		dir := t.TempDir()
		if more != "" {
			more = "," + more
		}
		conf := write(t, "kea.json", `{"Dhcp4": {"interfaces-config": {"interfaces": ["eth0"]},
"lease-database": {"type": "memfile", "persist": false}, "valid-lifetime": 3600,
"loggers": [{"name": "kea-dhcp4", "output_options": [{"output": "stdout"}], "severity": "INFO"}],
"subnet4": [{"subnet": "10.77.0.0/24", "pools": [{"pool": "10.77.0.100 - 10.77.0.110"}]}]`+more+"}}")
		n.run(t, "env", "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir, "kea-dhcp4", "-c", conf)
	},
	"isc": func(t *testing.T, n neighbour, more string) {
		leases := write(t, "leases", "")
		conf := write(t, "dhcpd.conf", "authoritative;\n"+more+
			"\nsubnet 10.77.0.0 netmask 255.255.255.0 { range 10.77.0.100 10.77.0.110; }\n")
		n.run(t, "dhcpd", "-f", "-d", "-cf", conf, "-lf", leases, "-pf", filepath.Join(t.TempDir(), "pid"), "eth0")
	},
}

// startWay starts our service at 10.77.0.1, beside another DHCP server.
func startWay(t *testing.T, w *watcher, mode server.DHCPMode) {
	t.Helper()
	log := io.Writer(io.Discard)
	if testing.Verbose() {
		log = os.Stderr
	}
	s, err := server.Listen(t.Context(), server.Config{
		Interface: "br0", Address: netip.MustParseAddr("10.77.0.1"), DHCP: mode, Booter: w, Leases: &pxetest.Leases{},
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, s.Serve)
}

// TestWays boots real firmware beside real DHCP servers: with proxyDHCP, and with the settings
// that we print for them. It ends with the longest time from power-on to the ramdisk of each.
func TestWays(t *testing.T) {
	suitetest.Need(t, "dhcp-test")
	if !inOwnNetwork(t) {
		return
	}
	mac := net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1}
	boot := pxe.Boot{Action: pxe.Ramdisk, Kernel: os.Getenv(kernelFile), Initrd: emptyCPIO(t), Cmdline: cmdline}
	firmware := []struct {
		name string
		uefi bool
		nic  string
		more []string
	}{
		{"bios-ipxe-rom", false, "", biosConsole(t)},
		{"bios-undionly", false, "", chainUndionly(t)},
		{"uefi-pxe-tftp", true, ",romfile=", nil},
		{"uefi-http", true, ",romfile=", httpOnly()},
	}
	slowest := map[server.DHCPMode]time.Duration{}
	for _, way := range []struct {
		mode   server.DHCPMode
		server string
		more   string
	}{
		{server.DHCPProxy, "dnsmasq", "dhcp-reply-delay=2\n"}, // our answer comes first
		{server.DHCPProxy, "kea", ""}, {server.DHCPProxy, "isc", ""},
		{server.DHCPOff, "dnsmasq", ""}, {server.DHCPOff, "kea", ""}, {server.DHCPOff, "isc", ""},
	} {
		t.Run(fmt.Sprintf("%s/%s", way.mode, way.server), func(t *testing.T) {
			more := way.more
			if way.mode == server.DHCPOff {
				var err error
				if more, err = snippet.Text(way.server, "http://10.77.0.1:8088"); err != nil {
					t.Fatal(err)
				}
			}
			dhcpServers[way.server](t, newNeighbour(t, "10.77.0.2/24"), more)
			w := &watcher{}
			w.Set(mac, boot)
			startWay(t, w, way.mode)
			for _, f := range firmware {
				t.Run(f.name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
					defer cancel()
					w.powerOn()
					boots(ctx, t, w, machine(ctx, t, f.uefi, f.nic, f.more...))
					seen, story := w.times()
					slowest[way.mode] = max(slowest[way.mode], seen[pxe.StageRamdisk])
					t.Logf("way %s/%s/%s: ramdisk after %.1f s: %s", way.mode, way.server, f.name,
						seen[pxe.StageRamdisk].Seconds(), story)
				})
			}
		})
	}
	if !t.Failed() {
		fmt.Printf("dhcp-test: proxy %.1f s, dhcp-off %.1f s\n", slowest[server.DHCPProxy].Seconds(),
			slowest[server.DHCPOff].Seconds())
	}
}
