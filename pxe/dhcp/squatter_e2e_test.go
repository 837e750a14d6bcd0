//go:build e2e

package dhcp

import (
	"log/slog"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// ways to the machines: a link, and a subnet behind a relay, each with hosts at addresses of its pool.
var squatted = []string{
	"link set lo up",
	"link add ours address 02:00:00:77:00:01 type veth peer theirs address 02:00:00:77:00:02",
	"addr add 10.77.0.1/24 dev ours", "link set ours up", "link set theirs up",
	"addr add 10.77.0.100/32 dev theirs", "addr add 10.77.0.102/32 dev theirs",
	"addr add 10.88.0.10/32 dev lo",
}

// TestE2ESquatter: an address that answers ARP on the link, or ICMP behind a relay, is not offered, and the first
// machine that asks does not wait for that.
func TestE2ESquatter(t *testing.T) {
	const inNamespace = "FERRITE_DHCP_E2E_NAMESPACE"
	if os.Getenv(inNamespace) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("in a network namespace, as root: %v\n%s", err, out)
		}
		return
	}
	for _, args := range squatted {
		if out, err := exec.CommandContext(t.Context(), "ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", args, err, out)
		}
	}
	booter, heard := &pxetest.Booter{}, &seen{}
	conf := Config{Interface: "ours", Server: ip("10.77.0.1"), Booter: booter, Leases: &pxetest.Leases{},
		Subnets: []Subnet{
			{Prefix: netip.MustParsePrefix("10.77.0.0/24"), First: ip("10.77.0.100"), Last: ip("10.77.0.103")},
			{Prefix: netip.MustParsePrefix("10.88.0.0/24"), First: ip("10.88.0.10"), Last: ip("10.88.0.12")},
		}, Log: slog.New(slog.DiscardHandler)}
	for n := range 3 {
		booter.Set(mac(n+1), pxe.Boot{Action: pxe.Address})
	}
	s, err := Listen(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	ear, err := Overhear(Config{Interface: "theirs", OtherDHCP: true, Recorder: heard, Log: conf.Log})
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, ear.Serve)
	discover(t, request(dhcpv4.MessageTypeDiscover, broadcastFlag)) // waits in the kernel's queue
	began := time.Now()
	pxetest.Serve(t, s.Serve)
	if got := heard.last(t, 1); got.IP != ip("10.77.0.101") {
		t.Errorf("the first machine is offered %v", got.IP)
	}
	discover(t, request(dhcpv4.MessageTypeDiscover, broadcastFlag, from(2), address(optRequested, "10.77.0.102")))
	if got := heard.last(t, 2); got.IP != ip("10.77.0.103") {
		t.Errorf("the second machine, which wishes for one in use, is offered %v", got.IP)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("both took %v", took)
	}
	for s.relayed() != 2 { // in the background
		time.Sleep(10 * time.Millisecond)
	}
	_, offer, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(3), giaddr("10.88.0.1")))
	if offer == nil || addr(offer.YourIPAddr) != ip("10.88.0.11") {
		t.Errorf("behind the relay a machine is offered %v", offer)
	}
}

// relayed is how many addresses of the relayed subnet were found free.
func (s *Server) relayed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.pool.stocks[1].probed)
}

// discover broadcasts a request on the machines' end of the link.
func discover(t *testing.T, req *dhcpv4.DHCPv4) {
	t.Helper()
	link, err := net.InterfaceByName("theirs")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: link.Index, Halen: 6,
		Addr: [8]byte{255, 255, 255, 255, 255, 255}}
	b := datagram(netip.MustParseAddrPort("0.0.0.0:68"), netip.AddrPortFrom(broadcast(), 67), req.ToBytes())
	if err := unix.Sendto(fd, b, 0, to); err != nil {
		t.Fatal(err)
	}
}
