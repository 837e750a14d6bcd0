package netswitch

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestRun: a frame goes from one machine's socket to the other's, and to none that is gone.
func TestRun(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	var wires []io.ReadWriteCloser
	var guests []*net.UnixConn
	for _, name := range []string{"a", "b", "gone"} {
		own, peer := filepath.Join(dir, name), filepath.Join(dir, name+"-guest")
		w, err := Datagrams(own, peer)
		if err != nil {
			t.Fatal(err)
		}
		wires = append(wires, w)
		if name == "gone" {
			continue
		}
		g, err := net.DialUnix("unixgram", &net.UnixAddr{Name: peer, Net: "unixgram"},
			&net.UnixAddr{Name: own, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		guests = append(guests, g)
	}
	core, err := New([]Port{{Name: "a", Access: 5}, {Name: "b", Tagged: []int{5}}, {Name: "gone", Access: 5}})
	if err != nil {
		t.Fatal(err)
	}
	r := Run(ctx, core, wires, slog.New(slog.DiscardHandler))
	defer func() { cancel(); r.Wait() }()
	want := data(host(1), host(2), 5)
	b := make([]byte, largestFrame)
	for try := 0; ; try++ { // the first frames of both ends bring their links
		if _, err := guests[1].Write(data(host(2), host(1), 5)); err != nil {
			t.Fatal(err)
		}
		if _, err := guests[0].Write(data(host(1), host(2), 0)); err != nil {
			t.Fatal(err)
		}
		if err := guests[1].SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		n, err := guests[1].Read(b)
		if err == nil {
			if !bytes.Equal(b[:n], want) {
				t.Errorf("received %x, want %x", b[:n], want)
			}
			return
		}
		if try == 20 {
			t.Fatal(err)
		}
	}
}
