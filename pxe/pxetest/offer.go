package pxetest

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
)

// askAgain is when a client without an answer asks anew: datagrams get lost,
// and on a busy machine a server takes its time.
const askAgain = 5 * time.Second

// Offer returns the offer of a DHCP server on loopback to a machine with further options.
func Offer(t *testing.T, server netip.AddrPort, mac net.HardwareAddr, more ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	req, err := dhcpv4.NewDiscovery(mac, more...)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(server))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }() // it has said all it had to
	for range 3 {
		offer, err := exchange(conn, req)
		if err == nil {
			return offer
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	t.Fatalf("no offer from %v for %v", server, mac)
	return nil
}

// exchange sends a request and reads one answer.
func exchange(conn *net.UDPConn, req *dhcpv4.DHCPv4) (*dhcpv4.DHCPv4, error) {
	if err := conn.SetDeadline(time.Now().Add(askAgain)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(req.ToBytes()); err != nil {
		return nil, err
	}
	buf := make([]byte, 1500)
	n, err := conn.Read(buf)
	if err != nil {
		return nil, err
	}
	return dhcpv4.FromBytes(buf[:n])
}
