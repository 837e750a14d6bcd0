package node

import "slices"

// VIF is a virtual interface that is to be attached to a node: to a certain
// port or portgroup when one is named, else to the best that is free.
type VIF struct {
	ID            string
	PortUUID      string
	PortgroupUUID string
	Physical      []string // physical networks of which it can be in one; none: any
	Wired         bool     // only ports with a known switch port fit
	Project       string   // that asks; "" for one of the whole system
}

// PlaceVIF chooses the port or portgroup for a VIF, much as Ironic does. It prefers a portgroup to a port, a port with
// PXE to one without, and the oldest among equals. It returns either port or group. A port in a physical network takes
// only VIFs that can be in that network. For these it comes before a port without a physical network.
func PlaceVIF(v VIF, ports []Port, groups []Portgroup) (port *Port, group *Portgroup, err error) {
	members, used := map[string]int{}, map[string]bool{} // by portgroup
	for i := range ports {
		p := &ports[i]
		switch {
		case v.PortUUID != "" && p.UUID != v.PortUUID, !p.linked(), !v.reaches(p):
			continue
		case p.VIF() == v.ID:
			return nil, nil, attached(v.ID, "Port", p.UUID)
		case p.VIF() != "":
			used[p.PortgroupUUID] = true
		default:
			members[p.PortgroupUUID]++
		}
	}
	for i := range groups {
		g := &groups[i]
		switch {
		case v.PortUUID != "" || v.PortgroupUUID != "" && g.UUID != v.PortgroupUUID:
			continue
		case g.VIF() == v.ID:
			return nil, nil, attached(v.ID, "Portgroup", g.UUID)
		case group == nil && g.VIF() == "" && !used[g.UUID] && members[g.UUID] > 0:
			group = g
		}
	}
	if group != nil {
		return nil, group, nil
	}
	if port = freePort(v, ports, groups, used); port == nil {
		return nil, nil, Refuse(Invalid, "Unable to attach VIF %s, not enough free physical ports.", v.ID)
	}
	return port, nil, nil
}

// freePort finds a port for a VIF that no portgroup takes. A port of a
// portgroup counts when others of it are used alone already.
func freePort(v VIF, ports []Port, groups []Portgroup, used map[string]bool) *Port {
	taken := map[string]bool{}
	for i := range groups {
		taken[groups[i].UUID] = groups[i].VIF() != ""
	}
	var best *Port
	for i := range ports {
		p, in := &ports[i], ports[i].PortgroupUUID
		switch {
		case v.PortgroupUUID != "" || v.PortUUID != "" && p.UUID != v.PortUUID, p.VIF() != "" || !p.linked(),
			!v.reaches(p):
			continue
		case in != "" && (taken[in] || !used[in]):
			continue
		}
		if best == nil || v.rank(p) > v.rank(best) {
			best = p
		}
	}
	return best
}

// reaches reports whether a port can be in the VIF's network. A port that names no physical network can be in any.
func (v VIF) reaches(p *Port) bool {
	if v.Wired && !p.Wired() {
		return false
	}
	return len(v.Physical) == 0 || p.PhysicalNetwork == "" || slices.Contains(v.Physical, p.PhysicalNetwork)
}

// rank is the higher the better a port is for the VIF.
func (v VIF) rank(p *Port) (rank int) {
	if slices.Contains(v.Physical, p.PhysicalNetwork) {
		rank += 2
	}
	if p.PXEEnabled {
		rank++
	}
	return rank
}

// linked: a port says that it is a smart NIC exactly when it is plugged in as
// one. An InfiniBand port, known by its client id, need not say anything.
func (p *Port) linked() bool {
	id, _ := p.Extra["client-id"].(string)
	return id != "" || p.IsSmartNIC == p.smartLink()
}

func attached(vif, kind, uuid string) error {
	return Refuse(Conflict, "Unable to attach VIF because VIF %s is already attached to Ironic %s %s", vif, kind, uuid)
}
