package dhcp

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

func answerOfServer() Answer {
	return Answer{Server: ip("10.77.0.1"), URL: "http://10.77.0.1:8088", Subnet: Subnet{
		Prefix: netip.MustParsePrefix("10.77.0.0/24"), First: ip("10.77.0.100"), Last: ip("10.77.0.110"),
		Router: ip("10.77.0.254"), DNS: []netip.Addr{ip("10.77.0.1"), ip("9.9.9.9")}, Lease: time.Hour,
	}}
}

// TestReplyGolden compares whole replies, in words and in bytes.
func TestReplyGolden(t *testing.T) {
	ramdisk := pxe.Boot{Action: pxe.Ramdisk}
	addressOnly := pxe.Boot{Action: pxe.Address}
	wants := address(optRequested, "10.77.0.100")
	toUs := address(optServer, "10.77.0.1")
	for _, tc := range []struct {
		name string
		req  []byte
		boot pxe.Boot
	}{
		{"ipxe-bios-discover", captured(t, "ipxe-bios-discover"), ramdisk},
		{"ipxe-bios-request", captured(t, "ipxe-bios-request"), ramdisk},
		{"ipxe-efi-discover", captured(t, "ipxe-efi-discover"), ramdisk},
		{"ipxe-no-boot", captured(t, "ipxe-bios-discover"), addressOnly},
		{"uefi-rom-discover", captured(t, "ovmf-pxe-discover"), ramdisk},
		{"uefi-rom-request", captured(t, "ovmf-pxe-request"), ramdisk},
		{"uefi-rom-no-boot", captured(t, "ovmf-pxe-discover"), addressOnly},
		{"uefi-http-discover", captured(t, "ovmf-http-discover"), ramdisk},
		{"uefi-http-request", captured(t, "ovmf-http-request"), ramdisk},
		{"bios-rom-discover", request(dhcpv4.MessageTypeDiscover, biosROM).ToBytes(), ramdisk},
		{"system-request", request(dhcpv4.MessageTypeRequest, system, wants, toUs).ToBytes(), ramdisk},
		{"system-renew", request(dhcpv4.MessageTypeRequest, system, ciaddr("10.77.0.100")).ToBytes(), ramdisk},
		{"system-init-reboot", request(dhcpv4.MessageTypeRequest, system, wants).ToBytes(), ramdisk},
		{"system-inform", request(dhcpv4.MessageTypeInform, system, ciaddr("10.77.0.9")).ToBytes(), ramdisk},
		{"relay-discover",
			request(dhcpv4.MessageTypeDiscover, biosROM, giaddr("10.77.0.254"),
				option(optRelay, 1, 4, 'p', 'o', 'r', 't')).ToBytes(), ramdisk},
		{"nak", request(dhcpv4.MessageTypeRequest, system, address(optRequested, "10.77.0.105")).ToBytes(), ramdisk},
		{"nak-relayed",
			request(dhcpv4.MessageTypeRequest, system, address(optRequested, "10.88.0.105"), giaddr("10.77.0.254")).ToBytes(),
			ramdisk},
	} {
		t.Run(tc.name, func(t *testing.T) {
			req, err := parse(tc.req)
			if err != nil {
				t.Fatal(err)
			}
			reply, _ := Reply(req, tc.boot, pxe.Lease{MAC: req.ClientHWAddr, IP: ip("10.77.0.100")}, answerOfServer())
			if reply == nil {
				t.Fatal("no reply")
			}
			b, _ := encode(reply, messageSize(req))
			got := fmt.Sprintf("%s\n%s", reply.Summary(), hex.Dump(b))
			pxetest.Golden(t, filepath.Join("replies", tc.name+".txt"), got)
		})
	}
}

