package ra

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv6"
)

const (
	allRouters = "ff02::2"
	hops       = 255 // anything less was forwarded, and is not to be trusted (RFC 4861 section 6.1)
	askTimeout = 3 * time.Second
)

// Config configures a responder; all of it is required.
type Config struct {
	Interface string
	Booter    pxe.Booter // asked which machines are ours
	Log       *slog.Logger
}

// Server is a responder with an open socket.
type Server struct {
	conf Config
	link *net.Interface
	conn *icmp.PacketConn
}

// Listen opens the socket. It fails where the interface has no IPv6.
func Listen(c Config) (*Server, error) {
	link, err := net.InterfaceByName(c.Interface)
	if err != nil {
		return nil, fmt.Errorf("router advertisements: interface %s: %w", c.Interface, err)
	}
	conn, err := icmp.ListenPacket("ip6:ipv6-icmp", "::")
	if err != nil {
		return nil, fmt.Errorf("router advertisements: open an ICMPv6 socket: %w", err)
	}
	if err := prepare(conn.IPv6PacketConn(), link); err != nil {
		_ = conn.Close() // the first error says more
		return nil, fmt.Errorf("router advertisements on %s: %w", c.Interface, err)
	}
	return &Server{conf: c, link: link, conn: conn}, nil
}

func prepare(p *ipv6.PacketConn, link *net.Interface) error {
	var only ipv6.ICMPFilter
	only.SetAll(true)
	only.Accept(ipv6.ICMPTypeRouterSolicitation)
	if err := p.SetICMPFilter(&only); err != nil {
		return err
	}
	if err := p.SetControlMessage(ipv6.FlagHopLimit|ipv6.FlagInterface, true); err != nil {
		return err
	}
	return p.JoinGroup(link, &net.IPAddr{IP: net.ParseIP(allRouters)})
}

// Close frees the socket of a responder that was never served.
func (s *Server) Close() error { return s.conn.Close() }

// Serve answers solicitations until ctx ends, then closes the socket. It
// returns nil when ctx ended it.
func (s *Server) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	p := s.conn.IPv6PacketConn()
	buf := make([]byte, 1500)
	for ctx.Err() == nil {
		n, cm, from, err := p.ReadFrom(buf)
		if err != nil {
			if ctx.Err() == nil {
				s.conf.Log.Debug("router solicitations cannot be read", "err", err)
				time.Sleep(100 * time.Millisecond)
			}
			continue
		}
		if cm == nil || cm.IfIndex != s.link.Index || cm.HopLimit != hops {
			continue
		}
		if err := s.answer(ctx, p, buf[:n], from); err != nil {
			s.conf.Log.Debug("router solicitation not answered", "from", from, "err", err)
		}
	}
	return s.conn.Close()
}

// answer sends an advertisement straight to a machine of ours.
func (s *Server) answer(ctx context.Context, p *ipv6.PacketConn, b []byte, from net.Addr) error {
	mac, err := parse(b)
	if err != nil {
		return err
	}
	ip, ok := from.(*net.IPAddr)
	if mac == nil || !ok || !ip.IP.IsLinkLocalUnicast() {
		return fmt.Errorf("no link-layer address in it, or not from a link-local address")
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	boot, err := s.conf.Booter.Boot(ctx,
		pxe.Client{MAC: mac, Firmware: pxe.IPXE, IP: netip.Addr{}, Detail: "router solicitation"})
	if err != nil || boot.Action == pxe.Ignore {
		return err
	}
	cm := &ipv6.ControlMessage{HopLimit: hops, IfIndex: s.link.Index}
	_, err = p.WriteTo(advert(s.link.HardwareAddr), cm, ip)
	return err
}
