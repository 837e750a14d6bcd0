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
// nothing has answered it yet (turn), and the sender never gives up by itself. For
// the same reason only the ACK of that very block may take the turn: the sender would
// ignore any other, and the right one could never go in.
type lockstep struct {
	*net.UDPConn               // embedded, and so hidden from a server that treats a UDPConn specially
	peer         *net.UDPAddr  // the one client
	first        []byte        // the request, until it is read
	block        int32         // last block sent; 0 for the OACK, -1 before it. The sender's alone
	tries        int           // how often it was sent again
	turn         chan int32    // holds the block that was sent and that nothing has answered yet
	ended        atomic.Bool   // an ERROR went in: what the sender says to that is not for the client
	over         chan struct{} // closed when the transfer ended
	onAck        func()        // called when a block was acknowledged
}

func newLockstep(udp *net.UDPConn, peer netip.AddrPort, request []byte) *lockstep {
	return &lockstep{UDPConn: udp, peer: net.UDPAddrFromAddrPort(peer), first: request, block: -1,
		turn: make(chan int32, 1), over: make(chan struct{}), onAck: func() {}}
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
		case op == opAck && c.answers(int32(binary.BigEndian.Uint16(b[2:]))):
			return n, c.peer, nil
		}
	}
	<-c.over
	return 0, nil, fmt.Errorf("tftp transfer: %w", net.ErrClosed)
}

// answers takes the turn if an ACK is for the block it waits for. A repetition
// leaves the turn as it was: no other is put in while this one is out, since the
// sender goes on only when it was answered.
func (c *lockstep) answers(ack int32) bool {
	select {
	case block := <-c.turn:
		if block == ack {
			c.onAck()
			return true
		}
		c.turn <- block
	default:
	}
	return false
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
	if block == c.block {
		if c.tries++; c.tries >= blockTries {
			c.interrupt()
			return len(b), nil
		}
		return c.send(b), nil
	}
	c.tries, c.block = 0, block
	c.turn <- block // before the send: the ACK may be here before the next line runs
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
