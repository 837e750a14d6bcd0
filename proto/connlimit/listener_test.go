package connlimit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// patience bounds the wait for expected events.
const patience = 5 * time.Second

// served is a server with a bounded listener. Requests for /busy are answered when
// one is sent to on; /stream begins its answer and goes on for as long.
type served struct {
	t    *testing.T
	addr string
	busy chan struct{} // one for each request that is busy
	on   chan struct{}
	errs chan error // of bodies

	refused chan string // addresses that were reported
	pool    *pool
}

func serve(t *testing.T, total, each int) *served {
	t.Helper()
	return serveProxied(t, total, each, nil)
}

func serveProxied(t *testing.T, total, each int, proxies Proxies) *served {
	t.Helper()
	return servePatiently(t, total, each, 0, proxies)
}

func servePatiently(t *testing.T, total, each int, wait time.Duration, proxies Proxies) *served {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, addr: l.Addr().String(), busy: make(chan struct{}, 100), on: make(chan struct{}),
		errs: make(chan error, 100), refused: make(chan string, 100)}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	Track(srv)
	ended := make(chan error, 1)
	bounded := LimitAnd(l, total, each, wait, proxies, func(from netip.Addr, _ error) { s.refused <- from.String() })
	s.pool = bounded.(*limited).pool
	go func() { ended <- srv.Serve(bounded) }()
	t.Cleanup(func() {
		close(s.on)
		_ = srv.Close() // seen below
		select {
		case err := <-ended:
			if !errors.Is(err, http.ErrServerClosed) {
				t.Errorf("Serve ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("Serve did not end")
		}
	})
	return s
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		s.errs <- err
		return
	}
	if r.URL.Path == "/stream" {
		_ = http.NewResponseController(w).Flush()
	}
	if r.URL.Path == "/who" {
		_, _ = io.WriteString(w, r.RemoteAddr)
		return
	}
	if r.URL.Path != "/" {
		s.busy <- struct{}{}
		<-s.on
	}
	_, _ = io.WriteString(w, "OK")
}

// dial connects from an address and sends something.
func (s *served) dial(from, text string) net.Conn {
	s.t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: patience}
	c, err := d.DialContext(context.WithoutCancel(s.t.Context()), "tcp4", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() }) // the test is over
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.WriteString(c, text); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func request(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n" }

func (s *served) wantBusy() {
	s.t.Helper()
	select {
	case <-s.busy:
	case <-time.After(patience):
		s.t.Fatal("a request did not get through")
	}
}

// answered reads an answer.
func (s *served) answered(c net.Conn, who string) {
	s.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		s.t.Fatalf("%s: %v", who, err)
	}
	if b, err := io.ReadAll(res.Body); err != nil || string(b) != "OK" {
		s.t.Errorf("%s is answered with %q, %v", who, b, err)
	}
}

// closed wants a connection to be.
func (s *served) closed(c net.Conn, who string) {
	s.t.Helper()
	var late net.Error
	if b, err := io.ReadAll(c); len(b) > 0 || errors.As(err, &late) && late.Timeout() {
		s.t.Errorf("%s is still connected: %q, %v", who, b, err)
	}
}

