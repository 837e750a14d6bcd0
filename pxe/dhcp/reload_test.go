package dhcp

import (
	"context"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/insomniacslk/dhcp/dhcpv4"
)

// interleaved lets something happen while a lease goes on record.
type interleaved struct {
	book
	meanwhile func()
	calls     chan string
}

func (l interleaved) Leases(ctx context.Context) ([]pxe.Lease, error) {
	l.calls <- "read"
	return l.book.Leases(ctx)
}

func (l interleaved) SaveLease(ctx context.Context, all ...pxe.Lease) error {
	l.meanwhile()
	defer func() { l.calls <- "saved" }()
	return l.book.SaveLease(ctx, all...)
}

// TestServeReservedMeanwhile: an operator reserves another address for a machine
// between the decision to lease it one and the record of that.
func TestServeReservedMeanwhile(t *testing.T) {
	records := &pxetest.Leases{}
	reserved := pxe.Lease{MAC: mac(1), IP: ip("127.0.77.9"), Static: true}
	l := interleaved{records, func() {
		if err := records.SaveLease(t.Context(), reserved); err != nil {
			t.Error(err)
		}
	}, make(chan string, 100)}
	r := serve(t, l)
	offer := r.persist(t, request(dhcpv4.MessageTypeDiscover))
	if offer == nil {
		t.Fatal("no offer")
	}
	wants := address(optRequested, offer.YourIPAddr.String())
	if reply := r.ask(t, request(dhcpv4.MessageTypeRequest, wants, address(optServer, loopback().String())),
		silence); reply != nil {
		t.Errorf("got %v, although the address is not the machine's any more", reply)
	}
	if err := r.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := r.boot(t).YourIPAddr.String(); got != "127.0.77.9" {
		t.Errorf("got %s, want the reservation", got)
	}
	on, err := records.Leases(t.Context())
	if diff := cmp.Diff([]pxe.Lease{reserved}, on, cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
		t.Errorf("on record, error %v (-want +got):\n%s", err, diff)
	}
}

// TestServeReloadsBetweenLeases: Reload never reads half of a lease.
func TestServeReloadsBetweenLeases(t *testing.T) {
	var r *rig
	ready, reloaded := make(chan struct{}), make(chan error, 1)
	begin := sync.OnceFunc(func() {
		<-ready
		go func() { reloaded <- r.Reload(context.Background()) }()
		time.Sleep(silence) // it has the time to do the wrong thing
	})
	l := interleaved{&pxetest.Leases{}, begin, make(chan string, 100)}
	r = serve(t, l)
	close(ready)
	r.boot(t)
	if err := <-reloaded; err != nil {
		t.Fatal(err)
	}
	if first, second := <-l.calls, <-l.calls; first != "read" || second != "saved" {
		t.Errorf("after the %s at the start came a %s, want the lease to be saved before the records are read", first, second)
	}
}
