//go:build cluster

package history

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// network is the way of one conductor to the database. While it is cut, nothing comes through, and nothing ends.
type network struct {
	listener net.Listener
	socket   string

	mu    sync.Mutex
	whole chan struct{} // closed while it is whole
	open  map[net.Conn]bool
	ways  sync.WaitGroup
}

// newNetwork is the way to a server, and the URL by which a conductor takes it.
func newNetwork(t *testing.T, database *url.URL) (n *network, address *url.URL) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	through := *database
	q := through.Query()
	n = &network{listener: listener, socket: filepath.Join(q.Get("host"), ".s.PGSQL.5432"),
		whole: make(chan struct{}), open: map[net.Conn]bool{}}
	close(n.whole)
	q.Del("host")
	q.Set("sslmode", "disable")
	through.Host, through.RawQuery = listener.Addr().String(), q.Encode()
	n.ways.Go(n.serve)
	t.Cleanup(n.close)
	return n, &through
}

func (n *network) serve() {
	for {
		conn, err := n.listener.Accept()
		if err != nil {
			return
		}
		n.ways.Go(func() { n.pass(conn) })
	}
}

// pass passes bytes on both ways, while the network is whole.
func (n *network) pass(conn net.Conn) {
	n.wait()
	server, err := net.Dial("unix", n.socket)
	if err != nil {
		_ = conn.Close() // the server is not there
		return
	}
	n.mu.Lock()
	n.open[conn], n.open[server] = true, true
	n.mu.Unlock()
	var both sync.WaitGroup
	for to, from := range map[net.Conn]net.Conn{conn: server, server: conn} {
		both.Go(func() {
			_, err := io.Copy(&held{to, n}, from)
			n.wait()
			_ = errors.Join(err, to.Close(), from.Close()) // whichever end has gone
		})
	}
	both.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.open, conn)
	delete(n.open, server)
}

// held writes while the network is whole.
type held struct {
	net.Conn
	network *network
}

func (h *held) Write(p []byte) (int, error) {
	h.network.wait()
	return h.Conn.Write(p)
}

func (n *network) wait() {
	n.mu.Lock()
	whole := n.whole
	n.mu.Unlock()
	<-whole
}

// cut lets nothing through until mend.
func (n *network) cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.whole = make(chan struct{})
}

func (n *network) mend() {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.whole)
}

func (n *network) close() {
	_ = n.listener.Close() // the test is over
	n.mu.Lock()
	select {
	case <-n.whole:
	default:
		close(n.whole)
	}
	for c := range n.open {
		_ = c.Close()
	}
	n.mu.Unlock()
	n.ways.Wait()
}
