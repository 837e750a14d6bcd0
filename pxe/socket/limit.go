package socket

import (
	"net"
	"net/netip"
	"sync"
)

// Limit bounds the connections of l: total of them at a time, each from one
// address. Beyond total they wait in the kernel's queue until another one ends;
// an address that has its share is turned away at once, so that it cannot make
// the others wait.
func Limit(l net.Listener, total, each int) net.Listener {
	return &limited{
		Listener: l, each: each, slots: make(chan struct{}, total),
		closed: make(chan struct{}), open: map[netip.Addr]int{},
	}
}

type limited struct {
	net.Listener
	each   int
	slots  chan struct{} // one is taken by each connection, and by the Accept that waits for one
	closed chan struct{}
	once   sync.Once

	mu   sync.Mutex
	open map[netip.Addr]int
}

// Accept waits for a connection, and for room for it.
func (l *limited) Accept() (net.Conn, error) {
	for {
		select {
		case l.slots <- struct{}{}:
		case <-l.closed:
			return nil, net.ErrClosed
		}
		c, err := l.Listener.Accept()
		if err != nil {
			<-l.slots
			return nil, err
		}
		if from := peer(c); l.enter(from) {
			return l.hold(c, from), nil
		}
		_ = c.Close() // nobody has used it
		<-l.slots
	}
}

// Close closes the listener; connections that are open stay so.
func (l *limited) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

func (l *limited) enter(from netip.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from] >= l.each {
		return false
	}
	l.open[from]++
	return true
}

func (l *limited) leave(from netip.Addr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[from]--; l.open[from] == 0 {
		delete(l.open, from)
	}
	<-l.slots
}

// hold gives the place back once c is closed. A TCP connection stays one that
// the kernel can send files over.
func (l *limited) hold(c net.Conn, from netip.Addr) net.Conn {
	end := sync.OnceFunc(func() { l.leave(from) })
	if tcp, ok := c.(*net.TCPConn); ok {
		return &heldTCP{tcp, end}
	}
	return &held{c, end}
}

type held struct {
	net.Conn
	end func()
}

// Close closes the connection and gives its place back.
func (c *held) Close() error {
	defer c.end()
	return c.Conn.Close()
}

type heldTCP struct {
	*net.TCPConn
	end func()
}

// Close closes the connection and gives its place back.
func (c *heldTCP) Close() error {
	defer c.end()
	return c.TCPConn.Close()
}

// peer is the address a connection comes from; those without one count together.
func peer(c net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
