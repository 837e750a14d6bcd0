package network

import (
	"errors"
	"fmt"
	"log/slog"
	"net"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv6"
)

// maxHops is the hop limit neighbour discovery asks for: a packet that came
// through a router cannot have it (RFC 4861, 6.1).
const maxHops = 255

// router answers IPv6 router solicitations. The iPXE of 2019 that Debian
// ships waits some 13 s at every boot for an answer on a network that has
// none.
type router struct {
	conn *icmp.PacketConn
	done chan struct{}
}

// startRouter opens the socket inside the namespace and serves it until close.
func (n *Namespace) startRouter() (*router, error) {
	r := &router{done: make(chan struct{})}
	var bridge *net.Interface
	err := n.Do(func() (err error) {
		if bridge, err = net.InterfaceByName(BridgeName); err != nil {
			return err
		}
		r.conn, err = icmp.ListenPacket("ip6:ipv6-icmp", "::")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("router advertisements: %w", err)
	}
	if err := r.configure(bridge); err != nil {
		return nil, errors.Join(fmt.Errorf("router advertisements: %w", err), r.conn.Close())
	}
	go r.serve(bridge, advertisement(n.Subnet6, n.MAC), n.log)
	return r, nil
}

// configure joins all-routers and lets only solicitations through.
func (r *router) configure(bridge *net.Interface) error {
	p := r.conn.IPv6PacketConn()
	var filter ipv6.ICMPFilter
	filter.SetAll(true)
	filter.Accept(ipv6.ICMPTypeRouterSolicitation)
	return errors.Join(
		p.SetICMPFilter(&filter),
		p.SetMulticastHopLimit(maxHops),
		p.SetControlMessage(ipv6.FlagHopLimit, true),
		p.JoinGroup(bridge, &net.IPAddr{IP: net.IPv6linklocalallrouters}),
	)
}

// serve sends one advertisement to all nodes per valid solicitation.
func (r *router) serve(bridge *net.Interface, body []byte, log *slog.Logger) {
	defer close(r.done)
	p := r.conn.IPv6PacketConn()
	advert := append([]byte{byte(ipv6.ICMPTypeRouterAdvertisement), 0, 0, 0}, body...) // the kernel fills the checksum
	to := &net.IPAddr{IP: net.IPv6linklocalallnodes, Zone: bridge.Name}
	from := &ipv6.ControlMessage{Src: linkLocal.Addr().AsSlice(), IfIndex: bridge.Index}
	buf := make([]byte, 1500)
	for {
		_, cm, _, err := p.ReadFrom(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			log.Warn("router solicitation not read", "err", err)
			return
		}
		if cm == nil || cm.HopLimit != maxHops {
			continue
		}
		if _, err := p.WriteTo(advert, from, to); err != nil {
			log.Warn("router advertisement not sent", "err", err)
		}
	}
}

// close ends the answerer and waits for it.
func (r *router) close() error {
	err := r.conn.Close()
	<-r.done
	return err
}
