package dhcp

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
)

// odd is a DISCOVER with options written by hand.
func odd(opts []byte, changes ...func(b []byte)) []byte {
	b := request(dhcpv4.MessageTypeDiscover).ToBytes()[:headerSize]
	for _, c := range changes {
		c(b)
	}
	return append(b, opts...)
}

func at(i int, put ...byte) func([]byte) { return func(b []byte) { copy(b[i:], put) } }

// TestOddRequests: options that do not keep to the letter are read as Kea and dnsmasq do.
func TestOddRequests(t *testing.T) {
	id := bytes.Repeat([]byte("0123456789"), 30)
	long := slices.Concat([]byte{53, 1, 1, 61, 255}, id[:255], []byte{61, 45}, id[255:], []byte{255})
	split := slices.Concat([]byte{61, 2, '0', '1', 53, 1, 1, 61, 1, '2', 255})
	for name, tc := range map[string]struct {
		b    []byte
		id   string
		file string
	}{
		"no END":                         {b: odd([]byte{53, 1, 1})},
		"padding and no END":             {b: odd([]byte{0, 0, 53, 1, 1, 0, 0})},
		"the last option runs past":      {b: odd([]byte{53, 1, 1, 12, 20, 'n'})},
		"a code alone at the end":        {b: odd([]byte{53, 1, 1, 12})},
		"type in file":                   {b: odd([]byte{52, 1, 1, 255}, at(fileAt, 53, 1, 1, 255))},
		"type in file, which has no END": {b: odd([]byte{52, 1, 1}, at(fileAt, 53, 1, 1))},
		"type in sname":                  {b: odd([]byte{52, 1, 2, 255}, at(snameAt, 53, 1, 1, 255))},
		"type in sname, identifier in file": {b: odd([]byte{52, 1, 3, 255}, at(snameAt, 53, 1, 1, 255),
			at(fileAt, 61, 1, 'f', 255)), id: "f"},
		"an identifier split over fields": {b: odd([]byte{61, 1, 'a', 52, 1, 3, 53, 1, 1, 255}, at(snameAt, 61, 1, 'c', 255),
			at(fileAt, 61, 1, 'b', 255)), id: "abc"},
		"a name in file, and no overload": {b: odd([]byte{52, 1, 9, 53, 1, 1, 255}, at(fileAt, 'x')), file: "x"},
		"a long identifier":               {b: odd(long), id: string(id)},
		"a split identifier":              {b: odd(split), id: "012"},
	} {
		t.Run(name, func(t *testing.T) {
			req, err := parse(tc.b)
			if err != nil {
				t.Fatal(err)
			}
			if got := string(req.Options[61]); got != tc.id || req.BootFileName != tc.file {
				t.Errorf("identifier %q, file %q", got, req.BootFileName)
			}
			reply, _ := Reply(req, pxe.Boot{Action: pxe.Address}, pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100")},
				answerOfServer())
			b, shed := encode(reply, messageSize(req))
			back, err := dhcpv4.FromBytes(b)
			if err != nil || len(shed) > 0 || string(back.Options[61]) != tc.id {
				t.Errorf("answered with identifier %q, without %v, %v", back.Options[61], shed, err)
			}
		})
	}
}

// TestReplyFits: a reply is no longer than its client takes. Options move to the fields for names, and the least
// needed ones are left out.
func TestReplyFits(t *testing.T) {
	a := answerOfServer()
	a.Subnet.Options = map[uint8][]byte{119: bytes.Repeat([]byte{1}, 200), 120: bytes.Repeat([]byte{2}, 100),
		121: bytes.Repeat([]byte{3}, 90), 125: bytes.Repeat([]byte{4}, 55), 126: bytes.Repeat([]byte{4}, 200)}
	relayed := option(optRelay, bytes.Repeat([]byte{1, 8, 1, 2, 3, 4, 5, 6, 7, 8}, 20)...)
	for name, tc := range map[string]struct {
		changes []change
		boot    pxe.Action
		shed    []uint8
		over    byte
	}{
		"1472 bytes":           {[]change{biosROM, option(57, 5, 0xc0)}, pxe.Ramdisk, nil, 0},
		"no size":              {[]change{system}, pxe.Address, nil, 0},
		"less than is allowed": {[]change{system, option(57, 0, 1)}, pxe.Address, []uint8{121, 126}, 3},
		"a boot file":          {[]change{biosROM, option(57, 2, 0x40)}, pxe.Ramdisk, []uint8{120, 121, 126}, 2},
		"a relay's option": {[]change{system, option(57, 2, 0x40), relayed, giaddr("10.77.0.254")}, pxe.Address,
			[]uint8{121, 126}, 3},
		"a long identifier": {[]change{biosROM, option(57, 2, 0x40), option(61, make([]byte, 400)...)}, pxe.Ramdisk,
			[]uint8{61, 120, 121, 126}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			req := request(dhcpv4.MessageTypeDiscover, tc.changes...)
			reply, _ := Reply(req, pxe.Boot{Action: tc.boot}, pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100")}, a)
			b, shed := encode(reply, messageSize(req))
			if diff := cmp.Diff(tc.shed, shed); diff != "" {
				t.Errorf("left out (-want +got):\n%s", diff)
			}
			raw, err := dhcpv4.FromBytes(b)
			if err != nil {
				t.Fatal(err)
			}
			if got := append(raw.Options[overloadOf], 0)[0]; got != tc.over {
				t.Errorf("overload %d, want %d", got, tc.over)
			}
			checkReply(t, req, reply, ip("10.77.0.100"))
			if raw.BootFileName != reply.BootFileName && tc.over&inFile == 0 {
				t.Errorf("file %q", raw.BootFileName)
			}
		})
	}
}

// TestZeroEnds: an old ROM that reads option 67 up to a zero reads the name and no more.
func TestZeroEnds(t *testing.T) {
	for _, changes := range [][]change{{biosROM}, {biosROM, option(97)}, {word(60, "PXEClient:Arch:00007"), arch(7)},
		{word(60, "HTTPClient:Arch:00016"), arch(16)}, {word(77, "iPXE"), arch(7)}} {
		req := request(dhcpv4.MessageTypeDiscover, changes...)
		reply, _ := Reply(req, pxe.Boot{Action: pxe.Ramdisk}, pxe.Lease{MAC: mac(1), IP: ip("10.77.0.100")}, answerOfServer())
		b, _ := encode(reply, messageSize(req))
		for code, value := range map[uint8][]byte{67: reply.Options[67], 66: reply.Options[66]} {
			i := bytes.Index(b[headerSize:], append([]byte{code, byte(len(value))}, value...)) + headerSize + 2
			if len(value) > 0 && b[i+len(value)] != 0 {
				t.Errorf("%q is followed by % x", value, b[i+len(value):i+len(value)+3])
			}
		}
	}
}

// FuzzDecode: a message that the codec takes as it is means the same once it is tidied.
func FuzzDecode(f *testing.F) {
	f.Add(captured(f, "ovmf-pxe-discover"))
	f.Add(odd([]byte{52, 1, 3, 53, 1, 1, 255}, at(snameAt, 61, 1, 'c'), at(fileAt, 61, 1, 'b', 255)))
	f.Add(odd([]byte{53, 1, 1, 12, 20}))
	f.Fuzz(func(t *testing.T, b []byte) {
		want, err := dhcpv4.FromBytes(b)
		got, tidied := decode(b)
		if err == nil && tidied != nil {
			t.Fatalf("it was read before: %v", tidied)
		}
		if err != nil || want.Options.Has(dhcpv4.OptionOptionOverload) {
			return
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
