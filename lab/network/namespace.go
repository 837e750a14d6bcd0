package network

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"sync"

	"golang.org/x/sys/unix"
)

// Namespace is a lab's own network. Its methods are safe to call from many
// goroutines. Root is needed.
type Namespace struct {
	Plan
	id   string
	log  *slog.Logger
	taps int

	mu         sync.Mutex
	closed     bool
	file       *os.File // the namespace, held by us; -> setns
	spawner    *thread
	forwarders []*Forwarder
	hosts      []*Namespace
	stopRouter func() error
}

// Create makes the namespace of the lab called id with a bridge, n taps named by TapName, and an answerer for IPv6
// router solicitations. On any error it removes the parts made so far.
func Create(id string, taps int, log *slog.Logger) (*Namespace, error) {
	n, err := newNamespace(id, log)
	if err != nil {
		return nil, err
	}
	plan := n.Plan
	n.taps = taps
	if err := n.Do(func() error { return setupLinks(plan, taps) }); err != nil {
		return nil, errors.Join(fmt.Errorf("network %s: %w", plan.Namespace, err), n.Close())
	}
	router, err := n.startRouter()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("network %s: %w", plan.Namespace, err), n.Close())
	}
	n.stopRouter = router.close
	log.Debug("network namespace made", "namespace", plan.Namespace, "subnet", plan.Subnet, "taps", taps)
	return n, nil
}

// newNamespace makes a namespace without links.
func newNamespace(id string, log *slog.Logger) (*Namespace, error) {
	plan, err := NewPlan(id)
	if err != nil {
		return nil, err
	}
	n := &Namespace{Plan: plan, id: id, log: log}
	n.spawner, err = newThread(func() error {
		if err := enterNew(plan.Namespace); err != nil {
			return err
		}
		// Before the thread may go on: without the file nothing could enter.
		n.file, err = os.Open(netnsPath(plan.Namespace))
		return err
	})
	if err != nil {
		if !errors.Is(err, os.ErrExist) { // that one is another lab's
			err = errors.Join(err, Remove(id))
		}
		return nil, err
	}
	return n, nil
}

// Do runs f on an OS thread inside the namespace and returns f's result. Sockets that f opens belong to the namespace
// for good; goroutines that f starts do not run in it.
func (n *Namespace) Do(f func() error) error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return errClosed
	}
	fd, err := unix.FcntlInt(n.file.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	n.mu.Unlock()
	if err != nil {
		return fmt.Errorf("namespace %s: %w", n.Namespace, err)
	}
	result := make(chan error, 1)
	onOwnThread(func() {
		err := errors.Join(unix.Setns(fd, unix.CLONE_NEWNET), unix.Close(fd))
		if err != nil {
			result <- fmt.Errorf("enter namespace %s: %w", n.Namespace, err)
			return
		}
		result <- f()
	})
	return <-result
}

// Listen is net.Listen inside the namespace. The address must be an IP
// literal: a name would be looked up by another thread, outside.
func (n *Namespace) Listen(network, address string) (net.Listener, error) {
	var l net.Listener
	err := n.Do(func() (err error) {
		l, err = net.Listen(network, address)
		return err
	})
	return l, err
}

// Dial is net.Dialer.DialContext inside the namespace; address must be an IP
// literal, see Listen. It fits http.Transport.DialContext.
func (n *Namespace) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	var c net.Conn
	err := n.Do(func() (err error) {
		var d net.Dialer
		c, err = d.DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Start starts cmd inside the namespace, in a process group of its own. The kernel kills it
// when the namespace is closed or this process dies; the caller still has to call cmd.Wait.
func (n *Namespace) Start(cmd *exec.Cmd) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return errClosed
	}
	return n.spawner.start(cmd)
}

// Command is exec.CommandContext by way of `ip netns exec`: for one-shot commands with output for the caller, and for
// showing a human.
func (n *Namespace) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", n.Namespace, name}, args...)...)
}

// Close ends the forwarders and hosts, kills the processes started here that still
// run, and removes the namespace with all its links. Calling it again is fine.
func (n *Namespace) Close() error {
	n.mu.Lock()
	if n.closed {
		n.mu.Unlock()
		return nil
	}
	n.closed = true
	forwarders, hosts := n.forwarders, n.hosts
	n.mu.Unlock()

	var errs []error
	for _, f := range forwarders {
		errs = append(errs, f.Close())
	}
	for _, h := range hosts {
		errs = append(errs, h.Close())
	}
	if n.stopRouter != nil {
		errs = append(errs, n.stopRouter())
	}
	n.spawner.stop()
	errs = append(errs, n.file.Close(), Remove(n.id))
	return errors.Join(errs...)
}
