package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/api/rest"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// leaseResource is the addresses of machines.
type leaseResource struct {
	leases Leases
	boot   Boot
	now    func() time.Time
}

// routes is the addresses of machines: those lent and those reserved.
func (h *leaseResource) routes() []rest.Route {
	const one = nodeapi.FerriteRoot + "/leases/:mac"
	return []rest.Route{
		{Method: http.MethodGet, Path: nodeapi.FerriteRoot + "/leases", Doc: "the addresses that are lent or reserved",
			Handle: h.listLeases, Wire: rest.Returns(rest.FormOf(nodeapi.Leases{}))},
		{Method: http.MethodPut, Path: one, Doc: "reserve an address for a MAC", Handle: h.reserve,
			Wire: rest.Wire{Status: http.StatusOK, Takes: rest.FormOf(nodeapi.Reservation{}),
				Gives: rest.FormOf(nodeapi.Lease{})}},
		{Method: http.MethodDelete, Path: one, Doc: "forget the lease or reservation of a MAC", Handle: h.deleteLease},
	}
}

func (h *leaseResource) listLeases(c *rest.Call) error {
	all, err := h.leases.Leases(c.Request().Context())
	if err != nil {
		return err
	}
	answer := nodeapi.Leases{Leases: make([]nodeapi.Lease, len(all))}
	for i, l := range all {
		answer.Leases[i] = wireLease(l)
	}
	return c.Marshal(http.StatusOK, answer)
}

func wireLease(l node.Lease) nodeapi.Lease {
	return nodeapi.Lease{MAC: l.MAC, Subnet: l.Subnet, IP: l.IP, Static: l.Static, Expires: l.Expires}
}

// reserve makes a reservation, in place of the MAC's former one.
func (h *leaseResource) reserve(c *rest.Call) error {
	mac, err := macOf(c)
	if err != nil {
		return err
	}
	body, err := c.Object("reservation")
	if err != nil {
		return err
	}
	if err := rest.Unexpected(rest.SortedKeys(body), []string{"ip", "subnet"}); err != nil {
		return err
	}
	text, err := rest.Args(body).Need("ip")
	if err != nil {
		return err
	}
	ip, err := netip.ParseAddr(text)
	if err != nil || !ip.Is4() || ip.IsUnspecified() || ip.IsMulticast() {
		return rest.BadRequest("The ip %q of a reservation is not the IPv4 address of a machine, such as 10.0.0.50.",
			text)
	}
	subnet, err := rest.Args(body).Text("subnet")
	if err != nil {
		return err
	}
	if subnet, err = h.boot.Reservable(subnet, ip); err != nil {
		return rest.BadRequest("%s", err)
	}
	ctx := c.Request().Context()
	l := node.Lease{MAC: mac, Subnet: subnet, IP: ip.String(), Static: true}
	if err := h.makeRoom(ctx, l); err != nil {
		return err
	}
	if err := h.leases.SaveLease(ctx, l); err != nil {
		return err
	}
	if err := h.reloadBoot(ctx); err != nil {
		return err
	}
	return c.Marshal(http.StatusOK, wireLease(l))
}

// makeRoom refuses l when its address belongs to another MAC, and forgets a
// lease of it that ran out: the boot service remembers those only so that a
// machine tends to get the same address again.
func (h *leaseResource) makeRoom(ctx context.Context, l node.Lease) error {
	all, err := h.leases.Leases(ctx)
	if err != nil {
		return err
	}
	for _, other := range all {
		switch {
		case other.IP != l.IP || other.Subnet != l.Subnet || other.MAC == l.MAC:
		case other.Static:
			return nodeapi.NewFault(http.StatusConflict, "The address %s is reserved for %s; delete that reservation "+
				"first.",
				l.Where(), other.MAC)
		case other.Expires.After(h.now()):
			return nodeapi.NewFault(http.StatusConflict,
				"The address %s is lent to %s until %s; reserve another one, or delete that lease first.",
				l.Where(), other.MAC, other.Expires.UTC().Format(time.RFC3339))
		default:
			return h.leases.EndLease(ctx, other) // if it is renewed meanwhile, saving l is refused
		}
	}
	return nil
}

func (h *leaseResource) deleteLease(c *rest.Call) error {
	mac, err := macOf(c)
	if err != nil {
		return err
	}
	ctx := c.Request().Context()
	gone := h.leases.DeleteLease(ctx, mac)
	if gone != nil && !errors.Is(gone, node.ErrNotFound) {
		return gone
	}
	// The boot service may still know a reservation that is off the record, if an earlier reload failed. The client was
	// then asked to repeat its request, and this may be the repetition.
	if err := h.reloadBoot(ctx); err != nil {
		return err
	}
	return c.Done(gone)
}

// reloadBoot has the boot service take over a change that is on record, even
// when the client that made it is gone.
func (h *leaseResource) reloadBoot(ctx context.Context) error {
	if err := h.boot.Reload(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("the change of a lease is on record, but the boot service did not take it over; repeat the "+
			"request: %w", err)
	}
	return nil
}

// macOf is the MAC in the path, as leases spell it.
func macOf(c *rest.Call) (string, error) {
	text := c.Param("mac")
	hw, err := net.ParseMAC(text)
	const group = 1 // of the first byte: an address of several machines
	if err != nil || len(hw) != 6 || hw[0]&group != 0 {
		return "", rest.BadRequest("%q is not the MAC of a machine, six bytes such as 52:54:00:12:34:56.", text)
	}
	return hw.String(), nil
}

// noBoot is in place of a boot service where none runs.
type noBoot struct{}

func (noBoot) Reservable(subnet string, _ netip.Addr) (string, error) { return subnet, nil }
func (noBoot) Reload(context.Context) error                           { return nil }
