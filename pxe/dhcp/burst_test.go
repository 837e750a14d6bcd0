package dhcp

import (
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/ferrite-metal/ferrite/pxe/socket"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// gated answers no request until it is opened.
type gated struct {
	pxetest.Booter
	open chan struct{}
}

func (g *gated) Boot(context.Context, pxe.Client) (pxe.Boot, error) {
	<-g.open
	return pxe.Boot{Action: pxe.Ramdisk}, nil
}

// TestServeBurst: of a thousand machines that ask at once, while the server is busy
// with others, every one has its offer.
func TestServeBurst(t *testing.T) {
	const machines = 1000
	booter, log := &gated{open: make(chan struct{})}, &logBuffer{}
	s, err := Listen(t.Context(), Config{
		Server: loopback(), URL: "http://127.0.77.1:8088", Port: 6768,
		Subnets: []Subnet{
			{Prefix: netip.MustParsePrefix("127.0.64.0/18"), First: ip("127.0.80.1"), Last: ip("127.0.87.255")},
		},
		Booter: booter, Leases: &pxetest.Leases{}, Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, s.Serve)
	client, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(s.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	short := socket.Queue(client)

	for n := range machines {
		d := request(dhcpv4.MessageTypeDiscover, biosROM)
		d.ClientHWAddr = mac(n)
		binary.BigEndian.PutUint32(d.TransactionID[:], uint32(n))
		if _, err := client.Write(d.ToBytes()); err != nil {
			t.Fatal(err)
		}
	}
	close(booter.open)
	if short != nil { // a kernel with a shorter queue: the log must say so
		if !strings.Contains(log.String(), "net.core.rmem_max") {
			t.Errorf("nobody is told that %v: %s", short, log)
		}
		return
	}
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	offered, addresses := map[string]bool{}, map[string]bool{}
	buf := make([]byte, 1500)
	for len(offered) < machines {
		n, err := client.Read(buf)
		if err != nil {
			t.Fatalf("%d of %d machines have an offer: %v", len(offered), machines, err)
		}
		offer, err := dhcpv4.FromBytes(buf[:n])
		if err != nil {
			t.Fatal(err)
		}
		offered[offer.ClientHWAddr.String()], addresses[fmt.Sprint(offer.YourIPAddr)] = true, true
	}
	if len(addresses) != machines {
		t.Errorf("%d machines have %d addresses", machines, len(addresses))
	}
}
