package netcheck

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// packetWire is a packet socket (packet(7)).
type packetWire struct {
	fd    int
	index int
	done  chan struct{} // closed by Close
	ended chan struct{} // closed when nothing is received any more

	mu    sync.Mutex
	heard *Heard
}

// wake bounds how long Close waits for the receiver.
const wake = 100 * time.Millisecond

// OpenWire listens to all frames on an interface, of all VLANs too, until Close.
func OpenWire(base string) (Wire, error) {
	i, err := net.InterfaceByName(base)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", base, err)
	}
	every := uint16(unix.ETH_P_ALL)<<8 | uint16(unix.ETH_P_ALL)>>8 // in network order
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(every))
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", base, err)
	}
	if err := prepare(fd, i.Index, every); err != nil {
		_ = unix.Close(fd) // the first error counts
		return nil, fmt.Errorf("listen on %s: %w", base, err)
	}
	w := &packetWire{fd: fd, index: i.Index, done: make(chan struct{}), ended: make(chan struct{}), heard: NewHeard()}
	go w.receive()
	return w, nil
}

// prepare binds a socket, and asks for frames of VLANs without an interface here.
func prepare(fd, index int, every uint16) error {
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: index}); err != nil {
		return err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_AUXDATA, 1); err != nil {
		return err
	}
	tv := unix.NsecToTimeval(int64(wake))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return err
	}
	request := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC} //nolint:gosec // an index
	return unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &request)
}

// receive keeps the received frames until Close.
func (w *packetWire) receive() {
	defer close(w.ended)
	frame, side := make([]byte, 1600), make([]byte, 256)
	for {
		select {
		case <-w.done:
			return
		default:
		}
		n, m, _, from, err := unix.Recvmsg(w.fd, frame, side, 0)
		if err != nil {
			if err != unix.EAGAIN && err != unix.EINTR && err != unix.ENETDOWN {
				return
			}
			continue
		}
		if a, ok := from.(*unix.SockaddrLinklayer); ok && a.Pkttype == unix.PACKET_OUTGOING {
			continue // our own
		}
		w.mu.Lock()
		w.heard.Add(frame[:n], tagOf(side[:m]))
		w.mu.Unlock()
	}
}

// tagOf is the VLAN that the kernel took out of a frame.
func tagOf(side []byte) int {
	messages, err := unix.ParseSocketControlMessage(side)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		if m.Header.Level != unix.SOL_PACKET || m.Header.Type != unix.PACKET_AUXDATA ||
			len(m.Data) < int(unsafe.Sizeof(unix.TpacketAuxdata{})) {
			continue
		}
		if binary.NativeEndian.Uint32(m.Data)&unix.TP_STATUS_VLAN_VALID != 0 {
			return int(binary.NativeEndian.Uint16(m.Data[16:])) & tagMask
		}
	}
	return 0
}

// Send sends a frame as it is.
func (w *packetWire) Send(frame []byte) error {
	return unix.Sendto(w.fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: w.index})
}

// Heard is the traffic until now.
func (w *packetWire) Heard() *Heard {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard.Clone()
}

// Forget drops the owner of an address.
func (w *packetWire) Forget(tag int, a netip.Addr) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.heard.Forget(tag, a)
}

// Close ends the listening.
func (w *packetWire) Close() {
	close(w.done)
	<-w.ended
	_ = unix.Close(w.fd) // a socket
}
