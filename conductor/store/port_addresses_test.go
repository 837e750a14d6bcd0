package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

func portOf(i int) node.Port {
	return node.Port{UUID: fmt.Sprintf("22222222-0000-4000-8000-%012x", i), Address: fmt.Sprintf("52:54:00:00:00:%02x", i),
		NodeUUID: "11111111-0000-4000-8000-000000000001"}
}

// TestPortAddresses: of addresses that no port has, hardly any is asked the database for; a port is found that was
// written before the store was opened, before the first question, after it, and under another address.
func TestPortAddresses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ferrite.db")
	s, err := Open(t.Context(), path, Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	n := node.Node{UUID: portOf(0).NodeUUID}
	if n, err = s.Commit(t.Context(), node.Change{Insert: &n}); err != nil {
		t.Fatal(err)
	}
	add := func(c node.Change) {
		t.Helper()
		c.Save = &n
		if n, err = s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	finds := func(p node.Port) {
		t.Helper()
		if all, err := s.Ports(t.Context(), node.PortQuery{Address: p.Address}); err != nil || len(all) != 1 {
			t.Errorf("%s: %v, %v", p.Address, all, err)
		}
	}
	add(node.Change{AddPorts: []node.Port{portOf(1)}})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, Options{NoSync: true}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	add(node.Change{AddPorts: []node.Port{portOf(2)}})
	finds(portOf(1))
	finds(portOf(2))
	add(node.Change{AddPorts: []node.Port{portOf(3)}})
	finds(portOf(3))
	moved := portOf(3)
	moved.Address = portOf(4).Address
	add(node.Change{SavePorts: []node.Port{moved}})
	finds(moved)
	for i := range 200_000 {
		s.addresses.add(fmt.Sprint("of a large site ", i))
	}
	asked := 0
	for i := range 10_000 {
		if !s.addresses.lack(t.Context(), s.read, fmt.Sprint("of a stranger ", i)) {
			asked++
		}
	}
	if asked > 20 {
		t.Errorf("%d of 10,000 strangers cost a query", asked)
	}
}

// TestLeasesShareATransaction: among leases that are written together, a refused one undoes none of the others.
func TestLeasesShareATransaction(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "ferrite.db"), Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, is := s.w.(*writer)
	if !is {
		t.Fatalf("the writer is a %T", s.w)
	}
	began, end := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	all.Go(func() { // writes that come meanwhile share the next transaction
		if err := w.do(context.Background(), func(*tx) error { close(began); <-end; return nil }); err != nil {
			t.Error(err)
		}
	})
	<-began
	errs := make([]error, 20)
	for i := range errs {
		all.Go(func() {
			l := node.Lease{MAC: portOf(i).Address, IP: fmt.Sprint("10.0.0.", i/2), Expires: time.Now()}
			errs[i] = s.SaveLease(t.Context(), l)
		})
	}
	time.Sleep(20 * time.Millisecond)
	close(end)
	all.Wait()
	for i := 0; i < len(errs); i += 2 {
		one, two := errs[i], errs[i+1]
		if (one == nil) == (two == nil) || !errors.Is(errors.Join(one, two), node.ErrConflict) {
			t.Errorf("two machines that want one address: %v, %v", one, two)
		}
	}
	if got, err := s.Leases(t.Context()); err != nil || len(got) != len(errs)/2 {
		t.Errorf("%d leases are on record (%v), expected %d", len(got), err, len(errs)/2)
	}
}
