package dhcp

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/pxe"
)

const (
	// offerHold is how long an offered address waits for its REQUEST.
	offerHold = time.Minute
	// declineHold is how long an address that a machine found in use elsewhere is left alone.
	declineHold = time.Hour
	// maxDeclines is how many addresses one machine can have left alone at a time. A
	// switch that answers ARP for everybody makes a machine decline all it is offered.
	maxDeclines = 4
)

// place is an address of one subnet: racks that are built alike have the same addresses.
type place struct {
	subnet string // its name
	ip     netip.Addr
}

// place is an address of this subnet.
func (s Subnet) place(a netip.Addr) place { return place{s.Name, a} }

// pools reports whether a place belongs to the pool.
func (s Subnet) pools(at place) bool { return at.subnet == s.Name && s.inRange(at.ip) }

func placeOf(l pxe.Lease) place { return place{l.Subnet, l.IP} }

type hwaddr [6]byte

func (h hwaddr) String() string { return net.HardwareAddr(h[:]).String() }

// entry is the binding of one machine. It exists exactly as long as Pool.holder names its machine for its address.
type entry struct {
	place
	static   bool
	stranger bool       // of a machine that is not enrolled
	owner    string     // project that owns the machine; "" for none
	bound    bool       // acknowledged, not only offered
	expires  time.Time  // as promised to the machine; past: remembered, but free for others
	stored   time.Time  // expiry on record in pxe.Leases; zero: not on record
	acked    time.Time  // acknowledged last; zero: not since the pool was made
	used     bool       // since then the machine has fetched something with it
	client   pxe.Client // as last seen in a DHCP request

	in *queue // of its stock that the lease is in; nil: in none
	at int    // there

	counted map[string]int // of its stock, where the lease counts for its owner; nil: nowhere
}

func (e *entry) live(now time.Time) bool { return e.static || e.expires.After(now) }

// Pool decides which machine has which address. It does no I/O and reads no clock: callers
// pass the time, and write the Grant's records to pxe.Leases. It is not safe for concurrent
// use. Its memory is bounded by the number of addresses it was given, however many machines
// ask.
type Pool struct {
	subnets []Subnet
	names   []string            // of the subnets, each once
	taken   map[netip.Addr]bool // addresses of ours and of routers: never given out
	entries map[hwaddr]*entry
	holder  map[place]hwaddr
	stored  map[place]pxe.Lease // leases on record in pxe.Leases, by address
	records map[hwaddr]place    // the same, by machine
	stocks  []*stock            // of the subnets
	probing bool                // addresses are probed before they are offered: see probes

	refused  map[place]refusal
	declines map[hwaddr]int // refusals by machine
	due      time.Time      // when a refusal is over next; zero: none is

	began time.Time // leases on record were given before; when exactly is not kept
}

// ExhaustedError means that every address of a subnet's pool is held, or every address of the strangers' half.
type ExhaustedError struct {
	Subnet   Subnet
	Stranger bool
	Owner    string // project that has its share
}

func (e *ExhaustedError) Error() string {
	if !e.Subnet.First.IsValid() {
		return fmt.Sprintf("subnet %v has no pool: only machines with a reservation get an address", e.Subnet)
	}
	if e.Stranger {
		return fmt.Sprintf("machines that are not enrolled hold their half of the addresses between %v and %v: enrol "+
			"them, or widen the pool", e.Subnet.First, e.Subnet.Last)
	}
	if e.Owner != "" {
		return fmt.Sprintf("the machines of project %s hold half of the addresses between %v and %v, and few are left for "+
			"others: widen the pool, or delete ports of the project", e.Owner, e.Subnet.First, e.Subnet.Last)
	}
	return fmt.Sprintf("no free address between %v and %v: widen the pool or shorten the lease time", e.Subnet.First,
		e.Subnet.Last)
}

