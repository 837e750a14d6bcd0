package tftp

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"time"
)

// lockstep is the socket of one transfer as pin/tftp's server sees it: the
// request comes first, then exactly the packets its sender waits for.
//
// The exactness matters. In single-port mode pin/tftp 3.2.0 hands a packet to the
// sender through a channel that the sender closes when it is done; one packet too many
// at that moment, such as a repeated last ACK, is a send on a closed channel and ends
// the whole program. So a packet goes in only when the sender has sent a block and
// nothing has answered it yet (turn), and the sender never gives up by itself.
type lockstep struct {
	*net.UDPConn              // embedded, and so hidden from a server that treats a UDPConn specially
	peer         *net.UDPAddr // the one client
	first        []byte       // the request, until it is read
	block        atomic.Int32 // last block sent; 0 for the OACK, -1 before it
	tries        int          // how often it was sent again
	turn         chan struct{}
	ended        atomic.Bool   // an ERROR went in: what the sender says to that is not for the client
	over         chan struct{} // closed when the transfer ended
}

func newLockstep(udp *net.UDPConn, peer netip.AddrPort, request []byte) *lockstep {
	c := &lockstep{UDPConn: udp, peer: net.UDPAddrFromAddrPort(peer), first: request,
		turn: make(chan struct{}, 1), over: make(chan struct{})}
	c.block.Store(-1)
	return c
}

// ReadFrom returns the request, then each block's ACK once, or an ERROR: the
// client's own, or one in its name when the transfer is interrupted. After that it
// waits for the end of the transfer.
func (c *lockstep) ReadFrom(b []byte) (int, net.Addr, error) {
	if c.first != nil {
		n := copy(b, c.first)
		c.first = nil
		return n, c.peer, nil
	}
	for !c.ended.Load() {
		n, from, err := c.ReadFromUDP(b)
		switch {
		case err != nil:
			n = copy(b, errorPacket(0, "interrupted"))
		case from.Port != c.peer.Port || !from.IP.Equal(c.peer.IP) || n < 4:
			continue
		}
		switch op := binary.BigEndian.Uint16(b); {
		case op == opError:
			select {
			case <-c.turn:
				c.ended.Store(true)
				return n, c.peer, nil
			case <-c.over:
				return 0, nil, net.ErrClosed
			}
		case op == opAck && int32(binary.BigEndian.Uint16(b[2:])) == c.block.Load():
			select {
			case <-c.turn:
				return n, c.peer, nil
			default: // a repetition
			}
		}
	}
	<-c.over
	return 0, nil, fmt.Errorf("tftp transfer: %w", net.ErrClosed)
}

// WriteTo sends what the sender sends. A packet that cannot be sent is as
// good as lost: an error would make the sender try again without a pause.
func (c *lockstep) WriteTo(b []byte, _ net.Addr) (int, error) {
	if c.ended.Load() {
		return len(b), nil
	}
	block := int32(0)
	switch binary.BigEndian.Uint16(b) {
	case opData:
		block = int32(binary.BigEndian.Uint16(b[2:]))
	case opOACK:
	default: // an ERROR of the sender's own, which is its last word
		return c.send(b), nil
	}
	if block == c.block.Load() {
		if c.tries++; c.tries >= blockTries {
			c.interrupt()
			return len(b), nil
		}
		return c.send(b), nil
	}
	c.tries = 0
	c.block.Store(block)
	c.turn <- struct{}{} // before the send: the ACK may be here before the next line runs
	return c.send(b), nil
}

func (c *lockstep) send(b []byte) int {
	_, _ = c.WriteToUDP(b, c.peer) // see WriteTo
	return len(b)
}

// Close does nothing: the socket is the transfer's, not the server's.
func (c *lockstep) Close() error { return nil }

// SetReadDeadline is how the server, when it is shut down, wakes its own
// ReadFrom. It may not grant that read another second: the client may already be
// asking for its next file from the same port.
func (c *lockstep) SetReadDeadline(time.Time) error {
	c.interrupt()
	return nil
}

// interrupt makes ReadFrom end the transfer.
func (c *lockstep) interrupt() { _ = c.UDPConn.SetReadDeadline(time.Unix(1, 0)) }
