package connlimit

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
)

// Proxies know which addresses speak for others, and how. An implementation must be safe for concurrent use.
type Proxies interface {
	// Trusts reports whether an address speaks for others.
	Trusts(from netip.Addr) bool
	// Connection reads the client of such a connection from its first bytes (PROXY protocol), and takes only these
	// from r. It returns the zero AddrPort if they name none. With a header that names no client the connection is the
	// proxy's own, or passes on a client's bytes unchanged: then headers of its requests do not count.
	Connection(r *bufio.Reader) (client netip.AddrPort, header bool, err error)
	// Request is a request as its client sent it to a proxy, by its headers. It is r itself where its RemoteAddr is no
	// proxy's.
	Request(r *http.Request) (*http.Request, error)
}

// firstSize is how much is read ahead of a proxy's connection. Version 1 of the protocol is a line of 107 bytes at
// most, which comes at once.
const firstSize = 256

// first reads a proxy's connection. It has no time limit of its own: net/http sets one for the handshake of TLS, and
// for the header of a request.
type first struct {
	*bufio.Reader
	conn   net.Conn
	ticket *ticket
	of     *limited
	begun  bool
	err    error
}

// Read finds the connection's client first, and then reads the rest.
func (f *first) Read(p []byte) (int, error) {
	if !f.begun {
		f.begun, f.err = true, f.begin()
	}
	switch {
	case f.err != nil:
		return 0, f.err
	case f.Buffered() > 0:
		return f.Reader.Read(p)
	}
	return f.conn.Read(p)
}

func (f *first) begin() error {
	client, header, err := f.of.pool.proxies.Connection(f.Reader)
	var network net.Error
	if errors.As(err, &network) { // nothing came, or not all, before the peer left or its time was over
		return err
	}
	if err != nil {
		err = fmt.Errorf("the first bytes of a proxy's connection: %w", err)
		f.of.report(f.ticket.host, err)
		return err
	}
	if f.ticket.nameless = header && !client.IsValid(); client.IsValid() {
		f.ticket.client = client.String()
		if !f.of.pool.move(f.ticket, client.Addr()) && !f.of.refuse(f.ticket, client.Addr()) {
			return net.ErrClosed
		}
	}
	return nil
}

// sent returns a request as its client sent it, by the proxies' statements about the connection and in its headers.
func (t *ticket) sent(r *http.Request) (*http.Request, error) {
	if t == nil || t.pool.proxies == nil || t.nameless {
		return r, nil
	}
	if t.client != "" {
		with := *r
		with.RemoteAddr = t.client
		r = &with
	}
	return t.pool.proxies.Request(r)
}
