package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe/socket"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// wire is the server's sockets: UDP for everything, and on a real interface
// a packet socket for clients that have no address yet.
type wire struct {
	udp     *net.UDPConn
	batches *ipv4.PacketConn // the same
	oob     []byte           // has the kernel send from the server identifier, also when the interface has other addresses
	raw     int              // packet socket; negative: none
	index   int              // of the interface; 0: none
	from    netip.AddrPort
}

// openWire opens the sockets. A shared one gets its copy of broadcasts beside another program that
// has the port, if that shares it too.
func openWire(ctx context.Context, iface string, server netip.Addr, port uint16, shared bool) (*wire, error) {
	w := &wire{raw: -1, from: netip.AddrPortFrom(server, port)}
	at := w.from
	if iface != "" {
		link, err := net.InterfaceByName(iface)
		if err != nil {
			return nil, fmt.Errorf("dhcp: interface %s: %w: see `ip link`", iface, err)
		}
		w.index = link.Index
		// Broadcasts only arrive on the unspecified address.
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), port)
	}
	open := socket.UDP
	if shared {
		open = socket.SharedUDP
	}
	udp, err := open(ctx, "dhcp", iface, at)
	if err != nil {
		return nil, err
	}
	w.udp, w.batches = udp, ipv4.NewPacketConn(udp)
	w.oob = unix.PktInfo4(&unix.Inet4Pktinfo{Ifindex: int32(w.index), Spec_dst: server.As4()})
	if iface == "" {
		return w, nil
	}
	// Protocol 0: the socket only sends, the kernel copies nothing to it.
	w.raw, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("dhcp: open a packet socket on %s: %w: run as root or with CAP_NET_RAW", iface,
			err), udp.Close())
	}
	return w, nil
}

// outgoing is a reply on its way. peer is where the request came from: without an
// interface of its own, the server can reach no other address on a link.
type outgoing struct {
	route
	bytes  []byte
	peer   netip.AddrPort
	unsent error // after send
}

// send puts replies on the wire.
func (w *wire) send(all ...*outgoing) {
	messages, of := make([]ipv4.Message, 0, len(all)), make([]*outgoing, 0, len(all))
	for _, p := range all {
		m := ipv4.Message{Buffers: [][]byte{p.bytes}, OOB: w.oob, Addr: net.UDPAddrFromAddrPort(p.to)}
		switch {
		case w.index == 0:
			m.OOB, m.Addr = nil, net.UDPAddrFromAddrPort(p.peer)
		case p.mac != nil:
			to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: w.index, Halen: uint8(len(p.mac))}
			copy(to.Addr[:], p.mac)
			p.unsent = unix.Sendto(w.raw, datagram(w.from, p.to, p.bytes), 0, to)
			continue
		}
		messages, of = append(messages, m), append(of, p)
	}
	for len(of) > 0 {
		n, err := w.batches.WriteBatch(messages, 0)
		if err != nil { // of the first one
			of[0].unsent, n = err, 1
		}
		messages, of = messages[n:], of[n:]
	}
}

func (w *wire) close() error {
	err := w.udp.Close()
	if w.raw >= 0 {
		err = errors.Join(err, unix.Close(w.raw))
	}
	return err
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }
