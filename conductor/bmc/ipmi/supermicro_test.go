package ipmi_test

import (
	"fmt"
	"testing"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
)

// Supermicro's disk of UEFI has a selector of its own, which to others is remote media.
func TestSupermicroDisk(t *testing.T) {
	for _, c := range []struct {
		maker  uint32
		mode   string
		device string
		want   byte
	}{
		{10876, "uefi", "disk", 0x24}, {47488, "uefi", "disk", 0x24}, {10876, "bios", "disk", 0x08},
		{10876, "uefi", "pxe", 0x04}, {674, "uefi", "disk", 0x08},
	} {
		b := newBoard(t)
		b.set(func() {
			b.hook = func(cmd types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
				id := []byte{0x20, 1, 1, 0, 0x20, 0, byte(c.maker), byte(c.maker >> 8), byte(c.maker >> 16), 0, 0, 0, 0, 0, 0}
				return id, types.CodeOK, cmd == types.CommandGetDeviceID
			}
		})
		d, n := newDriver(t, ipmi.Options{}), b.node()
		n.BootMode = c.mode
		if err := d.SetBootDevice(t.Context(), n, c.device, true); err != nil {
			t.Fatal(err)
		}
		var sent byte
		b.set(func() { sent = b.flags[1] })
		device, persistent, err := d.BootDevice(t.Context(), n)
		if got := fmt.Sprintf("%#x %s %t %v", sent, device, persistent, err); got != fmt.Sprintf("%#x %s true <nil>", c.want,
			c.device) {
			t.Errorf("%+v: got %s", c, got)
		}
	}
	b := newBoard(t)
	b.set(func() { b.flags = []byte{0xa0, 0x24, 0, 0, 0} })
	if device, _, err := newDriver(t, ipmi.Options{}).BootDevice(t.Context(), b.node()); device != "" || err != nil {
		t.Errorf("remote media of another maker: %q, %v", device, err)
	}
}
