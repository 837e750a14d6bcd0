//go:build e2e

package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/insomniacslk/dhcp/iana"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/lab/suitetest"
	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/dhcp"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/server"
)

// relays start a DHCP relay on a rack's router that names itself to the conductor by an address.
var relays = map[string]func(t *testing.T, router neighbour, address string){
	"dnsmasq": func(t *testing.T, router neighbour, address string) {
		router.run(t, "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--log-dhcp", "--user=root", "--pid-file=",
			"--conf-file=/dev/null", "--port=0", "--dhcp-relay="+address+",10.77.0.1")
	},
}

// rack is a network with one machine behind a router, which relays DHCP.
type rack struct {
	router, machine neighbour
	mac             net.HardwareAddr
}

// newRack makes a rack. The router has an address on the bridge and one in the rack, by which the relay
// names itself.
func newRack(t *testing.T, relay string, uplink, inside netip.Prefix, mac net.HardwareAddr) rack {
	t.Helper()
	r := rack{newNeighbour(t, uplink.String()), newHost(t), mac}
	r.router.lines(t,
		"ip link add eth1 type veth peer name eth0 address "+mac.String()+" netns "+r.machine.pid,
		"ip addr add "+inside.String()+" dev eth1",
		"ip link set eth1 up",
		"ip route add default via 10.77.0.1")
	r.router.do(t, func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0) })
	r.machine.lines(t, "ip link set lo up", "ip link set eth0 up")
	lines(t, "ip route add "+inside.Masked().String()+" via "+uplink.Addr().String())
	t.Cleanup(func() {
		if out, err := exec.Command("ip", "route", "del", inside.Masked().String()).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	relays[relay](t, r.router, inside.Addr().String())
	return r
}

// do calls f with the host's network: sockets that f opens stay there.
func (n neighbour) do(t *testing.T, f func() error) {
	t.Helper()
	runtime.LockOSThread() // it continues with the same network: when it ended, the daemons that it started would end
	defer runtime.UnlockOSThread()
	own := networkOf(t, "thread-self")
	enter(t, networkOf(t, n.pid))
	err := f()
	enter(t, own)
	if err != nil {
		t.Fatal(err)
	}
}

// networkOf opens the network namespace of a process.
func networkOf(t *testing.T, pid string) *os.File {
	t.Helper()
	file, err := os.Open("/proc/" + pid + "/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// enter moves the thread into a network namespace.
func enter(t *testing.T, network *os.File) {
	t.Helper()
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		t.Fatalf("enter %s: %v", network.Name(), err)
	}
}

// client opens a DHCP client on the machine. It asks again after 250 ms, 500 ms and so on, 32 s together: the relay
// may not listen yet.
func (r rack) client(t *testing.T) *nclient4.Client {
	t.Helper()
	var c *nclient4.Client
	r.machine.do(t, func() (err error) {
		c, err = nclient4.New("eth0", nclient4.WithTimeout(250*time.Millisecond), nclient4.WithRetry(7))
		return err
	})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// uefi turns a request into one from UEFI firmware.
func uefi(p *dhcpv4.DHCPv4) {
	p.UpdateOption(dhcpv4.OptClientArch(iana.EFI_X86_64))
	p.UpdateOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00007:UNDI:003016"))
}

// lease takes the machine from DISCOVER to ACK.
func (r rack) lease(t *testing.T) *dhcpv4.DHCPv4 {
	t.Helper()
	got, err := r.client(t).Request(t.Context(), uefi)
	if err != nil {
		t.Fatalf("%v gets no address: %v", r.mac, err)
	}
	return got.ACK
}

// fetch has the machine read a URL.
func (r rack) fetch(t *testing.T, url string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "nsenter", "-t", r.machine.pid, "-n",
		"curl", "-sS", "--fail", "--max-time", "30", url)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(cmd.Args, " "), err)
	}
	return string(out)
}

// rackMAC is the MAC of the machine in a rack.
func rackMAC(n byte) net.HardwareAddr { return net.HardwareAddr{0x52, 0x54, 0, 0x77, 1, n} }

