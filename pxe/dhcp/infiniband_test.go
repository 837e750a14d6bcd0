package dhcp

import (
	"testing"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"

	"github.com/ferrite-metal/ferrite/pxe"
)

// TestInfiniBand: a port of InfiniBand is known by the GUID in its client identifier, and answered
// as RFC 4390 has it.
func TestInfiniBand(t *testing.T) {
	id := []byte{0xff, 0, 0, 0, 0, 0, 2, 0, 0, 2, 0xc9, 0, 0x7c, 0xfe, 0x90, 3, 0, 0x1a, 0x2b, 0x3c}
	for name, tc := range map[string]struct {
		id   []byte
		want string
	}{
		"its GUID":      {id, "7c:fe:90:1a:2b:3c"},
		"no identifier": {nil, ""},
		"a short one":   {id[:8], ""},
		"many":          {append([]byte{}, 1, 1, 1, 1, 1, 1, 1, 1, 1), ""}, // of a group, not of one port
	} {
		req := request(dhcpv4.MessageTypeDiscover, biosROM)
		req.HWType, req.ClientHWAddr = iana.HWTypeInfiniband, nil
		if tc.id != nil {
			req.UpdateOption(dhcpv4.OptGeneric(dhcpv4.OptionClientIdentifier, tc.id))
		}
		got, err := parse(req.ToBytes())
		if (err == nil) != (tc.want != "") || err == nil && got.ClientHWAddr.String() != tc.want {
			t.Errorf("%s: %v, %v, want %s", name, got, err, tc.want)
			continue
		}
		if err != nil {
			continue
		}
		reply, _ := Reply(got, pxe.Boot{Action: pxe.Ramdisk}, pxe.Lease{MAC: got.ClientHWAddr, IP: ip("10.77.0.100")},
			answerOfServer())
		b := reply.ToBytes()
		if b[1] != 32 || b[2] != 0 || !reply.IsBroadcast() || destination(reply, ports{67, 68}).to.Addr() != broadcast() {
			t.Errorf("%s: hardware type %d, length %d, broadcast %v", name, b[1], b[2], reply.IsBroadcast())
		}
	}
}
