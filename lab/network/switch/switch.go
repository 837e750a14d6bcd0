package netswitch

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// Port is how one port of a switch is set up.
type Port struct {
	Name string
	// Access is the VLAN of untagged frames; 0: they are dropped.
	Access int
	// Tagged are the VLANs with tagged frames on this port.
	Tagged []int
	// Group is the number of the aggregate that the port belongs to; 0: none. The ports of a
	// group have the same VLANs, and carry nothing until the partner aggregates them by LACP.
	Group int
	// Delay is the time after the link came during which the port forwards nothing. LACP passes.
	Delay time.Duration
}

// Sending is a frame to go out of a port, by its place in the list.
type Sending struct {
	Port  int
	Frame []byte
}

// Bounds of the table of addresses.
const (
	maxLearned = 4096
	learnedFor = 5 * time.Minute
)

// Switch forwards frames. It is for one goroutine.
type Switch struct {
	ports   []Port
	system  mac
	linked  []time.Time // when each port's link came; zero: it has none
	members []*member   // nil for a port of no group
	learned map[place]learned
	swept   time.Time // when the table was last cleared of old addresses
}

type place struct {
	vlan int
	mac  mac
}

type learned struct {
	port  int
	until time.Time
}

// New makes a switch. Its ports have no link yet.
func New(ports []Port) (*Switch, error) {
	s := &Switch{ports: slices.Clone(ports), system: mac{0x02, 0x46, 0x65, 0, 0, 1}, linked: make([]time.Time, len(ports)),
		members: make([]*member, len(ports)), learned: map[place]learned{}}
	groups := map[int]Port{}
	for i, p := range ports {
		for _, v := range append([]int{p.Access}, p.Tagged...) {
			if v < 0 || v > maxVLAN || v == 0 && slices.Contains(p.Tagged, 0) {
				return nil, fmt.Errorf("port %s: VLAN %d: expected 1 to %d", p.Name, v, maxVLAN)
			}
		}
		if slices.Contains(p.Tagged, p.Access) {
			return nil, fmt.Errorf("port %s: VLAN %d is both tagged and untagged", p.Name, p.Access)
		}
		if p.Group == 0 {
			continue
		}
		first, known := groups[p.Group]
		if known && (first.Access != p.Access || !slices.Equal(first.Tagged, p.Tagged)) {
			return nil, fmt.Errorf("port %s: has other VLANs than %s, of the same group %d", p.Name, first.Name, p.Group)
		}
		groups[p.Group] = p
		s.members[i] = &member{actor: End{SystemPriority: 0x8000, System: s.system,
			Key: uint16(p.Group), PortPriority: 0x80, Port: uint16(i + 1)}} //nolint:gosec // few ports and groups
		s.members[i].forget()
	}
	return s, nil
}

// Link takes note that a port has a link, or has none any more.
func (s *Switch) Link(now time.Time, port int, up bool) {
	switch {
	case up && s.linked[port].IsZero():
		s.linked[port] = now
	case !up:
		s.linked[port] = time.Time{}
		if s.members[port] != nil {
			s.members[port].forget()
		}
	}
}

// Tick does the timed work: LACP. Call it some times a second.
func (s *Switch) Tick(now time.Time) []Sending {
	var out []Sending
	for i, m := range s.members {
		if m != nil && !s.linked[i].IsZero() && m.tick(now) {
			out = append(out, s.lacp(now, i))
		}
	}
	return out
}

func (s *Switch) lacp(now time.Time, port int) Sending {
	from := s.system
	from[5] += byte(port + 1) //nolint:gosec // few ports
	return Sending{port, s.members[port].pdu(now).Frame(from)}
}

// Receive takes a frame from a port, and returns those that it becomes.
func (s *Switch) Receive(now time.Time, port int, b []byte) []Sending {
	f, ok := parse(b)
	if !ok {
		return nil
	}
	if f.kind == typeSlow && f.to == slowGroup {
		return s.receiveSlow(now, port, f)
	}
	if reserved(f.to) || f.from.group() || !s.forwards(now, port) {
		return nil
	}
	vlan := f.tag
	switch {
	case vlan == 0:
		vlan = s.ports[port].Access
	case !slices.Contains(s.ports[port].Tagged, vlan):
		return nil
	}
	if vlan == 0 {
		return nil
	}
	s.learn(now, place{vlan, f.from}, port)
	var out []Sending
	for _, to := range s.destinations(now, port, vlan, f) {
		data := slices.Clone(f.untagged)
		if s.ports[to].Access != vlan {
			data = tagged(f.untagged, vlan)
		}
		out = append(out, Sending{to, data})
	}
	return out
}

