//go:build e2e

package scale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/dhcpv4/nclient4"
	"github.com/mdlayher/packet"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// leases asks for addresses as the firmware of many machines, by one socket.
type leases struct {
	conn    net.PacketConn
	mu      sync.Mutex
	waiting map[dhcpv4.TransactionID]chan *dhcpv4.DHCPv4
	again   int // requests that got no answer in time
}

func newLeases(r *room) (*leases, error) {
	l := &leases{waiting: map[dhcpv4.TransactionID]chan *dhcpv4.DHCPv4{}}
	err := r.do(func() (err error) {
		l.conn, err = listenClients()
		return err
	})
	if err == nil {
		go l.listen()
	}
	return l, err
}

// roomForAnswers is how many bytes of answers the kernel keeps until they are read.
const roomForAnswers = 16 << 20

// listenClients is a socket of clients without an address. The kernel drops all else: there are many gigabytes of it.
func listenClients() (net.PacketConn, error) {
	filter, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: 9, Size: 1}, // the protocol
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_UDP, SkipTrue: 4},
		bpf.LoadMemShift{Off: 0}, // the header's length
		bpf.LoadIndirect{Off: 2, Size: 2},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: nclient4.ClientPort, SkipTrue: 1},
		bpf.RetConstant{Val: 1 << 16},
		bpf.RetConstant{Val: 0},
	})
	if err != nil {
		return nil, err
	}
	link, err := net.InterfaceByName(roomLink)
	if err != nil {
		return nil, err
	}
	conn, err := packet.Listen(link, packet.Datagram, unix.ETH_P_IP, &packet.Config{Filter: filter})
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err == nil {
		refused := raw.Control(func(fd uintptr) {
			err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, roomForAnswers)
		})
		err = errors.Join(refused, err)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return nclient4.NewBroadcastUDPConn(conn, &net.UDPAddr{Port: nclient4.ClientPort}), nil
}

func (l *leases) listen() {
	buf := make([]byte, 1500)
	for {
		n, _, err := l.conn.ReadFrom(buf)
		if err != nil {
			return // closed
		}
		answer, err := dhcpv4.FromBytes(bytes.Clone(buf[:n])) // which keeps them
		if err != nil {
			continue // of another client
		}
		l.mu.Lock()
		to := l.waiting[answer.TransactionID]
		l.mu.Unlock()
		select {
		case to <- answer:
		default: // the client no longer waits for it
		}
	}
}

// exchange sends a request until it is answered, as firmware does: 4, 8, 16 s apart (RFC 2131, 4.1).
func (l *leases) exchange(ctx context.Context, q *dhcpv4.DHCPv4, kind dhcpv4.MessageType) (*dhcpv4.DHCPv4, error) {
	answers := make(chan *dhcpv4.DHCPv4, 4)
	l.mu.Lock()
	l.waiting[q.TransactionID] = answers
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.waiting, q.TransactionID)
	}()
	for wait := 4 * time.Second; wait < time.Minute; wait *= 2 {
		if _, err := l.conn.WriteTo(q.ToBytes(), &net.UDPAddr{IP: net.IPv4bcast, Port: nclient4.ServerPort}); err != nil {
			return nil, err
		}
		timer := time.NewTimer(wait)
		for waiting := true; waiting; {
			select {
			case a := <-answers:
				switch a.MessageType() {
				case kind:
					timer.Stop()
					return a, nil
				case dhcpv4.MessageTypeNak:
					return nil, fmt.Errorf("%s: %s is refused: %s", q.ClientHWAddr, q.MessageType(), a.Message())
				default: // an answer to an earlier one
				}
			case <-timer.C:
				waiting = false
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		l.mu.Lock()
		l.again++
		l.mu.Unlock()
	}
	return nil, fmt.Errorf("%s: %s is not answered", q.ClientHWAddr, q.MessageType())
}

// lend gets an address and a boot file for the nth machine, which says that it is UEFI firmware, or iPXE on that.
func (l *leases) lend(ctx context.Context, nth int, iPXE bool) (*dhcpv4.DHCPv4, error) {
	mac, err := net.ParseMAC(macOf(nth))
	if err != nil {
		return nil, err
	}
	firmware := []dhcpv4.Modifier{
		dhcpv4.WithBroadcast(true),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientSystemArchitectureType, []byte{0, 7})),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00007:UNDI:003016")),
	}
	if iPXE {
		firmware = append(firmware,
			dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionUserClassInformation, []byte("iPXE"))))
	}
	q, err := dhcpv4.NewDiscovery(mac, firmware...)
	if err != nil {
		return nil, err
	}
	offer, err := l.exchange(ctx, q, dhcpv4.MessageTypeOffer)
	if err != nil {
		return nil, err
	}
	if q, err = dhcpv4.NewRequestFromOffer(offer, firmware...); err != nil {
		return nil, err
	}
	return l.exchange(ctx, q, dhcpv4.MessageTypeAck)
}
