package connlimit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"time"
)

// ShareError says that an address has as many connections as it may.
type ShareError struct{ Each int }

func (e *ShareError) Error() string {
	return fmt.Sprintf("an address may have %d at a time, and all are in use; end some, or send several requests over "+
		"one", e.Each)
}

// Listen is net.Listen for TCP with the bounds of LimitAnd. It logs refused connections. All servers of strangers use
// it with a server of NewServer.
func Listen(address string, total, each int, proxies Proxies, log *slog.Logger) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	return LimitAnd(l, total, each, queueTime, proxies, func(from netip.Addr, err error) {
		log.Warn("connections refused", "at", l.Addr().String(), "address", from, "err", err)
	}), nil
}

// Limit bounds the connections of l: total of them at a time, each from one address. Once there are total, a new
// connection takes the place of an idle one, from the clients that hold most; an idle connection waits for its peer.
// When none is idle, the new one waits until one ends, beside later ones. An address that has its share gives up one
// of its own idle connections. If none is idle, the new one waits a few seconds for one of its own to end, and then
// its request is answered 503, see Track. The loopback has a few places more than total.
//
// Track the http.Server that serves l: without it every connection counts as idle.
func Limit(l net.Listener, total, each int) net.Listener {
	return LimitAnd(l, total, each, queueTime, nil, nil)
}

// LimitAnd is Limit that has connections above the share of their address wait for so long. It reports the addresses it
// refuses connections of, each once a minute at most, with a *ShareError or an error of proxies; and under no address
// an error of Accept, as that there are no descriptors. An address that proxies trust has no share of its own: its
// connections and requests are counted for the clients that it names. refused must not wait. Both may be nil.
func LimitAnd(l net.Listener, total, each int, wait time.Duration, proxies Proxies,
	refused func(from netip.Addr, err error)) net.Listener {
	p := newPool(total, each)
	p.wait, p.proxies = wait, proxies
	return &limited{Listener: l, pool: p, closed: make(chan struct{}), ready: make(chan accepted),
		refused: refused, reported: reports[netip.Addr]{}}
}

type limited struct {
	net.Listener
	pool    *pool
	closed  chan struct{}
	begin   sync.Once
	end     sync.Once
	ready   chan accepted
	refused func(from netip.Addr, err error)

	mu       sync.Mutex
	reported reports[netip.Addr]
}

const (
	// reportAgain is how often one address or share is reported.
	reportAgain = time.Minute
	// maxReported bounds how many are remembered.
	maxReported = 1024
)

// reports are the times of the last reports.
type reports[K comparable] map[K]time.Time

// due reports whether to report something now, and notes it.
func (r reports[K]) due(of K) bool {
	now := time.Now()
	if now.Sub(r[of]) < reportAgain {
		return false
	}
	if len(r) >= maxReported {
		clear(r)
	}
	r[of] = now
	return true
}

// report reports an address that is refused a connection.
func (l *limited) report(from netip.Addr, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refused != nil && l.reported.due(from) {
		l.refused(from, err)
	}
}

// accepted is a result of Accept.
type accepted struct {
	conn net.Conn
	err  error
}

// Accept waits for a connection that has a place.
func (l *limited) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.admit() })
	select {
	case a := <-l.ready:
		return a.conn, a.err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// admit finds places for connections. A connection without a place waits in a goroutine of its own, so that it delays
// no other: the loopback has places of its own.
func (l *limited) admit() {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			l.give(accepted{err: err})
			if errors.Is(err, net.ErrClosed) {
				return
			}
			l.report(netip.Addr{}, err) // net/http tries again, and says so at the level of strangers' errors
			continue
		}
		from, end := peer(c.RemoteAddr().String()), func() { _ = c.Close() } // its peer was late
		t := l.pool.enter(from, end)
		if ok := l.pool.now(t); ok || t.full {
			l.deliver(c, t, ok)
			continue
		}
		if out := l.pool.queue(t); out != nil {
			out.end()
		}
		go func() { l.deliver(c, t, l.pool.place(t, l.closed)) }()
	}
}

