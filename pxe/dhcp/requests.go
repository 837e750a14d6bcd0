package dhcp

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/net/ipv4"

	"github.com/ferrite-metal/ferrite/pxe"
)

// atOnce is how many requests are read, answered and put on record together, if as many wait.
const atOnce = 16

// incoming is a request, and where it came from.
type incoming struct {
	req  *dhcpv4.DHCPv4
	peer netip.AddrPort
}

// requests reads requests from the wire until ctx ends, and gives handle all that wait. The caller sets the read
// deadline when ctx ends. Packets that are no requests are recorded and skipped.
func (w *wire) requests(ctx context.Context, c *complainer, seen pxe.Recorder, handle func([]incoming)) {
	in := make([]ipv4.Message, atOnce)
	for i := range in {
		in[i].Buffers = [][]byte{make([]byte, maxPacket+1)}
	}
	for {
		n, err := w.batches.ReadBatch(in, 0)
		if ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // the interface went down, say: it may come back
			c.complain("dhcp cannot read", "at", w.from, "err", err)
			pause(ctx, 100*time.Millisecond)
			continue
		}
		all := make([]incoming, 0, n)
		for _, m := range in[:n] {
			peer := m.Addr.(*net.UDPAddr).AddrPort() //nolint:forcetypeassert // of a UDP socket
			req, err := parse(m.Buffers[0][:m.N])
			if err != nil {
				c.log.Debug("dhcp packet ignored", "from", peer, "err", err)
				seen.Record(pxe.Event{Service: pxe.DHCP, IP: peer.Addr().Unmap(), Message: "packet", Reason: pxe.ReasonMalformed,
					Detail: err.Error()})
				continue
			}
			all = append(all, incoming{req, peer})
		}
		handle(all)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
