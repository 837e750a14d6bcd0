package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// keepAlive opens a connection to the API, and leaves it open after one answer.
func keepAlive(t *testing.T, c *conductor, from string) (status int, err error) {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(context.WithoutCancel(t.Context()), "tcp4", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		return 0, err
	}
	t.Cleanup(func() { _ = conn.Close() }) // the test is over
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return 0, err
	}
	if _, err := fmt.Fprint(conn, "GET /v1 HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		return 0, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}

// TestConnectionsAreBounded: one address cannot take all the connections.
func TestConnectionsAreBounded(t *testing.T) {
	c := start(t, t.TempDir())
	defer c.end(t)
	http.DefaultClient.CloseIdleConnections()
	for n := range maxEach {
		if status, err := keepAlive(t, c, "127.0.0.2"); status != http.StatusOK {
			t.Fatalf("connection %d: %d, %v", n+1, status, err)
		}
	}
	if status, err := keepAlive(t, c, "127.0.0.2"); err == nil {
		t.Errorf("one more than %d: %d", maxEach, status)
	}
	if status, err := keepAlive(t, c, "127.0.0.3"); status != http.StatusOK {
		t.Errorf("another address: %d, %v", status, err)
	}
}

func TestLogWithoutCredentials(t *testing.T) {
	var b strings.Builder
	log, err := logger("info", &b)
	if err != nil {
		t.Fatal(err)
	}
	log.Warn("fetch http://u:hunter2@h", "url", "http://u:hunter2@h/i", "err", errors.New("GET http://h/i?sig=hunter2: EOF"), "count", 3)
	if got := b.String(); strings.Contains(got, "hunter2") || !strings.Contains(got, "count=3") || strings.Count(got, "******") != 3 {
		t.Error(got)
	}
}
