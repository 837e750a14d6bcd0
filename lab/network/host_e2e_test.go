//go:build e2e

package network

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"
)

// TestE2EHostForwards: of two hosts on the bridge, one leads to an address that the other has.
func TestE2EHostForwards(t *testing.T) {
	n, id := create(t, 0)
	near, far := n.Gateway.Next(), n.Gateway.Next().Next()
	router, err := n.AddHost("near", netip.PrefixFrom(near, n.Subnet.Bits()))
	if err != nil {
		t.Fatal(err)
	}
	h, err := n.AddHost("far", netip.PrefixFrom(far, n.Subnet.Bits()))
	if err != nil {
		t.Fatal(err)
	}
	own := netip.MustParsePrefix("192.0.2.1/32")
	err = errors.Join(h.Address("lo", own), router.Forwards(), n.Route(own, near), router.Route(own, far))
	if err != nil {
		t.Fatal(err)
	}
	l, err := h.Listen("tcp", net.JoinHostPort(own.Addr().String(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c, err := n.Dial(ctx, "tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(c.Close(), l.Close(), n.Close()); err != nil {
		t.Error(err)
	}
	assertNothingLeft(t, id+"-near")
	assertNothingLeft(t, id+"-far")
}
