package store

import (
	"context"
	"database/sql"
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// addressBits is the size of the filter: 1 MiB. It lets one in ten thousand unknown addresses through at 200,000 ports,
// and one in a hundred at 800,000.
const addressBits = 1 << 23

// portAddresses answers without a query that no port has an address, for most unknown addresses. Any machine on a boot
// network can ask for the node of any address. It is a Bloom filter with all addresses that this process has loaded or
// written; addresses of deleted ports stay. The methods of nil never exclude an address.
type portAddresses struct {
	seed   maphash.Seed
	bits   []atomic.Uint32
	mu     sync.Mutex
	loaded atomic.Bool
}

func newPortAddresses() *portAddresses {
	return &portAddresses{seed: maphash.MakeSeed(), bits: make([]atomic.Uint32, addressBits/32)}
}

// each calls do for the bits of an address until it answers false.
func (p *portAddresses) each(address string, do func(word *atomic.Uint32, bit uint32) bool) bool {
	h := maphash.String(p.seed, address)
	for range 4 {
		at := h % addressBits
		if !do(&p.bits[at/32], 1<<(at%32)) {
			return false
		}
		h = h>>16 | h<<48
	}
	return true
}

// add is called before the port is committed.
func (p *portAddresses) add(address string) {
	if p == nil {
		return
	}
	p.each(address, func(word *atomic.Uint32, bit uint32) bool {
		word.Or(bit)
		return true
	})
}

// lack reports whether no port has an address. The first call loads all addresses; concurrent calls return false
// meanwhile.
func (p *portAddresses) lack(ctx context.Context, r *reader, address string) bool {
	if p == nil || !p.loaded.Load() && !p.load(ctx, r) {
		return false
	}
	return !p.each(address, func(word *atomic.Uint32, bit uint32) bool { return word.Load()&bit != 0 })
}

// load adds the addresses of all ports in the database. It drops an error, because the query that follows reports it.
func (p *portAddresses) load(ctx context.Context, r *reader) bool {
	if !p.mu.TryLock() {
		return false
	}
	defer p.mu.Unlock()
	err := r.each(ctx, func(rows *sql.Rows) error {
		var address string
		err := rows.Scan(&address)
		p.add(address)
		return err
	}, "SELECT address FROM ports")
	if err == nil {
		p.loaded.Store(true)
	}
	return err == nil
}
