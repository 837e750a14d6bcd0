package bmctest

import (
	"net"
	"testing"
)

// Listen serves each connection to a port of the loopback until the test ends, and returns the address.
func Listen(t testing.TB, serve func(c net.Conn)) *net.TCPAddr {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr)
}
