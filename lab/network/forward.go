package network

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"
)

// dialTimeout bounds how long a forwarded connection waits for its far end.
const dialTimeout = 5 * time.Second

// Forwarder carries TCP connections from the host's loopback to an address
// inside the namespace, so that a user's shell and browser reach the lab.
type Forwarder struct {
	listener net.Listener
	dial     func(ctx context.Context) (net.Conn, error)
	log      *slog.Logger

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup
}

// Forward listens on hostAddr (a loopback address; port 0 takes a free one)
// and connects every caller to insideAddr in the namespace.
func (n *Namespace) Forward(hostAddr, insideAddr string) (*Forwarder, error) {
	host, _, err := net.SplitHostPort(hostAddr)
	if err != nil {
		return nil, fmt.Errorf("forward %s: %w", hostAddr, err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("forward %s: expected a loopback address, a lab is not for the host's network", hostAddr)
	}
	listener, err := net.Listen("tcp", hostAddr)
	if err != nil {
		return nil, fmt.Errorf("forward to %s: %w", insideAddr, err)
	}
	f := newForwarder(listener, func(ctx context.Context) (net.Conn, error) {
		return n.Dial(ctx, "tcp", insideAddr)
	}, n.log)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, errors.Join(errClosed, f.Close())
	}
	n.forwarders = append(n.forwarders, f)
	return f, nil
}

// newForwarder serves listener until Close.
func newForwarder(listener net.Listener, dial func(context.Context) (net.Conn, error), log *slog.Logger) *Forwarder {
	f := &Forwarder{listener: listener, dial: dial, log: log, conns: map[net.Conn]struct{}{}}
	f.wg.Go(f.serve)
	return f
}

// Addr is the host:port callers use.
func (f *Forwarder) Addr() string { return f.listener.Addr().String() }

// Close stops listening, cuts the open connections and waits for their end.
// Calling it again is fine.
func (f *Forwarder) Close() error {
	err := f.listener.Close()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	f.mu.Lock()
	for c := range f.conns {
		c.Close() // both copiers then end; the error would say it is closed
	}
	f.conns = nil
	f.mu.Unlock()
	f.wg.Wait()
	return err
}

func (f *Forwarder) serve() {
	for {
		near, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			f.log.Warn("forwarded connection not accepted", "address", f.Addr(), "err", err)
			time.Sleep(50 * time.Millisecond) // out of descriptors, most likely: do not spin
			continue
		}
		f.wg.Go(func() { f.carry(near) })
	}
}

// carry joins one caller with the far end until either side is done.
func (f *Forwarder) carry(near net.Conn) {
	if !f.track(near) {
		return
	}
	defer f.drop(near)
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	far, err := f.dial(ctx)
	cancel()
	if err != nil {
		f.log.Debug("forward has no far end", "address", f.Addr(), "err", err)
		return
	}
	if !f.track(far) {
		return
	}
	defer f.drop(far)
	var both sync.WaitGroup
	both.Go(func() { half(far, near) })
	both.Go(func() { half(near, far) })
	both.Wait()
}

// half copies one direction and passes the end of stream on. Copy errors mean
// that a peer went away, which is how connections end.
func half(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if closer, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		err = closer.CloseWrite()
	}
	if err != nil {
		to.Close()
		from.Close()
	}
}

// track remembers c for Close; it closes c and returns false when that has
// happened already.
func (f *Forwarder) track(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.conns == nil {
		c.Close()
		return false
	}
	f.conns[c] = struct{}{}
	return true
}

func (f *Forwarder) drop(c net.Conn) {
	f.mu.Lock()
	delete(f.conns, c)
	f.mu.Unlock()
	c.Close()
}
