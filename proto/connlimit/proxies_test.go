package connlimit

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// words are proxies at 127.0.0.9 that name a client before a connection (none: FOR LOCAL), or in the header Client.
type words struct{}

func (words) Trusts(from netip.Addr) bool { return from == netip.MustParseAddr("127.0.0.9") }

func (words) Connection(r *bufio.Reader) (client netip.AddrPort, header bool, err error) {
	if b, err := r.Peek(4); err != nil || string(b) != "FOR " {
		return client, false, err
	}
	line, err := r.ReadString('\n')
	if err != nil || line == "FOR LOCAL\n" {
		return client, true, err
	}
	client, err = netip.ParseAddrPort(strings.TrimSpace(line[4:]))
	return client, true, err
}

func (w words) Request(r *http.Request) (*http.Request, error) {
	named := r.Header.Get("Client")
	if named == "" || !w.Trusts(peer(r.RemoteAddr)) {
		return r, nil
	}
	with := *r
	with.RemoteAddr = named
	return &with, nil
}

// answer is the status and text of an answer.
func (s *served) answer(c net.Conn) string {
	s.t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return err.Error()
	}
	text, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(res.StatusCode, " ", strings.TrimSpace(string(text)))
}

func (s *served) wants(got, want string) {
	s.t.Helper()
	if !strings.HasPrefix(got, want) {
		s.t.Errorf("the answer is %q, want %q", got, want)
	}
}

// requestOf has a header that names a client.
func requestOf(client, path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: h\r\nClient: " + client + "\r\n\r\n"
}

// TestProxiedConnections: a proxy's connections are counted for the clients that it names before each, and a stranger
// can name none.
func TestProxiedConnections(t *testing.T) {
	s := serveProxied(t, 30, 2, words{})
	const a, b = "FOR 198.51.100.1:7\n", "FOR 198.51.100.2:7\n"
	for range 2 {
		s.dial("127.0.0.9", a+request("/busy"))
		s.wantBusy()
	}
	s.wants(s.answer(s.dial("127.0.0.9", a+request("/who"))), "503 too many connections: an address may have 2 at a time")
	if from := <-s.refused; from != "198.51.100.1" {
		t.Errorf("%s is reported as refused", from)
	}
	s.wants(s.answer(s.dial("127.0.0.9", b+request("/who"))), "200 198.51.100.2:7")
	for range 3 { // as many as it likes
		s.dial("127.0.0.9", request("/busy"))
		s.wantBusy()
	}
	s.wants(s.answer(s.dial("127.0.0.2", b+request("/who"))), "400")
	s.wants(s.answer(s.dial("127.0.0.9", "FOR nobody\n")), "400 400 Bad Request")
	if from := <-s.refused; from != "127.0.0.9" {
		t.Errorf("%s is reported for its header", from)
	}
	for before, want := range map[string]string{
		"": "200 198.51.100.3:1", "FOR LOCAL\n": "200 127.0.0.9:", b: "200 198.51.100.2:7",
	} {
		s.wants(s.answer(s.dial("127.0.0.9", before+requestOf("198.51.100.3:1", "/who"))), want)
	}
	idle := s.dial("127.0.0.9", b)
	s.dial("127.0.0.9", b)
	s.wants(s.answer(s.dial("127.0.0.9", b+request("/who"))), "200") // its first one gives way
	s.closed(idle, "the first that said nothing")
	for range 5 {
		s.on <- struct{}{}
	}
}

// TestProxiedRequests: a proxy's connection is counted for the client of each request in turn, and stays open for
// others when one of them has its share.
func TestProxiedRequests(t *testing.T) {
	s := serveProxied(t, 30, 2, words{})
	var all []net.Conn
	for range 2 {
		all = append(all, s.dial("127.0.0.9", requestOf("198.51.100.1:1", "/busy")))
		s.wantBusy()
	}
	c := s.dial("127.0.0.9", "")
	for _, next := range []struct{ client, want string }{
		{"198.51.100.1:1", "503 too many connections: an address may have 2 at a time"},
		{"198.51.100.2:1", "200 198.51.100.2:1"},
		{"198.51.100.1:1", "503"}, {"198.51.100.3:1", "200 198.51.100.3:1"},
	} {
		if _, err := io.WriteString(c, requestOf(next.client, "/who")); err != nil {
			t.Fatal(err)
		}
		s.wants(s.answer(c), next.want)
	}
	s.wants(s.answer(s.dial("127.0.0.2", requestOf("198.51.100.3:1", "/who"))), "200 127.0.0.2:")
	for _, busy := range all {
		s.on <- struct{}{}
		s.answered(busy, "one that was busy")
		if err := busy.Close(); err != nil {
			t.Error(err)
		}
	}
	deadline := time.Now().Add(patience)
	for time.Sleep(time.Millisecond); ; time.Sleep(10 * time.Millisecond) {
		s.pool.mu.Lock()
		left := fmt.Sprint(s.pool.hosts, s.pool.networks)
		s.pool.mu.Unlock()
		if left == "map[127.0.0.2:1 127.0.0.9:1] map[127.0.0.2:1 127.0.0.9:1]" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s are counted at the end", left)
		}
	}
}
