package redfish_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ferrite-metal/ferrite/conductor/bmc/redfish"
	"github.com/ferrite-metal/ferrite/conductor/outbound/exchange"
)

// TestExchangesTold: whoever gives a call its context learns of each request, and of no secret.
func TestExchangesTold(t *testing.T) {
	b := newBoard(t)
	d := newDriver(t, redfish.Options{})
	n := b.node()
	var told []exchange.Exchange
	ctx := exchange.Watch(context.Background(), func(e exchange.Exchange) { told = append(told, e) })
	if _, err := d.PowerState(ctx, n); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range told {
		seen[e.Name] = true
		if e.Protocol != exchange.Redfish || e.Status < 200 || e.Err != nil || e.Ended.Before(e.Began) ||
			e.Name != e.Method+" "+e.Path || !strings.HasPrefix(e.Server, "http") || strings.Contains(e.Server, "@") {
			t.Errorf("%+v", e)
		}
	}
	if !seen["POST /redfish/v1/SessionService/Sessions"] || !seen["GET /redfish/v1/Systems/1"] {
		t.Errorf("told of %v", seen)
	}
	if _, err := d.PowerState(t.Context(), n); err != nil { // no exchange is watched
		t.Fatal(err)
	}
}
