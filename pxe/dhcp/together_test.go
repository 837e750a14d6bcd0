package dhcp

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// together has the server answer requests that were read at once.
func (s *Server) together(t *testing.T, all ...*dhcpv4.DHCPv4) (got []*exchange) {
	t.Helper()
	for _, req := range all {
		got = append(got, &exchange{req: req})
	}
	s.answer(t.Context(), got)
	return got
}

// takes is a REQUEST of machine n for an address that it was offered.
func takes(n int, offer *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	return request(dhcpv4.MessageTypeRequest, from(n), address(optServer, "127.0.77.1"),
		address(optRequested, offer.YourIPAddr.String()))
}

// TestTogetherReserved: of two leases that go on record together, one may not, since its address was reserved for
// another machine meanwhile. The other machine gets its own.
func TestTogetherReserved(t *testing.T) {
	leases := &pxetest.Leases{}
	s := started(t, leases)
	defer s.Close()
	offers := s.together(t, request(dhcpv4.MessageTypeDiscover, from(1)), request(dhcpv4.MessageTypeDiscover, from(2)))
	first, second := offers[0].decision.reply, offers[1].decision.reply
	if first == nil || second == nil || first.YourIPAddr.Equal(second.YourIPAddr) {
		t.Fatalf("offers %v and %v", first, second)
	}
	if err := leases.SaveLease(t.Context(), pxe.Lease{MAC: mac(9), IP: addr(first.YourIPAddr), Static: true}); err != nil {
		t.Fatal(err)
	}
	acks := s.together(t, takes(1, first), takes(2, second))
	if got := acks[0]; got.decision.reply != nil || got.event.Reason != pxe.ReasonNotSaved {
		t.Errorf("a reserved address is lent to another: %v, %q", got.decision.reply, got.event.Reason)
	}
	if got := acks[1].decision.reply; got == nil || got.MessageType() != dhcpv4.MessageTypeAck {
		t.Errorf("the other machine gets %v", got)
	}
	on, err := leases.Leases(t.Context())
	if err != nil || len(on) != 2 || on[1].IP != addr(second.YourIPAddr) {
		t.Errorf("on record are %v, %v", on, err)
	}
}

// TestTogetherOneMachine: two requests of one machine are answered one after the other, and no turn is taken twice.
func TestTogetherOneMachine(t *testing.T) {
	leases := &pxetest.Leases{}
	s := started(t, leases)
	defer s.Close()
	peer := netip.MustParseAddrPort("127.0.0.1:9")
	in := []incoming{{request(dhcpv4.MessageTypeDiscover, from(1)), peer},
		{request(dhcpv4.MessageTypeDiscover, from(2)), peer},
		{request(dhcpv4.MessageTypeRequest, from(1), address(optServer, "127.0.77.1"), address(optRequested, "127.0.77.100")),
			peer}}
	if n, done := s.take(in); n != 2 {
		t.Errorf("%d are answered together, want those before the second of a machine", n)
	} else {
		done()
	}
	s.handle(t.Context(), in...)
	on, err := leases.Leases(t.Context())
	if err != nil || len(on) != 1 || on[0].IP != ip("127.0.77.100") {
		t.Errorf("on record are %v, %v", on, err)
	}
}

// hanging has no answer for one machine.
type hanging struct{ *pxetest.Booter }

func (h hanging) Boot(ctx context.Context, c pxe.Client) (pxe.Boot, error) {
	if hwaddr(c.MAC) == hwaddr(mac(1)) {
		<-ctx.Done()
		return pxe.Boot{}, ctx.Err()
	}
	return pxe.Boot{Action: pxe.Address}, ctx.Err()
}

// TestTogetherHanging: a machine for which the Booter has no answer takes none from the others.
func TestTogetherHanging(t *testing.T) {
	s := started(t, &pxetest.Leases{})
	defer s.Close()
	s.conf.Booter = hanging{&pxetest.Booter{}}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := s.together(t, request(dhcpv4.MessageTypeDiscover, from(1)), request(dhcpv4.MessageTypeDiscover, from(2)))
		if got[0].event.Reason != pxe.ReasonPolicy || got[1].decision.reply == nil {
			t.Errorf("%q, and the other machine is offered %v", got[0].event.Reason, got[1].decision.reply)
		}
		if late := time.Since(began); late > askTimeout {
			t.Errorf("after %v", late)
		}
	})
}
