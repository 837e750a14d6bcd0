package dhcp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// probeWait is how long an answer to a probe may take. Linux answers ARP within a millisecond, a host behind
	// several relays within some ten.
	probeWait = 300 * time.Millisecond
	// probePause is between two rounds.
	probePause = time.Second
	// maxStale is how many packets are passed over before a round.
	maxStale = 4096
)

// prober finds addresses in use: by ARP on the server's own link (RFC 5227, section 2.1.1), and by ICMP echo behind
// relays, which ARP does not reach. ICMP misses hosts that drop echo requests.
type prober struct {
	index int
	mac   net.HardwareAddr
	arp   *os.File
	fd    int
	icmp  *net.IPConn
	id    uint16
}

// newProber opens the sockets.
func newProber(c Config) (*prober, error) {
	link, err := net.InterfaceByName(c.Interface)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", c.Interface, err)
	}
	if len(link.HardwareAddr) != len(hwaddr{}) {
		return nil, fmt.Errorf("interface %s has no Ethernet address", c.Interface)
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open a packet socket: %w", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: link.Index}); err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	icmp, err := net.ListenIP("ip4:icmp", &net.IPAddr{IP: c.Server.AsSlice()})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open an ICMP socket: %w", err), unix.Close(fd))
	}
	return &prober{index: link.Index, mac: link.HardwareAddr, arp: os.NewFile(uintptr(fd), "arp"), fd: fd, icmp: icmp,
		id: uint16(rand.Uint32())}, nil
}

func (p *prober) close() error {
	if p == nil {
		return nil
	}
	return errors.Join(p.arp.Close(), p.icmp.Close())
}

// ask probes addresses, and returns those with an answer, with the MAC where it is known.
func (p *prober) ask(ctx context.Context, local bool, all []netip.Addr) map[netip.Addr]hwaddr {
	asked, found := make(map[netip.Addr]bool, len(all)), map[netip.Addr]hwaddr{}
	hear := p.hearEcho
	if local {
		hear = p.hearARP
	}
	buf := make([]byte, maxPacket)
	for range maxStale { // packets from before this round would leave no room for answers
		if _, _, err := hear(buf, time.Now().Add(time.Millisecond)); err != nil {
			break
		}
	}
	until := time.Now().Add(probeWait)
	for _, a := range all {
		asked[a] = true
		if local {
			p.sendARP(a)
		} else { // a probe that is not sent gets no answer
			_, _ = p.icmp.WriteToIP(echoRequest(p.id), &net.IPAddr{IP: a.AsSlice()})
		}
	}
	for ctx.Err() == nil {
		a, by, err := hear(buf, until)
		if err != nil { // time is up, or the interface is down
			return found
		}
		if asked[a] {
			found[a] = by
		}
	}
	return found
}

func (p *prober) hearARP(buf []byte, until time.Time) (a netip.Addr, by hwaddr, err error) {
	if err := p.arp.SetReadDeadline(until); err != nil {
		return a, by, err
	}
	n, err := p.arp.Read(buf)
	if err == nil {
		a, by = parseARP(buf[:n])
	}
	return a, by, err
}

func (p *prober) hearEcho(buf []byte, until time.Time) (a netip.Addr, by hwaddr, err error) {
	if err := p.icmp.SetReadDeadline(until); err != nil {
		return a, by, err
	}
	n, from, err := p.icmp.ReadFromIP(buf)
	if err == nil && n >= 8 && buf[0] == echoReplyType && binary.BigEndian.Uint16(buf[4:]) == p.id {
		a = addr(from.IP)
	}
	return a, by, err
}

const (
	arpSize       = 28
	echoReplyType = 0
	echoType      = 8
)

// arpHead is of Ethernet and IPv4 (RFC 826).
var arpHead = [6]byte{0, 1, 8, 0, 6, 4}

// sendARP asks for an address without giving one, so that no table is changed. A probe that is not sent gets no answer.
func (p *prober) sendARP(a netip.Addr) {
	b := make([]byte, arpSize)
	copy(b, arpHead[:])
	b[7] = 1 // request
	copy(b[8:], p.mac)
	copy(b[24:], a.AsSlice())
	to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: p.index, Halen: 6}
	copy(to.Addr[:], net.HardwareAddr{255, 255, 255, 255, 255, 255})
	_ = unix.Sendto(p.fd, b, 0, to)
}

// parseARP returns the sender of an ARP packet; zero if the packet names none.
func parseARP(b []byte) (a netip.Addr, by hwaddr) {
	if len(b) < arpSize || [6]byte(b) != arpHead {
		return a, by
	}
	return addr(net.IP(b[14:18])), hwaddr(b[8:14])
}

// echoRequest is an ICMP echo request (RFC 792).
func echoRequest(id uint16) []byte {
	b := []byte{echoType, 0, 0, 0, byte(id >> 8), byte(id), 0, 1}
	binary.BigEndian.PutUint16(b[2:], ^sum(b, 0))
	return b
}

// probe keeps probed addresses ready for new machines, until ctx ends.
func (s *Server) probe(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, probePause)
		s.probeRound(ctx, false)
	}
}

// probeRound probes the next addresses of all subnets, or of the server's own link.
func (s *Server) probeRound(ctx context.Context, own bool) {
	for i := range s.pool.subnets {
		s.mu.Lock()
		next := s.pool.probes(s.pool.stocks[i], s.conf.Now())
		local := s.pool.subnets[i].Prefix.Contains(s.conf.Server)
		s.mu.Unlock()
		if len(next) == 0 || own && !local {
			continue
		}
		found := s.prober.ask(ctx, local, next)
		if ctx.Err() != nil {
			return
		}
		if len(found) > minBelieved && len(found) > len(next)/2 {
			s.complain("more than half of the free addresses answer, as with a proxy of ARP: no answer is believed",
				"why", fmt.Sprintf("%d of %d in subnet %v", len(found), len(next), s.pool.subnets[i]))
			found = nil
		}
		s.noteProbes(i, next, found)
	}
}

// minBelieved is how many addresses of a pool may be in use although they are all of it.
const minBelieved = 8

func (s *Server) noteProbes(i int, next []netip.Addr, found map[netip.Addr]hwaddr) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.pool.stocks[i]
	for _, a := range next {
		by, used := found[a]
		if !used {
			s.pool.silent(st, a, s.conf.Now())
		} else if s.pool.answered(st, a, by, s.conf.Now()) {
			s.complain("an address of the pool is in use by a host that was not given it: it is not offered", "ip", a, "mac",
				by.String())
		}
	}
}
