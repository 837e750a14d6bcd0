package agent

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// TestManyConnections: connections of others, in any state, keep the conductor neither out nor waiting, and take
// bounded memory.
func TestManyConnections(t *testing.T) {
	l, err := connlimit.Listen("127.0.0.1:0", maxConnections, maxEach, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	api := command.New(t.Context(), command.Options{
		Token: func() string { return nodeToken }, OpenList: func() bool { return false }, Log: slog.New(slog.DiscardHandler),
	})
	d, err := openCommandServer(l, netip.MustParseAddr("127.0.0.1"), takesCertificates, api, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(d.pem))
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // the test is over
		}
	}()
	connect := func(from string) net.Conn {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		c, err := dialer.DialContext(t.Context(), "tcp4", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		return c
	}
	ask := func(c net.Conn, token string) (*http.Response, error) {
		if _, err := fmt.Fprintf(c, "GET /v1/commands/?agent_token=%s HTTP/1.1\r\nHost: h\r\n\r\n", token); err != nil {
			return nil, err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, res.Body)
		return res, err
	}
	encrypted := func(from string) net.Conn {
		c := tls.Client(connect(from), &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := c.HandshakeContext(ctx); err != nil {
			t.Fatalf("%s: %v", from, err)
		}
		return c
	}

	conductor := encrypted("127.0.0.9") // which has been here before
	if res, err := ask(conductor, nodeToken); err != nil || res.StatusCode != http.StatusOK || res.Close {
		t.Fatalf("the conductor is answered with %+v, %v", res, err)
	}
	var strangers []net.Conn
	for i := range 3 * maxConnections {
		strangers = append(strangers, connect(fmt.Sprintf("127.0.2.%d", i/maxEach+1)))
	}
	for range 10 {
		c := encrypted("127.0.0.10")
		if res, err := ask(c, nodeToken); err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("the conductor, anew, is answered with %+v, %v", res, err)
		}
		_ = c.Close() // it comes again
	}
	if res, err := ask(conductor, nodeToken); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("the conductor's first connection: %+v, %v", res, err)
	}
	if res, err := ask(encrypted("127.0.0.11"), "wrong"); err != nil || res.StatusCode != http.StatusUnauthorized ||
		!res.Close {
		t.Errorf("a wrong token is answered with %+v, %v, want the connection to end", res, err)
	}
	still := 0
	for _, c := range strangers {
		if err := c.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		var late net.Error
		if _, err := c.Read(make([]byte, 1)); errors.As(err, &late) && late.Timeout() {
			still++
		}
	}
	if still > maxConnections+maxConnections/32 {
		t.Errorf("%d connections of strangers are open", still)
	}
}