// subnetOf is a subnet with the eleven addresses from .100 to .110, and the router .1.
func subnetOf(prefix string) dhcp.Subnet {
	p := netip.MustParsePrefix(prefix)
	a := p.Addr().As4()
	at := func(n byte) netip.Addr { return netip.AddrFrom4([4]byte{a[0], a[1], a[2], n}) }
	return dhcp.Subnet{Prefix: p, First: at(100), Last: at(110), Router: at(1)}
}

// bootNetwork is the configuration of a service on the bridge.
func bootNetwork(booter pxe.Booter, more ...dhcp.Subnet) server.Config {
	return server.Config{
		Interface: "br0", Address: netip.MustParseAddr("10.77.0.1"), Booter: booter, Leases: &pxetest.Leases{},
		Subnets: append([]dhcp.Subnet{subnetOf("10.77.0.0/24")}, more...), Log: slog.New(slog.DiscardHandler),
	}
}

// listen starts a service.
func listen(t *testing.T, c server.Config) *server.Server {
	t.Helper()
	s, err := server.Listen(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, s.Serve)
	return s
}

// TestE2ERelays: a machine behind Debian's dnsmasq as a relay boots by an address of its rack, also when another rack
// has the same addresses. A machine behind an unlisted relay gets no answer, and a pool within another's subnet keeps
// the service from starting.
func TestE2ERelays(t *testing.T) {
	suitetest.Need(t, "")
	t.Setenv(kernelFile, os.DevNull) // it boots nothing
	if !inOwnNetwork(t) {
		return
	}
	booter := &pxetest.Booter{}
	for n := range byte(3) {
		booter.Set(rackMAC(n), pxe.Boot{Action: pxe.Ramdisk, Kernel: os.DevNull, Initrd: os.DevNull, Cmdline: cmdline})
	}
	t.Run("overlap", func(t *testing.T) {
		s, err := server.Listen(t.Context(), bootNetwork(booter, subnetOf("10.2.0.0/24"), subnetOf("10.2.0.0/25")))
		if err == nil {
			t.Fatal(s.Close(), "a pool within another's subnet was served")
		}
		if want := "subnets 10.2.0.0/24 and 10.2.0.0/25 overlap"; !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	})
	t.Run("two", func(t *testing.T) { relayed(t, booter, "dnsmasq") })
	t.Run("alike", func(t *testing.T) { builtAlike(t, booter) })
	t.Run("unknown", func(t *testing.T) { unknownRelay(t, booter) })
}

// relayed serves two racks at a time.
func relayed(t *testing.T, booter *pxetest.Booter, relay string) {
	s := listen(t, bootNetwork(booter, subnetOf("10.2.0.0/24"), subnetOf("10.3.0.0/24")))
	for n, subnet := range []string{"10.2.0", "10.3.0"} {
		r := newRack(t, relay, netip.MustParsePrefix(fmt.Sprintf("10.77.0.%d/24", 11+n)),
			netip.MustParsePrefix(subnet+".1/24"), rackMAC(byte(n)))
		ack := r.lease(t)
		if got := ack.YourIPAddr.String(); got != subnet+".100" || ack.BootFileName == "" ||
			!slices.ContainsFunc(ack.Router(), net.ParseIP(subnet+".1").Equal) {
			t.Fatalf("behind the relay %s.1 the answer is %s", subnet, ack.Summary())
		}
		r.machine.lines(t, "ip addr add "+subnet+".100/24 dev eth0", "ip route add default via "+subnet+".1")
		if file := r.fetch(t, "tftp://"+ack.ServerIPAddr.String()+"/"+ack.BootFileName); len(file) < 100<<10 {
			t.Errorf("%s has %d bytes", ack.BootFileName, len(file))
		}
		if script := r.fetch(t, s.URL()+pxe.ScriptPath(r.mac)); !strings.Contains(script, pxe.KernelPath(r.mac)) {
			t.Errorf("the script is:\n%s", script)
		}
	}
	events := s.Watch().Read(0)
	defer events.Close()
	seen := map[string]bool{}
	all, _ := events.Now()
	for _, e := range all {
		if e.Reason != "" || e.Service == pxe.DHCP && !e.Known {
			t.Errorf("%+v", e)
		}
		seen[fmt.Sprint(e.Service, " ", e.MAC, " ", e.Subnet, " ", e.Relay)] = true
	}
	for n, subnet := range []string{"10.2.0", "10.3.0"} {
		if want := fmt.Sprintf("dhcp %v %s.0/24 %[2]s.1", rackMAC(byte(n)), subnet); !seen[want] {
			t.Errorf("watch shows %v, want %s", seen, want)
		}
		if want := fmt.Sprintf("tftp %v invalid Prefix invalid IP", rackMAC(byte(n))); !seen[want] {
			t.Errorf("watch shows %v, want %s", seen, want)
		}
	}
}

