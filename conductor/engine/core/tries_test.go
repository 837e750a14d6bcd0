package core

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// busy is an error of a BMC that may be ready in some minutes, or not.
type busy bool

func (b busy) Error() string  { return "busy" }
func (b busy) Patience() bool { return bool(b) }

// Power and boot settings wait for a BMC that is busy for a while, and for no other refusal.
func TestTries(t *testing.T) {
	e := &Core{Config: Config{Retries: 4}}
	for _, c := range []struct {
		effect, args string
		err          error
		want         int
	}{
		{"power.power_on", "{}", fmt.Errorf("redfish: %w", busy(true)), 12},
		{"power.power_off", "{}", busy(false), 4},
		{"power.reboot", "{}", errors.New("400"), 4},
		{"power.request", "{}", busy(true), 12},
		{"power.request", `{"once": true}`, busy(true), 1},
		{"management.set_boot_device", "{}", busy(true), 12},
		{"management.set_boot_mode", "{}", busy(true), 12},
		{"management.validate", "{}", busy(true), 2},
		{"agent.execute_step", "{}", busy(true), 4},
		{"driver.execute_step", "{}", errors.New("cut off"), 12},
		{"driver.execute_step", "{}", busy(true), 12},
		{"driver.execute_step", "{}", fmt.Errorf("redfish: %w", busy(false)), 4}, // 405 to a volume's POST
	} {
		if got := e.tries(node.Effect{Name: c.effect, Args: []byte(c.args)}, c.err); got != c.want {
			t.Errorf("%s after %v: %d tries, want %d", c.effect, c.err, got, c.want)
		}
	}
}