// refuse lets the connection of t get an answer that its address has its share. It returns false when many get one
// already; then the connection is closed.
func (l *limited) refuse(t *ticket, from netip.Addr) bool {
	l.report(from, &ShareError{l.pool.each})
	if !l.pool.refuse(t) {
		t.end()
		return false
	}
	time.AfterFunc(refusalTime, t.end) // net/http sets deadlines of its own
	return true
}

// deliver passes a connection to Accept when it has its place, or will get the answer that its address has its share.
func (l *limited) deliver(c net.Conn, t *ticket, placed bool) {
	if !placed && (!t.full || !l.refuse(t, t.host)) {
		_ = c.Close()
		return
	}
	l.give(accepted{conn: l.hold(c, t)})
}

// give hands a connection to Accept, or closes it when there is no Accept any more.
func (l *limited) give(a accepted) {
	select {
	case l.ready <- a:
	case <-l.closed:
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

// Close closes the listener; connections that are open stay so.
func (l *limited) Close() error {
	l.end.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// hold gives the place back once c is closed. A TCP connection keeps its sendfile.
func (l *limited) hold(c net.Conn, t *ticket) net.Conn {
	h := &held{Conn: c, ticket: t}
	if !t.refused && l.pool.trusts(t.host) {
		h.first = &first{Reader: bufio.NewReaderSize(c, firstSize), conn: c, ticket: t, of: l}
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return &heldTCP{tcp, h}
	}
	return h
}

// held is a connection that has a place.
type held struct {
	net.Conn
	ticket *ticket
	first  *first // of a proxy's connection; nil otherwise
}

// piece must get out in time for an answer not to have stalled. It bounds one call's bytes to the kernel.
const piece = 64 << 10

// Read hears the peer.
func (h *held) Read(p []byte) (int, error) {
	from := h.Conn.Read
	if h.first != nil {
		from = h.first.Read
	}
	n, err := from(p)
	if n > 0 {
		h.ticket.receive()
	}
	return n, err
}

// Write answers, piece by piece.
func (h *held) Write(p []byte) (int, error) {
	defer h.ticket.writing.Store(0)
	total := 0
	for {
		h.ticket.writing.Store(int64(h.ticket.pool.clock()))
		n, err := h.Conn.Write(p[total:min(len(p), total+piece)])
		if total += n; err != nil || total >= len(p) {
			return total, err
		}
	}
}

// Close closes the connection and gives its place back.
func (h *held) Close() error {
	defer h.ticket.leave()
	return h.Conn.Close()
}

func (h *held) place() *ticket { return h.ticket }

// heldTCP is a held connection with sendfile.
type heldTCP struct {
	*net.TCPConn
	held *held
}

func (c *heldTCP) Read(p []byte) (int, error)  { return c.held.Read(p) }
func (c *heldTCP) Write(p []byte) (int, error) { return c.held.Write(p) }
func (c *heldTCP) Close() error                { return c.held.Close() }
func (c *heldTCP) place() *ticket              { return c.held.ticket }

// ReadFrom answers from a reader, such as a file. It passes the file itself under a limit, as net/http gives it, so
// that the kernel copies it (sendfile).
func (c *heldTCP) ReadFrom(r io.Reader) (int64, error) {
	whole, ok := r.(*io.LimitedReader)
	if !ok {
		whole = &io.LimitedReader{R: r, N: 1<<63 - 1}
	}
	t := c.held.ticket
	defer t.writing.Store(0)
	var total int64
	for whole.N > 0 {
		t.writing.Store(int64(t.pool.clock()))
		want := min(piece, whole.N)
		n, err := c.TCPConn.ReadFrom(&io.LimitedReader{R: whole.R, N: want})
		whole.N -= n
		total += n
		if err != nil || n < want {
			return total, err
		}
	}
	return total, nil
}

// peer is the address of a host and port; those that are none count together.
func peer(at string) netip.Addr {
	parsed, err := netip.ParseAddrPort(at)
	if err != nil {
		return netip.Addr{}
	}
	return parsed.Addr().Unmap()
}