// builtAlike serves two racks that have the same addresses. The relay of each names itself by an address of its own,
// and a route leads to its rack meanwhile.
func builtAlike(t *testing.T, booter *pxetest.Booter) {
	const address = "10.2.0.100"
	alike := []dhcp.Subnet{subnetOf("10.2.0.0/24"), subnetOf("10.2.0.0/24")}
	for n := range alike {
		alike[n].Name = fmt.Sprint("rack-", n+1)
		alike[n].Relays = []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(n + 1)})}
	}
	s := listen(t, bootNetwork(booter, alike...))
	var racks []rack
	for n, subnet := range alike {
		r := newRack(t, "dnsmasq", netip.MustParsePrefix(fmt.Sprintf("10.77.0.%d/24", 14+n)),
			netip.PrefixFrom(subnet.Relays[0], 32), rackMAC(byte(n)))
		r.router.lines(t, "ip addr add 10.2.0.1/24 dev eth1")
		if ack := r.lease(t); ack.YourIPAddr.String() != address || ack.BootFileName == "" {
			t.Fatalf("in %v the answer is %s", subnet, ack.Summary())
		}
		r.machine.lines(t, "ip addr add "+address+"/24 dev eth0", "ip route add default via 10.2.0.1")
		racks = append(racks, r)
	}
	for n, r := range racks {
		lines(t, fmt.Sprintf("ip route replace 10.2.0.0/24 via 10.77.0.%d", 14+n))
		if script := r.fetch(t, s.URL()+pxe.ScriptPath(r.mac)); !strings.Contains(script, pxe.KernelPath(r.mac)) {
			t.Errorf("the script is:\n%s", script)
		}
		if c, ok := s.Client(netip.MustParseAddr(address), r.mac); !ok || c.MAC.String() != r.mac.String() {
			t.Errorf("%s of %v is taken for that of %+v, %v", address, r.mac, c, ok)
		}
	}
	if c, ok := s.Client(netip.MustParseAddr(address), nil); ok {
		t.Errorf("%s, which two machines have, is taken for that of %+v", address, c)
	}
	lines(t, "ip route del 10.2.0.0/24")
}

// unknownRelay asks by an unlisted relay, until the request is on record.
func unknownRelay(t *testing.T, booter *pxetest.Booter) {
	s := listen(t, bootNetwork(booter, subnetOf("10.2.0.0/24")))
	r := newRack(t, "dnsmasq", netip.MustParsePrefix("10.77.0.13/24"), netip.MustParsePrefix("10.99.0.1/24"), rackMAC(2))
	events := s.Watch().Read(0)
	defer events.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client, offered := r.client(t), make(chan *dhcpv4.DHCPv4, 1)
	go func() {
		offer, _ := client.DiscoverOffer(ctx, uefi) // it ends with the context
		offered <- offer
	}()
	e := await(t, events, func() {}, func(e pxe.Event) bool { return e.MAC.String() == r.mac.String() })
	why, try := e.Why()
	if e.Reason != pxe.ReasonNoSubnet || e.Relay.String() != "10.99.0.1" || e.Answer != "" ||
		why != "no such subnet" || try != "add it to boot-subnets" {
		t.Errorf("%+v: %s, %s", e, why, try)
	}
	cancel()
	if offer := <-offered; offer != nil {
		t.Errorf("behind a relay of no subnet: %s", offer.Summary())
	}
}
