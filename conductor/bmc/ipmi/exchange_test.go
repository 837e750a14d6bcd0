package ipmi_test

import (
	"context"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/ipmi"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// TestExchangesTold: whoever gives a call its context learns of each command.
func TestExchangesTold(t *testing.T) {
	t.Parallel()
	s := newSim(t)
	d := newDriver(t, ipmi.Options{})
	seen := map[string]bool{}
	ctx := exchange.Watch(context.Background(), func(e exchange.Exchange) {
		seen[e.Name] = true
		if e.Protocol != exchange.IPMI || e.Server == "" || e.Ended.Before(e.Began) {
			t.Errorf("%+v", e)
		}
	})
	eventually(t, "it answers", func() bool {
		_, err := d.PowerState(ctx, s.node())
		return err == nil
	})
	if !seen["Get Chassis Status"] {
		t.Errorf("told of %v", seen)
	}
}
