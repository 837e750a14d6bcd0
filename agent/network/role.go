package network

// role is how an interface is looked after.
type role int

const (
	unmanaged role = iota // not at all
	byDHCP                // it asks for its address
	fixed                 // its address is in the plan
	idle                  // it is switched on and has no address: a member of a bond, or a card outside the plan
)

// roleOf is an interface's role. Without a plan every card asks for an address. With a plan a card that it does not
// name is only switched on, so that its link can be seen.
func (m *Manager) roleOf(l Link) role {
	if m.static == nil {
		if l.Physical {
			return byDHCP
		}
		return unmanaged
	}
	planned, ok := m.static.linkOf(l)
	switch {
	case ok && planned.DHCP:
		if m.static.made(l) {
			return byDHCP
		}
		return unmanaged // until it has its MTU, and a bond its address
	case ok && len(planned.Addresses) > 0:
		return fixed
	case ok && m.static.joins(planned), ok && !l.Physical:
		return unmanaged // the plan's operations switch it on
	case l.Physical:
		return idle
	}
	return unmanaged
}
