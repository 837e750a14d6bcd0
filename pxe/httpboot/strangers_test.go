package httpboot

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
	"github.com/ferrite-metal/ferrite/pxe/pxetest"
)

// TestHalfHeadersShutNobodyOut: with all the connections in headers that do not come
// to their end, machines are served at once.
func TestHalfHeadersShutNobodyOut(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	var half []net.Conn
	pxetest.Serve(t, func(ctx context.Context) error {
		return Serve(ctx, l, r, nil, slog.New(slog.NewTextHandler(io.Discard, nil)))
	})
	connect := func(from, text string) net.Conn {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		conn, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() }) // the test is over
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	for i := range maxConnections + maxConnections/32 { // including the loopback's own
		half = append(half, connect(fmt.Sprintf("127.0.2.%d", i/maxEach+1), "GET / HTTP/1.1\r\nHost: x\r\n"))
	}
	began := time.Now()
	for i := range 40 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, byte(i+1))}}
		client := &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true},
			Timeout: headerTimeout / 2}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://"+l.Addr().String()+pxe.LoaderPath("a.efi"), nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatalf("machine %d: %v", i, err)
		}
		if text(t, resp); resp.StatusCode != http.StatusOK {
			t.Fatalf("machine %d: %s", i, resp.Status)
		}
	}
	if took := time.Since(began); took > headerTimeout/2 {
		t.Errorf("40 answers took %v", took)
	}
	for _, c := range half {
		_ = c.Close() // the server's end would wait for them
	}
}

// TestRackBehindOneAddress: six hundred machines behind a relay or translator, each with a kernel to fetch, all get it:
// those above the share of one address wait.
func TestRackBehindOneAddress(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const machines = maxEach + 88
	all := make(chan struct{}) // closed when as many are being answered as may be
	var asked atomic.Int64
	pxetest.Serve(t, func(ctx context.Context) error {
		return Serve(ctx, l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) == maxEach {
				close(all)
			}
			select {
			case <-all:
			case <-time.After(headerTimeout):
			}
			_, _ = w.Write(make([]byte, 64<<10))
		}), nil, slog.New(slog.DiscardHandler))
	})
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 3, 1)}}
	client := &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}}
	var got atomic.Int64
	var wg sync.WaitGroup
	for range machines {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/", nil)
			if err != nil {
				t.Error(err)
				return
			}
			resp, err := client.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			if err == nil && n == 64<<10 && resp.StatusCode == http.StatusOK {
				got.Add(1)
				return
			}
			t.Errorf("one is answered %s and has %d bytes: %v", resp.Status, n, err)
		})
	}
	wg.Wait()
	if got.Load() != machines {
		t.Errorf("%d of %d got their file", got.Load(), machines)
	}
}
