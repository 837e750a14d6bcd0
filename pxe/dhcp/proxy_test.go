package dhcp

import (
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// TestProxyReplyGolden compares whole answers of a proxy, in words and in bytes.
func TestProxyReplyGolden(t *testing.T) {
	a := Answer{Server: ip("10.77.0.1"), URL: "http://10.77.0.1:8088"}
	for _, tc := range []struct {
		name     string
		req      []byte
		bootPort bool
	}{
		{"proxy-bios-discover", request(dhcpv4.MessageTypeDiscover, biosROM).ToBytes(), false},
		{"proxy-bios-boot-port", request(dhcpv4.MessageTypeRequest, biosROM, ciaddr("10.77.0.100")).ToBytes(), true},
		{"proxy-uefi-discover", captured(t, "ovmf-pxe-discover"), false},
		{"proxy-uefi-inform", request(dhcpv4.MessageTypeInform, biosROM, arch(7), ciaddr("10.77.0.100")).ToBytes(), true},
		{"proxy-uefi-http-discover", captured(t, "ovmf-http-discover"), false},
		{"proxy-ipxe-discover", captured(t, "ipxe-efi-discover"), false},
		{"proxy-relayed", request(dhcpv4.MessageTypeDiscover, biosROM, giaddr("10.88.0.254"),
			option(optRelay, 1, 4, 'p', 'o', 'r', 't')).ToBytes(), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := parse(tc.req)
			if err != nil {
				t.Fatal(err)
			}
			reply, _ := ProxyReply(req, pxe.Boot{Action: pxe.Ramdisk}, a, tc.bootPort)
			if reply == nil {
				t.Fatal("no reply")
			}
			r := proxyDestination(reply, netip.MustParseAddrPort("10.77.0.100:4011"), tc.bootPort, ports{67, 68})
			pxetest.Golden(t, filepath.Join("replies", tc.name+".txt"),
				fmt.Sprintf("to %s\n%s\n%s", r.to, reply.Summary(), hex.Dump(reply.ToBytes())))
		})
	}
}

// TestProxySilence: a proxy answers firmware that is to boot, and only requests that are meant for a proxy.
func TestProxySilence(t *testing.T) {
	discover, req := dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest
	for name, tc := range map[string]struct {
		req      *dhcpv4.DHCPv4
		action   pxe.Action
		bootPort bool
	}{
		"an operating system":                 {request(discover, system), pxe.Ramdisk, false},
		"a machine that is not ours":          {request(discover, biosROM), pxe.Ignore, false},
		"a machine that is not to boot":       {request(discover, biosROM), pxe.Address, false},
		"an architecture without a loader":    {request(discover, biosROM, arch(11)), pxe.Ramdisk, false},
		"a request to the server it chose":    {request(req, biosROM, address(optServer, "10.77.0.2")), pxe.Ramdisk, false},
		"a discover on the boot port":         {request(discover, biosROM), pxe.Ramdisk, true},
		"a release on the boot port":          {request(dhcpv4.MessageTypeRelease, biosROM), pxe.Ramdisk, true},
		"an operating system on that":         {request(req, system), pxe.Ramdisk, true},
		"no machine to boot on the boot port": {request(req, biosROM), pxe.Address, true},
	} {
		got, reason := ProxyReply(tc.req, pxe.Boot{Action: tc.action}, answerOfServer(), tc.bootPort)
		if _, explained := pxe.Reasons()[reason]; got != nil || !explained {
			t.Errorf("%s is answered with %v, reason %q", name, got, reason)
		}
	}
}

// TestProxyServes asks a running proxy on both its ports.
func TestProxyServes(t *testing.T) {
	booter := &pxetest.Booter{}
	booter.Set(mac(1), pxe.Boot{Action: pxe.Ramdisk})
	p, err := ListenProxy(t.Context(), Config{Server: netip.MustParseAddr("127.0.77.9"), URL: "http://127.0.77.9:8088",
		Port: 6767, Booter: booter, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}, 6411)
	if err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, p.Serve)
	for _, tc := range []struct {
		at    netip.AddrPort
		asks  dhcpv4.MessageType
		wants dhcpv4.MessageType
	}{
		{p.Addr(), dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeOffer},
		{p.BootAddr(), dhcpv4.MessageTypeRequest, dhcpv4.MessageTypeAck},
	} {
		got := ask(t, tc.at, request(tc.asks, biosROM))
		if got.MessageType() != tc.wants || got.BootFileNameOption() != "undionly.kpxe" || !got.YourIPAddr.IsUnspecified() {
			t.Errorf("%s at %s is answered with %s", tc.asks, tc.at, got.Summary())
		}
	}
	if s := booter.Stages(); len(s) != 2 || s[0].Stage != pxe.StageOffer || s[1].Stage != pxe.StageAck {
		t.Errorf("stages are %v, want an offer and an ack", s)
	}
}

// ask sends a request over loopback until it is answered.
func ask(t *testing.T, at netip.AddrPort, req *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	t.Helper()
	conn, err := net.DialUDP("udp4", nil, net.UDPAddrFromAddrPort(at))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	buf := make([]byte, maxPacket)
	for range 5 {
		if _, err := conn.Write(req.ToBytes()); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(buf); err == nil {
			p, err := dhcpv4.FromBytes(buf[:n])
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("no answer from %s", at)
	return nil
}
