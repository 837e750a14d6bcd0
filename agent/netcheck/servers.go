package netcheck

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/ferrite-metal/ferrite/agent/contact"
)

// serverPatience is how long a name server, or a stage towards the conductor, may take.
const serverPatience = 3 * time.Second

// askServers asks the name servers in turn until one answers.
func (c *Checker) askServers(ctx context.Context) []Answer {
	var out []Answer
	for _, s := range c.Servers {
		err := c.AskServer(ctx, s)
		out = append(out, Answer{Subject: s.String(), Err: err})
		if err == nil {
			break
		}
	}
	return out
}

// Query asks a name server for the root's name servers. Any answer shows that it is there,
// a refusal too.
func Query(ctx context.Context, server netip.AddrPort) error {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	const id = 0x4665
	root, err := dnsmessage.NewName(".")
	if err != nil {
		return err
	}
	question := dnsmessage.Message{Header: dnsmessage.Header{ID: id, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: root, Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}}}
	packed, err := question.Pack()
	if err != nil {
		return err
	}
	conn, err := new(net.Dialer).DialContext(ctx, "udp", server.String())
	if err != nil {
		return err
	}
	defer conn.Close() // nothing is left to send
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	b := make([]byte, 4096)
	for range 2 { // the first one may wait for ARP and be lost
		if _, err := conn.Write(packed); err != nil {
			return err
		}
		if err := conn.SetReadDeadline(time.Now().Add(serverPatience / 2)); err != nil {
			return err
		}
		var n int
		if n, err = conn.Read(b); err != nil {
			continue
		}
		var p dnsmessage.Parser
		h, bad := p.Start(b[:n])
		if bad != nil || h.ID != id || !h.Response {
			return fmt.Errorf("%s answers, but not as a name server", server)
		}
		return nil
	}
	return err
}

// Reach looks how far a way to the conductor leads: the name, TCP, TLS, HTTP. ask makes a
// whole request; it decides about certificates too.
func Reach(ctx context.Context, base string, ask func(context.Context) error) Answer {
	ctx, cancel := context.WithTimeout(ctx, 2*serverPatience)
	defer cancel()
	a := Answer{Subject: base, Stage: "HTTP", Err: ask(ctx)}
	var name *net.DNSError
	var dial *net.OpError
	switch {
	case errors.As(a.Err, &name):
		a.Stage = "name"
	case errors.As(a.Err, &dial) && dial.Op == "dial":
		a.Stage = "TCP"
	case ofTLS(a.Err):
		a.Stage = "TLS"
	}
	return a
}

// ofTLS reports whether an error is of a handshake or a certificate.
func ofTLS(err error) bool {
	var pin *contact.PinError
	var header tls.RecordHeaderError
	var alert tls.AlertError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	for _, kind := range []any{&pin, &header, &alert, &unknown, &host, &invalid} {
		if errors.As(err, kind) {
			return true
		}
	}
	return false
}