// NewPool returns a pool over subnets, of which none may overlap another (but see Subnet.Name), that knows
// leases and never gives out an address of own (the server's).
func NewPool(subnets []Subnet, own []netip.Addr, leases []pxe.Lease) (*Pool, error) {
	p := &Pool{taken: map[netip.Addr]bool{}, refused: map[place]refusal{},
		declines: map[hwaddr]int{}, names: []string{""}}
	for _, a := range own {
		p.taken[a] = true
	}
	for _, s := range subnets {
		s, err := s.normal()
		if err != nil {
			return nil, err
		}
		for _, o := range p.subnets {
			if err := s.beside(o); err != nil {
				return nil, err
			}
		}
		if s.Router.IsValid() {
			p.taken[s.Router] = true
		}
		p.subnets, p.stocks = append(p.subnets, s), append(p.stocks, newStock(s))
		if s.Name != "" {
			p.names = append(p.names, s.Name)
		}
	}
	return p, p.load(leases)
}

// load replaces all bindings by the leases on record.
func (p *Pool) load(leases []pxe.Lease) error {
	entries := make(map[hwaddr]*entry, len(leases))
	holder := make(map[place]hwaddr, len(leases))
	stored := make(map[place]pxe.Lease, len(leases))
	records := make(map[hwaddr]place, len(leases))
	for _, l := range p.inOrder(leases) {
		if len(l.MAC) != len(hwaddr{}) || !l.IP.Is4() {
			return fmt.Errorf("lease of %v for %v on record: expected a six-byte MAC and an IPv4 address", l.IP, l.MAC)
		}
		hw := hwaddr(l.MAC)
		at := p.placed(l)
		if other, ok := holder[at]; ok {
			if at != placeOf(l) { // a subnet got another name, and this one has the address there
				continue
			}
			return fmt.Errorf("address %v is on record twice, for %v and %v: delete one of the leases", l.IP, other, hw)
		}
		if _, ok := entries[hw]; ok {
			return fmt.Errorf("%v is on record with two addresses: delete one of the leases", hw)
		}
		entries[hw] = &entry{place: at, static: l.Static, bound: true, expires: l.Expires, stored: l.Expires}
		holder[at], stored[at], records[hw] = hw, l, at
	}
	p.entries, p.holder, p.stored, p.records = entries, holder, stored, records
	p.reindexAll()
	return nil
}

// reindexAll files every address anew.
func (p *Pool) reindexAll() {
	for i, st := range p.stocks {
		anew := newStock(st.Subnet)
		anew.aside, anew.probed = st.aside, st.probed
		p.stocks[i] = anew
		for i := range anew.free.size {
			anew.free.set(i, true)
		}
		for a := range p.taken {
			if anew.inRange(a) {
				anew.free.set(anew.index(a), false)
			}
		}
	}
	for at := range p.refused {
		p.reindex(at)
	}
	for at, hw := range p.holder {
		p.entries[hw].in, p.entries[hw].counted = nil, nil
		p.reindex(at)
	}
}

// Reload takes over the leases now on record. It keeps its own offers and leases where none of them is against the
// record: a new reservation beats the present holder. A machine with a new address moves when it next renews, so no
// other machine gets its old address before that lease ends.
func (p *Pool) Reload(leases []pxe.Lease) error {
	was := p.entries
	if err := p.load(leases); err != nil {
		return err
	}
	for hw, e := range was {
		known := p.entries[hw]
		switch _, held := p.holder[e.place]; {
		case known != nil && known.place == e.place:
			known.client, known.stranger, known.acked, known.used = e.client, e.stranger, e.acked, e.used
			known.owner = e.owner
			if !known.static && !e.static {
				known.bound, known.expires = e.bound, e.expires
			}
		case known == nil && !held && !e.static:
			e.stored = time.Time{}
			p.entries[hw], p.holder[e.place] = e, hw
		case e.bound && !e.static:
			p.refuse(e.place, refusal{until: e.expires})
		}
	}
	p.reindexAll()
	return nil
}

// inOrder sorts the leases by their right to an address: first leases of a subnet that is served by the name on
// record, then reservations, then the leases that end last.
func (p *Pool) inOrder(leases []pxe.Lease) []pxe.Lease {
	return slices.SortedStableFunc(slices.Values(leases), func(a, b pxe.Lease) int {
		return cmp.Or(-compare(p.placed(a) == placeOf(a), p.placed(b) == placeOf(b)), -compare(a.Static, b.Static),
			b.Expires.Compare(a.Expires))
	})
}

