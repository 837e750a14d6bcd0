package tftp

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/loader"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
	pintftp "github.com/pin/tftp/v3"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type rig struct {
	*Server
	booter *pxetest.Booter
	dir    string
}

func serve(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := &rig{booter: &pxetest.Booter{}, dir: t.TempDir()}
	c := Config{
		Server: netip.MustParseAddr("127.0.77.2"), Port: 6969, Loaders: loader.Folder(r.dir), Booter: r.booter,
		Client: func(netip.Addr) (pxe.Client, bool) { return pxe.Client{Firmware: pxe.UEFI}, true },
		Log:    slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&c)
	}
	var err error
	if r.Server, err = Listen(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	pxetest.Serve(t, r.Serve)
	return r
}

// file puts size random bytes into the folder.
func (r *rig) file(t *testing.T, name string, size int) []byte {
	t.Helper()
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	if err := os.WriteFile(filepath.Join(r.dir, name), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTransfer fetches with an independent client.
func TestTransfer(t *testing.T) {
	r := serve(t, nil)
	for _, tc := range []struct {
		name        string
		size, block int
		tsize       bool
	}{
		{"empty", 0, 0, false},
		{"one byte", 1, 0, true},
		{"a whole block", 512, 0, false},
		{"large, plain", 100_000, 0, true},
		{"large, 1468", 300_000, 1468, true},
		{"blocks too large for the wire", 300_000, 9000, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := r.file(t, "f", tc.size)
			c, err := pintftp.NewClient(r.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if tc.block > 0 {
				c.SetBlockSize(tc.block)
			}
			c.RequestTSize(tc.tsize)
			wt, err := c.Receive("f", "octet")
			if err != nil {
				t.Fatal(err)
			}
			if n, ok := wt.(pintftp.IncomingTransfer).Size(); tc.tsize && (!ok || n != int64(tc.size)) {
				t.Errorf("tsize says %d, %v; want %d", n, ok, tc.size)
			}
			var got bytes.Buffer
			if _, err := wt.WriteTo(&got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got %d other bytes, want %d", got.Len(), len(want))
			}
		})
	}
	if got := r.booter.Stages(); len(got) != 6 || got[0].Stage != pxe.StageTFTP || got[0].Client.Detail != "f" {
		t.Errorf("stages %+v", got)
	}
}

// client is a bare TFTP client that can lose packets on purpose.
type client struct {
	*net.UDPConn
	t      *testing.T
	server *net.UDPAddr // the transfer's own port, once known
}

func (r *rig) dial(t *testing.T) *client {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test is over
	return &client{UDPConn: conn, t: t}
}

func (c *client) sendTo(to netip.AddrPort, b []byte) {
	c.t.Helper()
	if _, err := c.WriteToUDPAddrPort(b, to); err != nil {
		c.t.Fatal(err)
	}
}

const (
	longWait = time.Minute            // for expected packets
	silence  = 100 * time.Millisecond // for packets that must not come
)

// next returns the next packet, nil when none comes within d.
func (c *client) next(d time.Duration) []byte {
	c.t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(d)); err != nil {
		c.t.Fatal(err)
	}
	buf := make([]byte, 2000)
	n, from, err := c.ReadFromUDP(buf)
	if err != nil {
		return nil
	}
	c.server = from
	return buf[:n]
}

// block waits for the data of one block. Anything else is a packet sent again,
// as the server does when a client on a busy machine answers late.
func (c *client) block(number uint16) []byte {
	c.t.Helper()
	for {
		p := c.next(longWait)
		if p == nil || p[1] == opError {
			c.t.Fatalf("got %.20q while waiting for block %d", p, number)
		}
		if p[1] == opData && binary.BigEndian.Uint16(p[2:]) == number {
			return p[4:]
		}
	}
}

func (c *client) ack(block uint16) {
	c.t.Helper()
	c.sendTo(c.server.AddrPort(), binary.BigEndian.AppendUint16([]byte{0, opAck}, block))
}

// fetch receives a file by windows as in RFC 7440, and drops the packets that lose selects.
func (c *client) fetch(window int, block int, lose func(n int) bool) []byte {
	c.t.Helper()
	var got []byte
	expect, inWindow, packets := uint16(1), 0, 0
	c.ack(0)
	for {
		p := c.next(longWait)
		if p == nil || p[1] == opError {
			c.t.Fatalf("got %.20q while waiting for block %d", p, expect)
		}
		if p[1] == opOACK { // sent again
			c.ack(0)
			continue
		}
		packets++
		if lose(packets) {
			continue
		}
		if n := binary.BigEndian.Uint16(p[2:]); n != expect {
			c.ack(expect - 1)
			inWindow = 0
			continue
		}
		got = append(got, p[4:]...)
		expect++
		inWindow++
		last := len(p) < 4+block
		if inWindow == window || last {
			c.ack(expect - 1)
			inWindow = 0
		}
		if last {
			return got
		}
	}
}

func TestWindows(t *testing.T) {
	r := serve(t, nil)
	never := func(int) bool { return false }
	for _, tc := range []struct {
		name   string
		size   int
		block  string
		window string
		oack   string
		lose   func(int) bool
	}{
		{"as OVMF asks", 173_792, "1468", "4", "windowsize\x004\x00blksize\x001468\x00tsize\x00173792\x00", never},
		{"whole blocks", 1468 * 8, "1468", "4", "windowsize\x004\x00blksize\x001468\x00tsize\x0011744\x00", never},
		{"empty", 0, "1468", "4", "windowsize\x004\x00blksize\x001468\x00tsize\x000\x00", never},
		{"block numbers roll over", 8 * 70_000, "8", "64", "windowsize\x0064\x00blksize\x008\x00tsize\x00560000\x00", never},
		{"losses", 100_000, "1000", "8", "windowsize\x008\x00blksize\x001000\x00tsize\x00100000\x00",
			func(n int) bool { return n%13 == 5 }},
		{"the first block lost", 5000, "1000", "8", "windowsize\x008\x00blksize\x001000\x00tsize\x005000\x00",
			func(n int) bool { return n == 1 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			want := r.file(t, "f", tc.size)
			c := r.dial(t)
			c.sendTo(r.Addr(), rrq("f", "octet", "tsize", "0", "blksize", tc.block, "windowsize", tc.window))
			if got := c.next(longWait); string(got) != "\x00\x06"+tc.oack {
				t.Fatalf("got %q, want the options %q", got, tc.oack)
			}
			block := map[string]int{"8": 8, "1000": 1000, "1468": 1468}[tc.block]
			window := map[string]int{"4": 4, "8": 8, "64": 64}[tc.window]
			if got := c.fetch(window, block, tc.lose); !bytes.Equal(got, want) {
				t.Errorf("got %d other bytes, want %d", len(got), len(want))
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	r := serve(t, nil)
	r.file(t, "f", 10)
	if err := os.Mkdir(filepath.Join(r.dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		in   []byte
		want string // "": silence
	}{
		{"missing", rrq("missing", "octet"), "\x00\x05\x00\x01file not found\x00"},
		{"folder", rrq("sub", "octet"), "\x00\x05\x00\x01file not found\x00"},
		{"climbing", rrq("../f", "octet"), "\x00\x05\x00\x02not a file name here\x00"},
		{"writing", append([]byte{0, opWrite}, rrq("f", "octet")[2:]...), "\x00\x05\x00\x02this server is read-only\x00"},
		{"mail", rrq("f", "mail"), "\x00\x05\x00\x04unknown transfer mode\x00"},
		{"rubbish", []byte("rubbish"), ""},
		{"cut short", []byte{0, 1, 'f'}, ""},
		{"an error, which is never answered", []byte{0, opError, 0, 1, 0}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := r.dial(t)
			c.sendTo(r.Addr(), tc.in)
			patience := longWait
			if tc.want == "" {
				patience = silence
			}
			if got := c.next(patience); string(got) != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestSamePort is the way of firmware: ask for the size, break off, and ask
// for the file from the same port at once; and ask twice when in doubt.
func TestSamePort(t *testing.T) {
	r := serve(t, nil)
	want := r.file(t, "f", 700)
	for _, window := range []string{"1", "4"} {
		c := r.dial(t)
		c.sendTo(r.Addr(), rrq("f", "octet", "tsize", "0", "windowsize", window))
		if p := c.next(longWait); p == nil || p[1] != opOACK || !strings.Contains(string(p), "tsize\x00700\x00") {
			t.Fatalf("window %s: got %q", window, p)
		}
		c.sendTo(c.server.AddrPort(), errorPacket(8, "enough"))
		ask := rrq("f", "octet")
		c.sendTo(r.Addr(), ask)
		if got := c.block(1); !bytes.Equal(got, want[:512]) {
			t.Fatalf("window %s: got %.10q", window, got)
		}
		transfer := c.server.Port
		c.sendTo(r.Addr(), ask)
		for p := c.next(silence); p != nil; p = c.next(silence) {
			if c.server.Port != transfer {
				t.Fatalf("window %s: a second transfer started: %.10q", window, p)
			}
		}
		c.ack(1)
		if got := c.block(2); !bytes.Equal(got, want[512:]) {
			t.Fatalf("window %s: got %.10q", window, got)
		}
		c.ack(2)
	}
}
