package tftp

import (
	"bytes"
	"net"
	"net/netip"
	"testing"

	pintftp "github.com/pin/tftp/v3"
)

func TestTransfersAreBounded(t *testing.T) {
	r := serve(t, func(c *Config) { c.Transfers = 2 })
	r.file(t, "f", 5000)
	for range 2 { // these two acknowledge one block, and no more
		c := r.dial(t)
		c.sendTo(r.Addr(), rrq("f", "octet"))
		c.block(1)
		c.ack(1)
		c.block(2)
	}
	c := r.dial(t)
	c.sendTo(r.Addr(), rrq("f", "octet"))
	if p := c.next(silence); p != nil {
		t.Errorf("a third transfer started: %.10q", p)
	}
	// The server stops at once although both transfers wait (see serve's cleanup, and goleak).
}

// TestRepeatedACKs repeats every ACK, the last one too: the end of a
// transfer is where a packet too many must do no harm.
func TestRepeatedACKs(t *testing.T) {
	r := serve(t, nil)
	want := r.file(t, "f", 2000)
	for range 50 {
		c := r.dial(t)
		c.sendTo(r.Addr(), rrq("f", "octet", "tsize", "0"))
		if p := c.next(longWait); p == nil || p[1] != opOACK {
			t.Fatalf("got %q", p)
		}
		c.ack(0)
		var got []byte
		for block := uint16(1); len(got) < len(want); {
			got = append(got, c.block(block)...)
			for range 5 {
				c.ack(block)
			}
			block++
		}
		if !bytes.Equal(got, want) {
			t.Fatal("got another file")
		}
	}
}

// TestLostACK checks that a block is sent again, and not for ever.
func TestLostACK(t *testing.T) {
	r := serve(t, nil)
	r.file(t, "f", 700)
	c := r.dial(t)
	c.sendTo(r.Addr(), rrq("f", "octet"))
	for range 2 {
		c.block(1)
	}
	c.ack(1)
	c.block(2)
	c.ack(2)
}

// TestTransfersOfOneAddress: a client that begins one transfer after the other,
// and never acknowledges a block, leaves room for other machines.
func TestTransfersOfOneAddress(t *testing.T) {
	r := serve(t, nil)
	want := r.file(t, "f", 5000)
	ask := func(from string) *net.UDPConn {
		t.Helper()
		c, err := net.DialUDP("udp4", &net.UDPAddr{IP: net.ParseIP(from)}, net.UDPAddrFromAddrPort(r.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() }) // the test is over
		if _, err := c.Write([]byte("\x00\x01f\x00octet\x00")); err != nil {
			t.Fatal(err)
		}
		return c
	}
	for range 3 * maxEach {
		ask("127.0.77.66")
	}
	c, err := pintftp.NewClient(r.Addr().String()) // from 127.0.0.1, after all of those
	if err != nil {
		t.Fatal(err)
	}
	wt, err := c.Receive("f", "octet")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if _, err := wt.WriteTo(&got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("another machine got %d bytes, %v", got.Len(), err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for peer := range r.active {
		if peer.Addr() == netip.MustParseAddr("127.0.77.66") {
			n++
		}
	}
	if n > maxEach {
		t.Errorf("%d transfers to one address", n)
	}
}