// TestLateGiveWay: clients that send nothing, half a header, or half a body make room. A connection in a request or in
// a long answer keeps its place.
func TestLateGiveWay(t *testing.T) {
	s := serve(t, 10, 10)
	asking := s.dial("127.0.0.2", request("/busy"))
	s.wantBusy()
	following := s.dial("127.0.0.3", request("/stream"))
	s.wantBusy()
	for i := range 8 {
		late := s.dial("127.0.0.4", []string{
			"", "GET / HTTP/1.1\r\nHost: h\r\n", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n{",
			request("/") + "GET",
		}[i%4])
		if i%4 == 3 {
			s.answered(late, "one that has asked, and is late with the next request")
		}
	}
	for i := range 8 {
		s.answered(s.dial(fmt.Sprintf("127.0.1.%d", i+1), request("/")), "a newcomer")
	}
	s.on <- struct{}{}
	s.on <- struct{}{}
	s.answered(asking, "one that was busy")
	s.answered(following, "one that followed")
}

// TestAllBusy: when no connection waits for its peer, the new one does.
func TestAllBusy(t *testing.T) {
	s := serve(t, 2, 2)
	first, second := s.dial("127.0.0.2", request("/busy")), s.dial("127.0.0.3", request("/busy"))
	s.wantBusy()
	s.wantBusy()
	third := s.dial("127.0.0.4", request("/"))
	s.on <- struct{}{}
	s.answered(third, "the newcomer")
	s.on <- struct{}{}
	s.answered(first, "the first")
	s.answered(second, "the second")
}

// TestShareOfOneAddress: it has no more, but may choose which.
func TestShareOfOneAddress(t *testing.T) {
	s := serve(t, 10, 2)
	idle := s.dial("127.0.0.2", "")
	s.dial("127.0.0.2", request("/busy"))
	s.wantBusy()
	s.dial("127.0.0.2", request("/busy"))
	s.wantBusy()
	s.closed(idle, "the idle one")
	for range 2 { // with a reason, and one report
		res, err := http.ReadResponse(bufio.NewReader(s.dial("127.0.0.2", request("/"))), nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusServiceUnavailable || res.Header.Get("Retry-After") == "" ||
			!res.Close ||
			!strings.Contains(string(text), "an address may have 2 at a time") {
			t.Errorf("one more: %s %q, %v", res.Status, text, err)
		}
	}
	if from := <-s.refused; from != "127.0.0.2" || len(s.refused) != 0 {
		t.Errorf("%s is reported as refused, and %d more", from, len(s.refused))
	}
	s.answered(s.dial("127.0.0.3", request("/")), "another address")
	for range 2 {
		s.on <- struct{}{}
	}
}

// TestAboveTheShare: one above the share of its address waits for it, and is refused when its time is over.
func TestAboveTheShare(t *testing.T) {
	s := servePatiently(t, 10, 2, patience, nil)
	for range 2 {
		s.dial("127.0.0.2", request("/busy"))
		s.wantBusy()
	}
	waits := s.dial("127.0.0.2", request("/"))
	s.answered(s.dial("127.0.0.3", request("/")), "another address")
	s.on <- struct{}{}
	s.answered(waits, "one more")
	if err := waits.Close(); err != nil {
		t.Error(err)
	}
	s.dial("127.0.0.2", request("/busy"))
	s.wantBusy()
	s.pool.mu.Lock()
	s.pool.wait = 10 * time.Millisecond
	s.pool.mu.Unlock()
	s.wants(s.answer(s.dial("127.0.0.2", request("/"))), "503 too many connections: an address may have 2 at a time")
	for range 2 {
		s.on <- struct{}{}
	}
}

// TestRefusalsAreBounded: connections without a place that say nothing are closed, and only so many are waited for.
func TestRefusalsAreBounded(t *testing.T) {
	s := serve(t, 10, 1)
	s.dial("127.0.0.2", request("/busy"))
	s.wantBusy()
	defer func() { s.on <- struct{}{} }()
	var waiting []net.Conn
	for range maxRefusals {
		waiting = append(waiting, s.dial("127.0.0.2", ""))
	}
	s.closed(s.dial("127.0.0.2", ""), "one more than are answered")
	s.answered(s.dial("127.0.0.3", request("/")), "another address")
	for _, c := range waiting {
		s.closed(c, "one that says nothing")
	}
}

// TestGetWithBody: a late body of a GET does not make its connection busy.
func TestGetWithBody(t *testing.T) {
	s := serve(t, 1, 1)
	late := s.dial("127.0.0.2", "GET /busy HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n{")
	s.answered(s.dial("127.0.0.3", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"), "one with its body")
	s.closed(late, "a late one")
	c := s.dial("127.0.0.5", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 70000\r\n\r\n"+strings.Repeat("x", 70000))
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil || res.StatusCode != http.StatusBadRequest {
		t.Errorf("a long one: %v, %v", res, err)
	}
}

// TestLimitKeepsSendfile: without io.ReaderFrom every ramdisk would be copied
// through this process.
func TestLimitKeepsSendfile(t *testing.T) {
	inner, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(inner, 1, 1)
	defer l.Close()
	s := &served{t: t, addr: inner.Addr().String()}
	to := s.dial("127.0.0.2", "")
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	from, ok := c.(io.ReaderFrom)
	if !ok {
		t.Fatalf("a %T takes no files", c)
	}
	text := strings.Repeat("0123456789abcdef", 20<<10) // 320 KiB
	for _, r := range []io.Reader{
		strings.NewReader(text), io.LimitReader(strings.NewReader(text+"rest"), int64(len(text))),
	} {
		sent := make(chan error, 1)
		go func() {
			n, err := from.ReadFrom(r)
			if err == nil && n != int64(len(text)) {
				err = fmt.Errorf("%d bytes were sent", n)
			}
			sent <- err
		}()
		got := make([]byte, len(text))
		if _, err := io.ReadFull(to, got); err != nil || string(got) != text {
			t.Errorf("what came is not what was sent: %v", err)
		}
		if err := <-sent; err != nil {
			t.Error(err)
		}
	}
}
