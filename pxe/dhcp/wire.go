package dhcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/ferrite-metal/ferrite/pxe/socket"
	"golang.org/x/sys/unix"
)

// wire is the server's sockets: UDP for everything, and on a real interface
// a packet socket for clients that have no address yet.
type wire struct {
	udp   *net.UDPConn
	oob   []byte // has the kernel send from the server identifier, also when the interface has other addresses
	raw   int    // packet socket; negative: none
	index int    // of the interface; 0: none
	from  netip.AddrPort
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
	w.udp = udp
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

// send puts a reply on the wire. peer is where the request came from: without an
// interface of its own, the server can reach no other address on a link.
func (w *wire) send(b []byte, r route, peer netip.AddrPort) error {
	switch {
	case w.index == 0:
		_, err := w.udp.WriteToUDPAddrPort(b, peer)
		return err
	case r.mac != nil:
		to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: w.index, Halen: uint8(len(r.mac))}
		copy(to.Addr[:], r.mac)
		return unix.Sendto(w.raw, datagram(w.from, r.to, b), 0, to)
	default:
		_, _, err := w.udp.WriteMsgUDPAddrPort(b, w.oob, r.to)
		return err
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
