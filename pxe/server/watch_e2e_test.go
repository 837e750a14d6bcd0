//go:build e2e

package server_test

import (
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/server"
	"github.com/ferrite-metal/ferrite/pxe/watch"
)

// frame is an Ethernet frame to everybody, with an IPv4 datagram. Its UDP checksum is 0: none.
func frame(from net.HardwareAddr, src, dst netip.AddrPort, payload []byte) []byte {
	b := append([]byte{255, 255, 255, 255, 255, 255}, from...)
	b = binary.BigEndian.AppendUint16(b, unix.ETH_P_IP)
	ip := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, unix.IPPROTO_UDP, 0, 0}
	binary.BigEndian.PutUint16(ip[2:], uint16(28+len(payload)))
	ip = append(append(ip, src.Addr().AsSlice()...), dst.Addr().AsSlice()...)
	sum := uint32(0)
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
	udp := binary.BigEndian.AppendUint16(nil, src.Port())
	udp = binary.BigEndian.AppendUint16(udp, dst.Port())
	udp = binary.BigEndian.AppendUint16(udp, uint16(8+len(payload)))
	return append(append(append(b, ip...), append(udp, 0, 0)...), payload...)
}

// cable is the far end of a wire that is plugged into the bridge.
type cable struct {
	fd    int
	index int
}

func newCable(t *testing.T) cable {
	t.Helper()
	for _, args := range []string{
		"link add far type veth peer name near", "link set near master br0 up", "link set far up",
	} {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	link, err := net.InterfaceByName("far")
	if err != nil {
		t.Fatal(err)
	}
	return cable{fd, link.Index}
}

func (c cable) send(t *testing.T, b []byte) {
	t.Helper()
	if err := unix.Sendto(c.fd, b, 0, &unix.SockaddrLinklayer{Ifindex: c.index, Halen: 6}); err != nil {
		t.Fatal(err)
	}
}

// await reads events until one fits. It sends again meanwhile: a bridge's port may not forward at once.
func await(t *testing.T, r *watch.Reader, send func(), fits func(pxe.Event) bool) pxe.Event {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		send()
		time.Sleep(100 * time.Millisecond)
		all, _ := r.Now()
		for _, e := range all {
			if fits(e) {
				return e
			}
		}
	}
	t.Fatal("the event does not come")
	return pxe.Event{}
}

// TestWatch puts real packets on the boot network: of a second DHCP server, of an unknown machine, and of a machine
// behind an unlisted relay.
func TestWatch(t *testing.T) {
	t.Setenv(kernelFile, os.DevNull) // it boots nothing
	if !inOwnNetwork(t) {
		return
	}
	for _, tc := range []struct {
		mode   server.DHCPMode
		reason pxe.Reason // of another server's offer
		log    string
	}{
		{server.DHCPFull, pxe.ReasonUnexpectedDHCP, "level=WARN"}, {server.DHCPProxy, "", "level=INFO"},
		{server.DHCPOff, "", "level=INFO"},
	} {
		t.Run(string(tc.mode), func(t *testing.T) {
			log := &serial{}
			booter := &pxetest.Booter{}
			known := net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 1}
			stranger := net.HardwareAddr{0x52, 0x54, 0, 0x77, 0, 0x99}
			booter.Set(known, pxe.Boot{Action: pxe.Ramdisk})
			booter.Set(stranger, pxe.Boot{Why: pxe.ReasonUnknown})
			s, err := server.Listen(t.Context(), server.Config{
				Interface: "br0", Address: netip.MustParseAddr("10.77.0.1"), DHCP: tc.mode, Booter: booter,
				Subnets: []dhcp.Subnet{{Prefix: netip.MustParsePrefix("10.77.0.0/24"),
					First: netip.MustParseAddr("10.77.0.100"), Last: netip.MustParseAddr("10.77.0.110")}},
				Leases: &pxetest.Leases{}, Log: slog.New(slog.NewTextHandler(log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			pxetest.Serve(t, s.Serve)
			wire := newCable(t)
			t.Cleanup(func() {
				if out, err := exec.Command("ip", "link", "del", "far").CombinedOutput(); err != nil {
					t.Errorf("%v: %s", err, out)
				}
			})
			r := s.Watch().Read(0)
			defer r.Close()
			dhcpMessage := func(mac net.HardwareAddr, more ...dhcpv4.Modifier) []byte {
				p, err := dhcpv4.NewDiscovery(mac, append(more, dhcpv4.WithOption(dhcpv4.OptClientArch(iana.EFI_X86_64)),
					dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00007:UNDI:003016")))...)
				if err != nil {
					t.Fatal(err)
				}
				return p.ToBytes()
			}
			everybody := netip.MustParseAddr("255.255.255.255")
			two := netip.MustParseAddr("10.77.0.2")
			offer := await(t, r, func() {
				p := dhcpMessage(known, dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer), dhcpv4.WithServerIP(two.AsSlice()),
					dhcpv4.WithYourIP(net.IPv4(10, 77, 0, 150)), dhcpv4.WithOption(dhcpv4.OptServerIdentifier(two.AsSlice())),
					func(p *dhcpv4.DHCPv4) { p.OpCode = dhcpv4.OpcodeBootReply })
				wire.send(t, frame(stranger, netip.AddrPortFrom(two, 67), netip.AddrPortFrom(everybody, 68), p))
			}, func(e pxe.Event) bool { return e.Service == pxe.Neighbour })
			if offer.Asked() != "OFFER heard" || offer.Server != two || offer.IP.String() != "10.77.0.150" ||
				offer.Reason != tc.reason || offer.MAC.String() != known.String() {
				t.Errorf("%+v", offer)
			}
			if all := s.Watch().Servers(); len(all) != 1 || all[0].Address != two || !all[0].Lends ||
				all[0].Expected != (tc.mode != server.DHCPFull) {
				t.Errorf("servers are %+v", all)
			}
			if text := log.String(); strings.Count(text, "another DHCP server") != 1 ||
				!strings.Contains(text, tc.log+` msg="another DHCP server`) {
				t.Errorf("log:\n%s", text)
			}
			if tc.mode == server.DHCPOff {
				return
			}
			unknown := await(t, r, func() {
				wire.send(t, frame(stranger, netip.MustParseAddrPort("0.0.0.0:68"), netip.AddrPortFrom(everybody, 67),
					dhcpMessage(stranger)))
			}, func(e pxe.Event) bool { return e.MAC.String() == stranger.String() })
			if unknown.Reason != pxe.ReasonUnknown || unknown.Answer != "" || unknown.Asked() != "DISCOVER UEFI x64" {
				t.Errorf("%+v", unknown)
			}
			if tc.mode == server.DHCPProxy {
				return
			}
			relayed := await(t, r, func() {
				wire.send(t, frame(stranger, netip.MustParseAddrPort("10.99.0.1:67"), netip.AddrPortFrom(everybody, 67),
					dhcpMessage(known, dhcpv4.WithRelay(net.IPv4(10, 99, 0, 1)))))
			}, func(e pxe.Event) bool { return e.Relay.IsValid() })
			if relayed.Reason != pxe.ReasonNoSubnet || relayed.Relay.String() != "10.99.0.1" || !relayed.Known {
				t.Errorf("%+v", relayed)
			}
		})
	}
}