// compare has false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// placed finds the subnet of a lease on record: the one of its name, or, where that is not served any more,
// the first that its address belongs to.
func (p *Pool) placed(l pxe.Lease) place {
	of := p.Subnets(l.IP)
	for _, s := range of {
		if s.Name == l.Subnet {
			return s.place(l.IP)
		}
	}
	if len(of) > 0 {
		return of[0].place(l.IP)
	}
	return placeOf(l)
}

// Subnets returns the subnets that an address belongs to: several have it where racks are built alike.
func (p *Pool) Subnets(a netip.Addr) (all []Subnet) {
	for _, s := range p.subnets {
		if s.Prefix.Contains(a) {
			all = append(all, s)
		}
	}
	return all
}

// SubnetOf returns the subnet that a request comes from. A subnet that lists the relay wins, then the subnet that
// contains the link's address. A machine that renews directly, without its relay, is in the subnet of its lease.
func (p *Pool) SubnetOf(relay, link netip.Addr, mac net.HardwareAddr) (Subnet, bool) {
	for _, s := range p.subnets {
		if relay.IsValid() && slices.Contains(s.Relays, relay) {
			return s, true
		}
	}
	of := func(s Subnet) bool { return s.Prefix.Contains(link) }
	if i := slices.IndexFunc(p.subnets, of); i < 0 || !slices.ContainsFunc(p.subnets[i+1:], of) {
		return p.subnets[max(i, 0)], i >= 0
	}
	e := p.entries[hwaddr(mac)]
	for _, s := range p.Subnets(link) {
		if !relay.IsValid() && e != nil && e.subnet == s.Name {
			return s, true
		}
	}
	return Subnet{}, false
}

// Offer returns the address of machine mac in s, and holds it for a minute. It takes the machine's reservation, else
// its present or last address, else its wish, else any. A stranger is a machine that is not enrolled.
func (p *Pool) Offer(mac net.HardwareAddr, s Subnet, wish netip.Addr, stranger bool,
	now time.Time) (netip.Addr, error) {
	hw := hwaddr(mac)
	st := p.stock(s)
	if e := p.entries[hw]; e != nil {
		if e.static && (e.subnet != s.Name || !s.host(e.ip) || p.taken[e.ip]) {
			return netip.Addr{}, because(pxe.ReasonReservation, fmt.Errorf("the reservation of %v for %v is no free "+
				"host address of subnet %v, where it asks: correct the reservation", e.ip, hw, s))
		}
		p.mark(mac, stranger)
		if stranger && !e.live(now) && p.full(st, now) {
			return netip.Addr{}, &ExhaustedError{Subnet: s, Stranger: true}
		}
		if e.static || (s.pools(e.place) && p.free(e.place, hw, now)) {
			e.bound = e.bound && e.live(now)
			e.hold(now)
			p.reindex(e.place)
			return e.ip, nil
		}
	}
	ip, err := p.pick(hw, st, wish, stranger, now)
	if err != nil {
		return ip, err
	}
	p.assign(hw, s.place(ip), stranger)
	p.entries[hw].hold(now)
	p.reindex(s.place(ip))
	return ip, nil
}

// stock returns the stock of a subnet.
func (p *Pool) stock(s Subnet) *stock {
	return p.stocks[slices.IndexFunc(p.subnets, func(o Subnet) bool { return o.Name == s.Name && o.Prefix == s.Prefix })]
}

func (e *entry) hold(now time.Time) {
	if until := now.Add(offerHold); e.expires.Before(until) {
		e.expires = until
	}
}

// free reports whether hw may have an address: no other machine holds it, and it is not set aside.
func (p *Pool) free(at place, hw hwaddr, now time.Time) bool {
	if p.taken[at.ip] || p.refused[at].against(hw, now) {
		return false
	}
	other, held := p.holder[at]
	return !held || other == hw || !p.entries[other].live(now)
}

// assign makes hw the holder of an address and of nothing else.
func (p *Pool) assign(hw hwaddr, at place, stranger bool) {
	e := &entry{place: at, stranger: stranger}
	if other, held := p.holder[at]; held {
		p.drop(other)
	}
	if was := p.entries[hw]; was != nil {
		p.drop(hw)
		e.client, e.owner = was.client, was.owner
	}
	p.entries[hw], p.holder[at] = e, hw
	p.reindex(at)
}
