package dhcp

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
)

// captured reads a request as real firmware sent it (SeaBIOS and OVMF 2022.11
// under QEMU with Debian's iPXE 1.0.0+git-20190125).
func captured(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "requests", name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type change func(*dhcpv4.DHCPv4)

// request makes a request of machine 1 by hand, for cases without a capture.
func request(t dhcpv4.MessageType, changes ...change) *dhcpv4.DHCPv4 {
	p := &dhcpv4.DHCPv4{
		OpCode: dhcpv4.OpcodeBootRequest, HWType: iana.HWTypeEthernet,
		TransactionID: dhcpv4.TransactionID{1, 2, 3, 4},
		ClientIPAddr:  net.IPv4zero, YourIPAddr: net.IPv4zero, ServerIPAddr: net.IPv4zero, GatewayIPAddr: net.IPv4zero,
		ClientHWAddr: mac(1), Options: dhcpv4.Options{},
	}
	p.UpdateOption(dhcpv4.OptMessageType(t))
	for _, c := range changes {
		c(p)
	}
	return p
}

func option(code uint8, value ...byte) change {
	return func(p *dhcpv4.DHCPv4) { p.Options[code] = value }
}

func word(code uint8, value string) change { return option(code, []byte(value)...) }

func address(code uint8, a string) change {
	b := netip.MustParseAddr(a).As4()
	return option(code, b[:]...)
}

func arch(n uint16) change { return option(93, binary.BigEndian.AppendUint16(nil, n)...) }

func ciaddr(a string) change {
	return func(p *dhcpv4.DHCPv4) { p.ClientIPAddr = net.ParseIP(a).To4() }
}

func giaddr(a string) change {
	return func(p *dhcpv4.DHCPv4) { p.GatewayIPAddr = net.ParseIP(a).To4() }
}

func broadcastFlag(p *dhcpv4.DHCPv4) { p.SetBroadcast() }

// The options that tests name by number (RFC 2132, RFC 3046).
const (
	optRequested = 50
	optServer    = 54
	optClass     = 60
	optRelay     = 82
)

// biosROM adds the options of a PXE 2.1 option ROM that is not iPXE.
func biosROM(p *dhcpv4.DHCPv4) {
	for _, c := range []change{
		word(optClass, "PXEClient:Arch:00000:UNDI:002001"), arch(0), option(94, 1, 2, 1), broadcastFlag,
		option(97, append([]byte{0}, []byte("0123456789abcdef")...)...), option(57, 0x05, 0xc0),
		option(55, 1, 2, 3, 43, 54, 66, 67, 150),
	} {
		c(p)
	}
}

// system adds the options of an operating system's client.
func system(p *dhcpv4.DHCPv4) {
	option(61, 1, 0x52, 0x54, 0, 0x77, 0, 1)(p)
	option(55, 1, 3, 6, 15, 28, 51)(p)
	word(12, "node-1")(p)
}
