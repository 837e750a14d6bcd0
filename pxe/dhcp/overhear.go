package dhcp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/ferrite-metal/ferrite/pxe"
)

// Listener hears the answers of other DHCP servers that are broadcast on an interface. It sends
// nothing, and takes no packet from a DHCP client of this host: it reads copies.
type Listener struct {
	conf       Config
	file       *os.File
	neighbours *neighbours
}

// Overhear opens the socket. Of Config it needs Interface, Server, OtherDHCP, Recorder and Log. Serve must follow.
func Overhear(c Config) (*Listener, error) {
	link, err := net.InterfaceByName(c.Interface)
	if err != nil {
		return nil, fmt.Errorf("listen for other DHCP servers: interface %s: %w: see `ip link`", c.Interface, err)
	}
	// Protocol 0 until the filter is in place, so that nothing else is queued.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("listen for other DHCP servers: open a packet socket on %s: %w: run as root or with "+
			"CAP_NET_RAW", c.Interface, err)
	}
	if err = onlyReplies(fd, c.clientPort()); err == nil {
		err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_IP), Ifindex: link.Index})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen for other DHCP servers on %s: %w", c.Interface, err), unix.Close(fd))
	}
	return &Listener{conf: c, file: os.NewFile(uintptr(fd), "packet socket"), neighbours: newNeighbours(c)}, nil
}

func (c Config) clientPort() uint16 {
	if c.ClientPort == 0 {
		return dhcpv4.ClientPort
	}
	return c.ClientPort
}

// onlyReplies has the kernel drop all that is no UDP to the port of DHCP clients.
func onlyReplies(fd int, port uint16) error {
	const protocol, fragment, offset, dport = 9, 6, 0x1fff, 2
	program, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: protocol, Size: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: protoUDP, SkipTrue: 6},
		bpf.LoadAbsolute{Off: fragment, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: offset, SkipTrue: 4},
		bpf.LoadMemShift{Off: 0}, // the header's length
		bpf.LoadIndirect{Off: dport, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(port), SkipTrue: 1},
		bpf.RetConstant{Val: maxPacket + ipv4Header + udpHeader},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(program))
	for i, in := range program {
		filter[i] = unix.SockFilter{Code: in.Op, Jt: in.Jt, Jf: in.Jf, K: in.K}
	}
	return unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]})
}

// Close frees the socket of a listener that was never served.
func (l *Listener) Close() error { return l.file.Close() }

// Serve listens until ctx ends, then closes the socket. It returns nil when ctx ended it.
func (l *Listener) Serve(ctx context.Context) error {
	stop := context.AfterFunc(ctx, func() { _ = l.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, maxPacket+ipv4Header+udpHeader)
	for ctx.Err() == nil {
		n, err := l.file.Read(buf)
		if err != nil {
			if ctx.Err() == nil { // the interface went down, say: it may come back
				pause(ctx, 100*time.Millisecond)
			}
			continue
		}
		if e, ok := overheard(buf[:n], l.conf.Server); ok {
			if !l.conf.OtherDHCP {
				e.Reason = pxe.ReasonUnexpectedDHCP
			}
			l.neighbours.noted(e, "its "+e.Message)
			l.conf.Recorder.Record(e)
		}
	}
	return l.file.Close()
}

// overheard reads the answer of another DHCP server than own from an IPv4 packet; false for anything else.
func overheard(b []byte, own netip.Addr) (pxe.Event, bool) {
	payload, from, ok := udpPayload(b)
	if !ok {
		return pxe.Event{}, false
	}
	p, err := decode(payload)
	if err != nil || p.OpCode != dhcpv4.OpcodeBootReply || len(p.ClientHWAddr) != len(hwaddr{}) {
		return pxe.Event{}, false
	}
	switch messageType(p) {
	case dhcpv4.MessageTypeOffer, dhcpv4.MessageTypeAck, dhcpv4.MessageTypeNak:
	default:
		return pxe.Event{}, false
	}
	server := addr(p.ServerIdentifier())
	if !server.IsValid() {
		server = from
	}
	if !server.IsValid() || server == own || from == own {
		return pxe.Event{}, false
	}
	e := pxe.Event{Service: pxe.Neighbour, MAC: p.ClientHWAddr, IP: addr(p.YourIPAddr), Relay: addr(p.GatewayIPAddr),
		Message: messageType(p).String(), File: p.BootFileNameOption(), Server: server, Answer: "by " + server.String()}
	if e.File == "" {
		e.File = p.BootFileName
	}
	return e, true
}

// udpPayload is the content of a UDP datagram in an IPv4 packet, and its sender.
func udpPayload(b []byte) (payload []byte, from netip.Addr, ok bool) {
	if len(b) < ipv4Header || b[0]>>4 != 4 || b[9] != protoUDP {
		return nil, from, false
	}
	header, whole := int(b[0]&0xf)*4, int(binary.BigEndian.Uint16(b[2:]))
	if header < ipv4Header || whole > len(b) || whole < header+udpHeader {
		return nil, from, false
	}
	udp := b[header:whole]
	size := int(binary.BigEndian.Uint16(udp[4:]))
	if size < udpHeader || size > len(udp) {
		return nil, from, false
	}
	return udp[udpHeader:size], addr(b[12:16]), true
}
