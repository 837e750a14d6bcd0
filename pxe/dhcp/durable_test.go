package dhcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// started is a server with two addresses that does not serve yet. Its memory ends with it, as by kill -9.
func started(t *testing.T, leases pxe.Leases) *Server {
	t.Helper()
	booter := &pxetest.Booter{}
	for n := range 3 {
		booter.Set(mac(n+1), pxe.Boot{Action: pxe.Address})
	}
	s, err := Listen(t.Context(), Config{Server: loopback(), Port: 6770, Booter: booter, Leases: leases,
		Subnets: []Subnet{{Prefix: netip.MustParsePrefix("127.0.77.0/24"), First: ip("127.0.77.100"),
			Last: ip("127.0.77.101")}}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// from is machine n.
func from(n int) change { return func(p *dhcpv4.DHCPv4) { p.ClientHWAddr = mac(n) } }

// answerTo is the answer to one request.
func (s *Server) answerTo(ctx context.Context, req *dhcpv4.DHCPv4) (pxe.Client, *dhcpv4.DHCPv4, pxe.Event) {
	x := &exchange{req: req}
	s.answer(ctx, []*exchange{x})
	return x.client, x.decision.reply, x.event
}

// leaseTo leases an address to machine n, and returns it.
func (s *Server) leaseTo(t *testing.T, n int) netip.Addr {
	t.Helper()
	_, offer, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(n)))
	if offer == nil {
		return netip.Addr{}
	}
	_, ack, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeRequest, from(n), address(optServer, "127.0.77.1"),
		address(optRequested, offer.YourIPAddr.String())))
	if ack == nil || ack.MessageType() != dhcpv4.MessageTypeAck {
		t.Fatalf("machine %d: %v", n, ack)
	}
	return addr(ack.YourIPAddr)
}

// TestGivenBackIsDurable: RELEASE and DECLINE count after the conductor was killed.
func TestGivenBackIsDurable(t *testing.T) {
	leases := &pxetest.Leases{}
	s := started(t, leases)
	first, second := s.leaseTo(t, 1), s.leaseTo(t, 2)
	s.answerTo(t.Context(), request(dhcpv4.MessageTypeDecline, from(1), address(optRequested, first.String()),
		address(optServer, "127.0.77.1")))
	s.answerTo(t.Context(), request(dhcpv4.MessageTypeRelease, from(2), ciaddr(second.String())))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = started(t, leases)
	defer s.Close()
	if got := s.leaseTo(t, 1); got != second {
		t.Errorf("the decliner of %v gets %v, want the released %v", first, got, second)
	}
	if got := s.leaseTo(t, 3); got.IsValid() {
		t.Errorf("another machine gets %v", got)
	}
}

// fullLeases cannot be written to.
type fullLeases struct{ records }

// records are embedded by another name than their method Leases has.
type records interface{ pxe.Leases }

func (*fullLeases) SaveLease(context.Context, ...pxe.Lease) error { return errors.New("no space left") }
func (*fullLeases) SaveDecline(context.Context, pxe.Decline) error {
	return errors.New("no space left")
}

// TestGivenBackUnsaved: a RELEASE that cannot be put on record leaves the lease as it was, and a DECLINE is heeded as
// long as the conductor runs; the event has the reason.
func TestGivenBackUnsaved(t *testing.T) {
	leases := &fullLeases{&pxetest.Leases{}}
	for n, a := range map[int]string{1: "127.0.77.100", 2: "127.0.77.101"} {
		if err := leases.records.SaveLease(t.Context(), pxe.Lease{MAC: mac(n), IP: ip(a),
			Expires: epoch().AddDate(90, 0, 0)}); err != nil {
			t.Fatal(err)
		}
	}
	s := started(t, leases)
	defer s.Close()
	for _, req := range []*dhcpv4.DHCPv4{request(dhcpv4.MessageTypeRelease, from(1), ciaddr("127.0.77.100")),
		request(dhcpv4.MessageTypeDecline, from(2), address(optRequested, "127.0.77.101"))} {
		if _, _, e := s.answerTo(t.Context(), req); e.Reason != pxe.ReasonNotSaved || e.Answer != "" {
			t.Errorf("%s: %q, %q", e.Message, e.Answer, e.Reason)
		}
	}
	if _, offer, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(3))); offer != nil {
		t.Errorf("another machine is offered %v", offer.YourIPAddr)
	}
}

// lateLeases have no time for the first lease.
type lateLeases struct {
	records
	asked int
}

func (l *lateLeases) SaveLease(ctx context.Context, leases ...pxe.Lease) error {
	if l.asked++; l.asked == 1 {
		return fmt.Errorf("save it: %w", context.DeadlineExceeded)
	}
	return l.records.SaveLease(ctx, leases...)
}

// TestSavedLate: a machine gets no answer if its lease was not written in time, and gets the address when it repeats
// its REQUEST (in a storm of a thousand boots 24 were refused). No other machine gets that address meanwhile.
func TestSavedLate(t *testing.T) {
	s := started(t, &lateLeases{records: &pxetest.Leases{}})
	defer s.Close()
	_, offer, _ := s.answerTo(t.Context(), request(dhcpv4.MessageTypeDiscover, from(1)))
	ask := request(dhcpv4.MessageTypeRequest, from(1), address(optServer, "127.0.77.1"),
		address(optRequested, offer.YourIPAddr.String()))
	if _, reply, e := s.answerTo(t.Context(), ask); reply != nil || e.Reason != pxe.ReasonNotSaved {
		t.Fatalf("a lease that is not on record is acknowledged: %v, %q", reply, e.Reason)
	}
	if other := s.leaseTo(t, 2); other == addr(offer.YourIPAddr) {
		t.Errorf("%v is lent to another machine", other)
	}
	if _, reply, _ := s.answerTo(t.Context(), ask); reply == nil || reply.MessageType() != dhcpv4.MessageTypeAck {
		t.Errorf("the repeated REQUEST is answered %v", reply)
	}
}

// TestRenewedLate: a lease that is on record stays its machine's when its renewal is not written in time.
func TestRenewedLate(t *testing.T) {
	now, s := epoch(), small(1)
	p := newPool(t, s)
	at, err := p.Offer(mac(1), s, netip.Addr{}, false, now)
	if err != nil {
		t.Fatal(err)
	}
	g, err := p.Grant(mac(1), s, at, now)
	if err != nil {
		t.Fatal(err)
	}
	p.Saved(g)
	now = now.Add(s.Lease / 2)
	if g, err = p.Grant(mac(1), s, at, now); err != nil || !g.Save {
		t.Fatalf("%+v, %v", g, err)
	}
	p.Unsaved(g, true, now)
	now = now.Add(2 * time.Minute) // the machine repeats its REQUEST later still (RFC 2131, 4.4.5)
	if other, err := p.Offer(mac(2), s, at, false, now); err == nil {
		t.Errorf("%v, which a machine has, is offered to another one", other)
	}
	if g, err = p.Grant(mac(1), s, at, now); err != nil || !g.Save || g.Evict != nil {
		t.Errorf("the machine renews its lease: %+v, %v", g, err)
	}
}
