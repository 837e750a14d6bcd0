// Package dial makes connections to BMCs and agents, and checks each request that is sent over them.
//
// It must not know the other end of a connection.
package dial

import (
	"context"
	"net"
)

// Dialer makes connections, as *net.Dialer does.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Checked makes connections over which nothing is sent unless check allows it at that moment.
func Checked(d Dialer, check func() error) Dialer { return checked{d, check} }

// Unchecked is d without its check. It serves to end the caller's own sessions, which is harmless.
func Unchecked(d Dialer) Dialer {
	if c, ok := d.(checked); ok {
		return c.next
	}
	return d
}

type checked struct {
	next  Dialer
	check func() error
}

// DialContext connects, if that is allowed.
func (c checked) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	conn, err := c.next.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &checkedConn{conn, c.check}, nil
}

type checkedConn struct {
	net.Conn
	check func() error
}

// Write checks right before the bytes leave. A process that was stopped for a while must not send bytes that it
// prepared before.
func (c *checkedConn) Write(p []byte) (int, error) {
	if err := c.check(); err != nil {
		_ = c.Close() // half a request is none
		return 0, err
	}
	return c.Conn.Write(p)
}

// SetKeepAliveConfig sets the keep-alive of the connection.
func (c *checkedConn) SetKeepAliveConfig(config net.KeepAliveConfig) error {
	return KeepAlive(c.Conn, config)
}

// KeepAlive sets how a connection finds out that its peer is gone. It leaves connections without keep-alive unchanged.
func KeepAlive(conn net.Conn, config net.KeepAliveConfig) error {
	if k, ok := conn.(interface {
		SetKeepAliveConfig(config net.KeepAliveConfig) error
	}); ok {
		return k.SetKeepAliveConfig(config)
	}
	return nil
}
