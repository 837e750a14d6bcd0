package dhcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"

	"github.com/ferrite-metal/ferrite/pxe"
)

// requests reads requests from the wire until ctx ends, whose end has to set the read deadline, and
// gives each to handle. It skips whatever is none.
func (w *wire) requests(ctx context.Context, c *complainer, seen pxe.Recorder,
	handle func(req *dhcpv4.DHCPv4, peer netip.AddrPort)) {
	buf := make([]byte, maxPacket+1)
	for {
		n, peer, err := w.udp.ReadFromUDPAddrPort(buf)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the interface went down, say: it may come back
			c.complain("dhcp cannot read", "at", w.from, "err", err)
			pause(ctx, 100*time.Millisecond)
			continue
		}
		req, err := parse(buf[:n])
		if err != nil {
			c.log.Debug("dhcp packet ignored", "from", peer, "err", err)
			seen.Record(pxe.Event{Service: pxe.DHCP, IP: peer.Addr().Unmap(), Message: "packet", Reason: pxe.ReasonMalformed,
				Detail: err.Error()})
			continue
		}
		handle(req, peer)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