// reserved reports whether an address is of those that no bridge forwards (802.1Q, 8.6.3).
func reserved(m mac) bool { return [5]byte(m[:5]) == [5]byte(slowGroup[:5]) && m[5] < 0x10 }

func (s *Switch) receiveSlow(now time.Time, port int, f frame) []Sending {
	m := s.members[port]
	if m == nil || f.tag != 0 || s.linked[port].IsZero() {
		return nil
	}
	p, err := ParsePDU(f.untagged[headerLen:])
	if err != nil {
		return nil
	}
	var others []*member
	for i, o := range s.members {
		if o != nil && s.ports[i].Group == s.ports[port].Group {
			others = append(others, o)
		}
	}
	if m.receive(now, p, others) {
		return []Sending{s.lacp(now, port)}
	}
	return nil
}

// forwards reports whether frames go through a port.
func (s *Switch) forwards(now time.Time, port int) bool {
	l := s.linked[port]
	return !l.IsZero() && now.Sub(l) >= s.ports[port].Delay && (s.members[port] == nil || s.members[port].carries())
}

// learn keeps where an address is. A full table learns no more: such frames go everywhere.
func (s *Switch) learn(now time.Time, at place, port int) {
	if _, known := s.learned[at]; !known && len(s.learned) >= maxLearned {
		if now.Sub(s.swept) < time.Second {
			return
		}
		s.swept = now
		for old, l := range s.learned {
			if now.After(l.until) {
				delete(s.learned, old)
			}
		}
		if len(s.learned) >= maxLearned {
			return
		}
	}
	s.learned[at] = learned{port, now.Add(learnedFor)}
}

// destinations are the ports for a frame: the port of its address, or all ports of its VLAN; one port of each group,
// and none of the group it came from.
func (s *Switch) destinations(now time.Time, port, vlan int, f frame) []int {
	l, known := s.learned[place{vlan, f.to}]
	known = known && !f.to.group() && !now.After(l.until)
	groups := map[int][]int{}
	var out []int
	for i, p := range s.ports {
		own := i == port || p.Group != 0 && p.Group == s.ports[port].Group
		reached := !known || i == l.port || p.Group != 0 && p.Group == s.ports[l.port].Group
		if own || !reached || !s.forwards(now, i) || p.Access != vlan && !slices.Contains(p.Tagged, vlan) {
			continue
		}
		if p.Group == 0 {
			out = append(out, i)
			continue
		}
		groups[p.Group] = append(groups[p.Group], i)
	}
	for _, ports := range groups {
		out = append(out, ports[hash(f)%uint32(len(ports))]) //nolint:gosec // few ports
	}
	slices.Sort(out)
	return out
}

// hash spreads conversations over the ports of a group, and keeps the frames of each in order.
func hash(f frame) uint32 {
	h := fnv.New32a()
	_, _ = h.Write(append(f.to[:], f.from[:]...)) // it never fails
	return h.Sum32()
}

// SetAccess puts a port that is in no group into another VLAN, for its untagged frames; 0: into none. It forgets which
// addresses are there, and returns whether any was heard of since the change before.
func (s *Switch) SetAccess(name string, vlan int) (heard bool, err error) {
	port := slices.IndexFunc(s.ports, func(p Port) bool { return p.Name == name })
	if port < 0 || s.ports[port].Group != 0 || vlan < 0 || vlan > maxVLAN || slices.Contains(s.ports[port].Tagged, vlan) {
		return false, fmt.Errorf("port %q into VLAN %d: expected a port in no group, and a VLAN of 0 to %d that is not "+
			"tagged there", name, vlan, maxVLAN)
	}
	for at, l := range s.learned {
		if l.port == port {
			heard = true
			delete(s.learned, at)
		}
	}
	s.ports[port].Access = vlan
	return heard, nil
}

// Bundled lists the ports of a group that carry frames.
func (s *Switch) Bundled(group int) []string {
	var names []string
	for i, m := range s.members {
		if m != nil && s.ports[i].Group == group && m.carries() {
			names = append(names, s.ports[i].Name)
		}
	}
	return names
}
