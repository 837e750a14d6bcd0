package socket

import (
	"container/list"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// Limit bounds the connections of l: total of them at a time, each from one
// address. An address that has its share is turned away at once, so that it
// cannot make the others wait. Once there are total, a new connection takes the
// place of the one that has waited longest for its peer to say something: whose
// peers send nothing, from however many addresses, keep nobody out. When none
// waits, the new one does, until another one ends.
func Limit(l net.Listener, total, each int) net.Listener {
	return &limited{
		Listener: l, each: each, slots: make(chan struct{}, total), closed: make(chan struct{}),
		open: map[netip.Addr]int{}, waiting: list.New(), more: make(chan struct{}, 1),
	}
}

type limited struct {
	net.Listener
	each   int
	slots  chan struct{} // one is taken by each connection
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	open    map[netip.Addr]int
	waiting *list.List    // of *held, by how long they wait for their peers
	more    chan struct{} // says that there is another one
}

// Accept waits for a connection, and makes or waits for room for it.
func (l *limited) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := peer(c)
		if !l.enter(from) {
			_ = c.Close() // nobody has used it
			continue
		}
		if !l.place() {
			_ = c.Close()
			return nil, net.ErrClosed
		}
		return l.hold(c, from), nil
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

// place takes a slot; false when the listener is closed before there is one.
func (l *limited) place() bool {
	for {
		select {
		case l.slots <- struct{}{}:
			return true
		default:
		}
		if h := l.longest(); h != nil {
			_ = h.Close() // whose peer has asked for nothing
			continue
		}
		select {
		case l.slots <- struct{}{}:
			return true
		case <-l.more:
		case <-l.closed:
			return false
		}
	}
}

// longest is the connection that has waited longest, nil when none waits.
func (l *limited) longest() *held {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := l.waiting.Front()
	if first == nil {
		return nil
	}
	h, _ := first.Value.(*held)
	h.waits(false)
	return h
}

func (l *limited) leave(h *held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	h.waits(false)
	h.gone = true
	if l.open[h.from]--; l.open[h.from] == 0 {
		delete(l.open, h.from)
	}
	<-l.slots
}

// hold gives the place back once c is closed. A TCP connection stays one that
// the kernel can send files over.
func (l *limited) hold(c net.Conn, from netip.Addr) net.Conn {
	h := &held{Conn: c, of: l, from: from}
	h.end = sync.OnceFunc(func() { l.leave(h) })
	h.turn(true)
	if tcp, ok := c.(*net.TCPConn); ok {
		return &heldTCP{tcp, h}
	}
	return h
}

// held is a connection that has a place. It waits for its peer from its start, and
// from an answer on, until it reads something: meanwhile it has no request.
type held struct {
	net.Conn
	of       *limited
	from     netip.Addr
	end      func()
	answered atomic.Bool // since it last began to read

	// Under the lock of of.
	place *list.Element // among those that wait; nil when it does not
	gone  bool
}

// Read waits for the peer when the last word was ours.
func (h *held) Read(p []byte) (int, error) {
	if h.answered.Swap(false) {
		h.turn(true)
	}
	n, err := h.Conn.Read(p)
	if n > 0 {
		h.turn(false)
	}
	return n, err
}

// Write answers.
func (h *held) Write(p []byte) (int, error) {
	h.answered.Store(true)
	return h.Conn.Write(p)
}

// Close closes the connection and gives its place back.
func (h *held) Close() error {
	defer h.end()
	return h.Conn.Close()
}

// turn notes whose turn it is to say something: the peer's, or ours.
func (h *held) turn(peers bool) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.waits(peers)
}

// waits is turn with the lock held.
func (h *held) waits(yes bool) {
	switch {
	case yes && h.place == nil && !h.gone:
		h.place = h.of.waiting.PushBack(h)
		select {
		case h.of.more <- struct{}{}:
		default: // said already
		}
	case !yes && h.place != nil:
		h.of.waiting.Remove(h.place)
		h.place = nil
	}
}

// heldTCP is one that the kernel can send files over.
type heldTCP struct {
	*net.TCPConn
	held *held
}

func (c *heldTCP) Read(p []byte) (int, error)  { return c.held.Read(p) }
func (c *heldTCP) Write(p []byte) (int, error) { return c.held.Write(p) }
func (c *heldTCP) Close() error                { return c.held.Close() }

// ReadFrom answers with what is in a file, say.
func (c *heldTCP) ReadFrom(r io.Reader) (int64, error) {
	c.held.answered.Store(true)
	return c.TCPConn.ReadFrom(r)
}

// peer is the address a connection comes from; those without one count together.
func peer(c net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap()
}
