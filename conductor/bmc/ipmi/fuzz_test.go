package ipmi_test

import (
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
)

// FuzzAnswer has a BMC that knows the password answer commands with anything: no answer may make the driver fall over.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		"", "\x01", "\x01\x00\x00", "\x01\x05\xe0\x04\x00\x00\x00", "\x01\x05", "\x00\x01\x00",
		"\x08\x01\x00\x00\x01\x02\x00\x00\xf4", "\x02\x01\x00",
		"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		f.Add(uint8(0), []byte(seed))
	}
	f.Add(uint8(types.CodeNodeBusy), []byte{})
	f.Add(uint8(types.CodeInvalidCommand), []byte{1})
	b := newBoard(f)
	d := ipmi.New(ipmi.Options{BackOff: time.Nanosecond, MaxBackOff: time.Nanosecond,
		RequestTimeout: 100 * time.Millisecond})
	f.Cleanup(func() { d.Close() })
	f.Fuzz(func(t *testing.T, code uint8, answer []byte) {
		if len(answer) > 200 {
			return // no more fits into a message
		}
		b.set(func() {
			b.commands = nil
			b.hook = func(c types.Command, _ []byte) ([]byte, types.CompletionCode, bool) {
				return answer, types.CompletionCode(code), c != types.CommandSetSessionPrivilegeLevel &&
					c != types.CommandCloseSession
			}
		})
		if _, err := d.PowerState(t.Context(), b.node()); err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
		_, _, _ = d.BootDevice(t.Context(), b.node())
		_ = d.SetBootDevice(t.Context(), b.node(), "pxe", true)
		_, _ = d.System(t.Context(), b.node())
	})
}
