package ipmi_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/bougou/go-ipmi/pkg/types"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// TestHostileAnswers: a BMC that has the password, and answers single commands with
// any bytes and any code, ends no more than its own call: in time, with a short
// error that can be shown.
func TestHostileAnswers(t *testing.T) {
	b := newBoard(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex // the board answers several datagrams at a time
	intN := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(n)
	}
	d := newDriver(t,
		ipmi.Options{SendRaw: true, RequestTimeout: 200 * time.Millisecond, BackOff: time.Nanosecond,
			MaxBackOff: time.Nanosecond})
	n := b.node()
	ops := []func() error{
		func() error { _, err := d.PowerState(t.Context(), n); return err },
		func() error { return d.SetPower(t.Context(), n, node.Rebooting) },
		func() error { return d.SetBootDevice(t.Context(), n, "pxe", true) },
		func() error { _, _, err := d.BootDevice(t.Context(), n); return err },
		func() error { return d.SetBootMode(t.Context(), n, "uefi") },
		func() error { _, err := d.BootMode(t.Context(), n); return err },
		func() error {
			s, err := d.System(t.Context(), n)
			if text := s.Manufacturer + s.Model + s.Serial + s.BIOSVersion; len(text) > 4*255 ||
				nodeapi.Printable(text) != text {
				t.Errorf("the system is %+v", s)
			}
			return err
		},
		func() error { _, err := d.IndicatorState(t.Context(), n, "chassis", "led-0"); return err },
		func() error { return d.InjectNMI(t.Context(), n) },
		func() error {
			_, err := d.CallVendor(t.Context(), n, "send_raw", map[string]any{"raw_bytes": "0x06 0x01"})
			return err
		},
	}
	for range 300 {
		every := intN(4)
		b.set(func() {
			b.hook = func(types.Command, []byte) ([]byte, types.CompletionCode, bool) {
				answer, code := make([]byte, intN(64)), types.CodeOK
				for i := range answer {
					answer[i] = byte(intN(256))
				}
				if intN(8) == 0 {
					code = types.CompletionCode(intN(256))
				}
				return answer, code, intN(every+1) == 0
			}
		})
		began := time.Now()
		if err := ops[intN(len(ops))](); err != nil &&
			(len(err.Error()) > 1000 || nodeapi.Printable(err.Error()) != err.Error()) {
			t.Errorf("it fails with %q", err)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("it took %v", took)
		}
	}
	b.set(func() { b.hook = nil })
	if _, err := d.PowerState(t.Context(), n); err != nil {
		t.Errorf("after the BMC got well: %v", err)
	}
}