// TestReplyOrSilence goes through the states of RFC 2131 section 4.3, answers and silence alike.
func TestReplyOrSilence(t *testing.T) {
	discover, req := dhcpv4.MessageTypeDiscover, dhcpv4.MessageTypeRequest
	none, offer, ack, nak := dhcpv4.MessageTypeNone, dhcpv4.MessageTypeOffer, dhcpv4.MessageTypeAck, dhcpv4.MessageTypeNak
	mine := pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100")}
	others := pxe.Lease{MAC: mac(2), IP: ip("10.77.0.105")}
	ours, theirs := address(optServer, "10.77.0.1"), address(optServer, "10.77.0.2")
	wants := func(a string) change { return address(optRequested, a) }
	for _, tc := range []struct {
		name   string
		ignore bool
		lease  pxe.Lease
		req    *dhcpv4.DHCPv4
		want   dhcpv4.MessageType
	}{
		{"discover", false, mine, request(discover), offer},
		{"discover, machine is not ours", true, mine, request(discover), none},
		{"request, machine is not ours", true, mine, request(req, wants("10.77.0.100"), ours), none},
		{"discover, no address left", false, pxe.Lease{}, request(discover), none},
		{"select ours", false, mine, request(req, wants("10.77.0.100"), ours), ack},
		{"select another server", false, mine, request(req, wants("10.77.0.100"), theirs), none},
		{"select ours, wrong address", false, mine, request(req, wants("10.77.0.101"), ours), nak},
		{"select ours, offer lost", false, pxe.Lease{}, request(req, wants("10.77.0.100"), ours), nak},
		{"select ours, address lost to another", false, others, request(req, wants("10.77.0.105"), ours), nak},
		{"select without an address", false, mine, request(req, ours), none},
		{"init-reboot", false, mine, request(req, wants("10.77.0.100")), ack},
		{"init-reboot, other address", false, mine, request(req, wants("10.77.0.101")), nak},
		{"init-reboot, no record", false, pxe.Lease{}, request(req, wants("10.77.0.101")), none},
		{"init-reboot, other network", false, pxe.Lease{}, request(req, wants("10.88.0.101")), nak},
		{"init-reboot, has a lease on the network it left", false, pxe.Lease{MAC: mac(1), IP: ip("10.88.0.101")},
			request(req, wants("10.88.0.101")), nak},
		{"renew", false, mine, request(req, ciaddr("10.77.0.100")), ack},
		{"renew, address is another's", false, others, request(req, ciaddr("10.77.0.105")), nak},
		{"renew, has another address", false, mine, request(req, ciaddr("10.77.0.101")), nak},
		{"renew, no record", false, pxe.Lease{}, request(req, ciaddr("10.77.0.101")), none},
		{"inform", false, pxe.Lease{}, request(dhcpv4.MessageTypeInform, ciaddr("10.77.0.9")), ack},
		{"inform without an address", false, pxe.Lease{}, request(dhcpv4.MessageTypeInform), none},
		{"release", false, mine, request(dhcpv4.MessageTypeRelease, ciaddr("10.77.0.100")), none},
		{"decline", false, mine, request(dhcpv4.MessageTypeDecline, wants("10.77.0.100")), none},
	} {
		t.Run(tc.name, func(t *testing.T) {
			boot := pxe.Boot{Action: pxe.Address}
			if tc.ignore {
				boot = pxe.Boot{Why: pxe.ReasonUnknown}
			}
			got := none
			reply, reason := Reply(tc.req, boot, tc.lease, answerOfServer())
			if reply != nil {
				got = reply.MessageType()
			}
			if _, explained := pxe.Reasons()[reason]; explained == (got == offer || got == ack) {
				t.Errorf("%v is answered for reason %q", got, reason)
			}
			if got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestBootFile(t *testing.T) {
	for _, tc := range []struct {
		name     string
		changes  []change
		firmware pxe.Firmware
		arch     uint16
		want     string
	}{
		{"bios rom", []change{biosROM}, pxe.BIOS, 0, "undionly.kpxe"},
		{"class only", []change{word(60, "PXEClient")}, pxe.BIOS, 0, "undionly.kpxe"},
		{"uefi", []change{word(60, "PXEClient:Arch:00007:UNDI:003016"), arch(7)}, pxe.UEFI, 7, "snponly.efi"},
		{"uefi that says 9", []change{word(60, "PXEClient"), arch(9)}, pxe.UEFI, 9, "snponly.efi"},
		{"uefi by class alone", []change{word(60, "PXEClient:Arch:00007:UNDI:003016")}, pxe.UEFI, 7, "snponly.efi"},
		{"uefi without class", []change{arch(7)}, pxe.UEFI, 7, "snponly.efi"},
		{"32-bit uefi", []change{word(60, "PXEClient"), arch(6)}, pxe.UEFI, 6, ""},
		{"arm64", []change{word(60, "PXEClient"), arch(11)}, pxe.UEFI, 11, ""},
		{"uefi http", []change{word(60, "HTTPClient:Arch:00016:UNDI:003001"), arch(16)}, pxe.UEFIHTTP, 16,
			"http://b/loader/snponly.efi"},
		{"uefi http that says 7", []change{word(60, "HTTPClient"), arch(7)}, pxe.UEFIHTTP, 7, "http://b/loader/snponly.efi"},
		{"uefi http of 32 bits", []change{word(60, "HTTPClient:Arch:00015"), arch(15)}, pxe.UEFIHTTP, 15, ""},
		{"pxe that says 16", []change{word(60, "PXEClient:Arch:00016"), arch(16)}, pxe.UEFI, 16, "snponly.efi"},
		{"ipxe by option 175", []change{word(60, "PXEClient:Arch:00007"), arch(7), option(175, 1, 1, 1)}, pxe.IPXE, 7,
			"http://b/ipxe/52-54-00-77-00-01"},
		{"ipxe by user class", []change{word(77, "iPXE"), arch(0)}, pxe.IPXE, 0, "http://b/ipxe/52-54-00-77-00-01"},
		{"ipxe by user class of RFC 3004", []change{word(77, "\x04iPXE"), arch(0)}, pxe.IPXE, 0,
			"http://b/ipxe/52-54-00-77-00-01"},
		{"operating system", []change{system}, pxe.System, 0, ""},
		{"rubbish", []change{option(93, 1), option(77), option(60)}, pxe.System, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := clientOf(request(dhcpv4.MessageTypeDiscover, tc.changes...))
			if c.Firmware != tc.firmware || c.Arch != tc.arch {
				t.Errorf("got %s, arch %d", c.Firmware, c.Arch)
			}
			if got, _ := bootFile(c, pxe.Boot{Action: pxe.Ramdisk}, "http://b"); got != tc.want {
				t.Errorf("boots %q, want %q", got, tc.want)
			}
			if got, ok := bootFile(c, pxe.Boot{Action: pxe.Address}, "http://b"); ok {
				t.Errorf("boots %q although it is to boot nothing", got)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	good := request(dhcpv4.MessageTypeDiscover, system).ToBytes()
	if _, err := parse(good); err != nil {
		t.Fatal(err)
	}
	patch := func(at int, b ...byte) []byte {
		p := append([]byte(nil), good...)
		copy(p[at:], b)
		return p
	}
	for name, b := range map[string][]byte{
		"nothing":             nil,
		"a header cut short":  good[:200],
		"options cut short":   good[:245],
		"no end of options":   good[:243],
		"a reply":             patch(0, 2),
		"not Ethernet":        patch(1, 32),
		"a long address":      patch(2, 16),
		"a longer address":    patch(2, 255),
		"no address":          patch(28, 0, 0, 0, 0, 0, 0),
		"a multicast address": patch(28, 1),
		"17 hops":             patch(3, 17),
		"no cookie":           patch(236, 0),
		"more than a frame":   append(append([]byte(nil), good...), make([]byte, 1500)...),
		"an answer's type":    request(dhcpv4.MessageTypeOffer).ToBytes(),
		"no type (BOOTP)":     request(dhcpv4.MessageTypeDiscover, option(53)).ToBytes(),
		"an unknown type":     request(dhcpv4.MessageTypeDiscover, option(53, 200)).ToBytes(),
	} {
		if _, err := parse(b); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}

func TestDestination(t *testing.T) {
	lease := pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100")}
	req := dhcpv4.MessageTypeRequest
	wants := address(optRequested, "10.77.0.100")
	for _, tc := range []struct {
		name string
		req  *dhcpv4.DHCPv4
		want string
	}{
		{"to the machine, which has no address yet", request(req, wants), "10.77.0.100:68 52:54:00:77:00:01"},
		{"to everybody, as the machine asks", request(req, wants, broadcastFlag), "255.255.255.255:68 "},
		{"renewal", request(req, ciaddr("10.77.0.100")), "10.77.0.100:68 "},
		{"relay", request(req, wants, giaddr("10.77.0.254")), "10.77.0.254:67 "},
		{"refusal", request(req, ciaddr("10.77.0.101")), "255.255.255.255:68 "},
		{"inform", request(dhcpv4.MessageTypeInform, ciaddr("10.77.0.9")), "10.77.0.9:68 "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			reply, _ := Reply(tc.req, pxe.Boot{Action: pxe.Address}, lease, answerOfServer())
			r := destination(reply, ports{67, 68})
			if got := fmt.Sprintf("%v %v", r.to, r.mac); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}
