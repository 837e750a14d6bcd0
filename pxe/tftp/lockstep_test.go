package tftp

import (
	"encoding/binary"
	"net"
	"testing"
	"time"
)

// TestLockstep: whatever a client repeats, the sender is given the ACK of the
// block it sent last, once. Anything else takes the turn of the right one, and
// the transfer never ends.
func TestLockstep(t *testing.T) {
	listen := func() *net.UDPConn {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	server, client := listen(), listen()
	c := newLockstep(server, client.LocalAddr().(*net.UDPAddr).AddrPort(), rrq("f", "octet"))
	buf := make([]byte, maxRequest)
	if _, _, err := c.ReadFrom(buf); err != nil { // the request
		t.Fatal(err)
	}
	given := make(chan uint16, 1)
	reader := make(chan struct{})
	go func() {
		defer close(reader)
		for {
			if _, _, err := c.ReadFrom(buf); err != nil {
				return
			}
			given <- binary.BigEndian.Uint16(buf[2:])
		}
	}()
	acks := make(chan struct{})
	go func() {
		defer close(acks)
		for p := make([]byte, maxRequest); ; {
			n, err := client.Read(p)
			if err != nil || n < 4 {
				return
			}
			for range 5 {
				_, _ = client.WriteTo(append([]byte{0, opAck}, p[2:4]...), server.LocalAddr()) // it may have closed
			}
		}
	}()
	for block := uint16(1); block <= 5_000; block++ {
		packet := binary.BigEndian.AppendUint16([]byte{0, opData}, block)
		for got := false; !got; {
			if _, err := c.WriteTo(packet, nil); err != nil {
				t.Fatal(err)
			}
			select {
			case number := <-given:
				if got = true; number != block {
					t.Fatalf("block %d was answered with the ACK of %d", block, number)
				}
			case <-time.After(time.Second): // lost on the way
			}
		}
	}
	close(c.over)
	c.interrupt()
	<-reader
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	<-acks
	if err := server.Close(); err != nil {
		t.Error(err)
	}
}
