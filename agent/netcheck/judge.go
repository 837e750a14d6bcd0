package netcheck

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// addresses judges the addresses of a link: another machine may claim one (RFC 5227).
func addresses(l Link, h *Heard) []Finding {
	var out []Finding
	for _, a := range l.Addresses {
		f := Finding{Check: Address, Subject: fmt.Sprintf("address %s on %s", a.Addr(), l.Name), OK: true}
		if owner, claimed := h.Owners[l.Tag][a.Addr()]; claimed && owner != l.MAC {
			f.OK, f.Remedy = false, "give one of the two another address"
			f.Reason = fmt.Sprintf("in use by another machine, with the MAC address %s", owner)
		}
		out = append(out, f)
	}
	return out
}

// router judges one router of a link. The reasons go from certain to likely.
func router(l Link, h *Heard, r netip.Addr) Finding {
	f := Finding{Check: Router, Subject: fmt.Sprintf("router %s on %s", r, l.Name)}
	if _, f.OK = h.Owners[l.Tag][r]; f.OK {
		return f
	}
	const none = "no answer to ARP"
	subnet := subnetOf(l, r)
	switch other, host := h.neighbour(l, subnet), h.host(l.Tag, subnet, l); {
	case h.elsewhere(l.Tag, r) >= 0:
		at := h.elsewhere(l.Tag, r)
		f.Reason = fmt.Sprintf("%s in %s, but it is heard in %s: wrong VLAN", none, vlan(l.Tag), vlan(at))
		f.Remedy = fmt.Sprintf("set vlan_id for %s, or the switch port to %s", vlan(at), vlan(l.Tag))
	case host.IsValid():
		f.Reason = fmt.Sprintf("%s, while %s of the same network answers: wrong router address, or the router is down",
			none, host)
		f.Remedy = fmt.Sprintf("correct the gateway in network_data, or look at %s", r)
	case other >= 0:
		f.Reason = fmt.Sprintf("%s in %s, while hosts of %s are heard in %s: wrong VLAN", none, vlan(l.Tag),
			subnet, vlan(other))
		f.Remedy = fmt.Sprintf("set vlan_id for %s, or the switch port to %s", vlan(other), vlan(l.Tag))
	case h.unannounced(l.Tag):
		f.Reason = fmt.Sprintf("%s, and the switch announces %s on this port by LLDP, not %s: wrong VLAN", none,
			vlans(h.Announced), vlan(l.Tag))
		f.Remedy = "correct vlan_id in network_data, or add the VLAN to the switch port"
	case h.Frames[l.Tag] > 0:
		f.Reason = fmt.Sprintf("%s: wrong router address or wrong VLAN; frames are heard in %s, none of %s", none,
			vlan(l.Tag), subnet)
		f.Remedy = "correct the gateway or vlan_id in network_data, or look at the switch port"
	case len(h.Frames) > 0:
		f.Reason = fmt.Sprintf("%s: nothing is heard in %s, but frames in %s: wrong VLAN is likely", none, vlan(l.Tag),
			vlans(h.seen()))
		f.Remedy = "correct vlan_id in network_data, or add the VLAN to the switch port"
	default:
		f.Reason = none + ": wrong router address or wrong VLAN; nothing is heard on this link at all"
		f.Remedy = "correct the gateway or vlan_id in network_data, or look at the switch port"
	}
	return f
}

// subnetOf is the link's network that a router is in.
func subnetOf(l Link, r netip.Addr) netip.Prefix {
	for _, a := range l.Addresses {
		if a.Contains(r) {
			return a.Masked()
		}
	}
	return netip.PrefixFrom(r, r.BitLen()) // of an address alone in its network
}

// servers judges the name servers: the system's resolver uses any.
func servers(all []Answer) (Finding, bool) {
	if len(all) == 0 {
		return Finding{}, false
	}
	var subjects []string
	for _, a := range all {
		if a.Err == nil {
			return Finding{Check: DNS, Subject: "name server " + a.Subject, OK: true}, true
		}
		subjects = append(subjects, a.Subject)
	}
	return Finding{Check: DNS, Subject: "name server " + strings.Join(subjects, ", "),
		Reason: "no answer to a query: " + all[0].Err.Error(),
		Remedy: "correct services in network_data, or see why the server cannot be reached"}, true
}

// conductor judges the conductor by its URL that went furthest.
func conductor(all []Answer) (Finding, bool) {
	if len(all) == 0 {
		return Finding{}, false
	}
	best := slices.MaxFunc(all, func(a, b Answer) int { return stage(a) - stage(b) })
	f := Finding{Check: Conductor, Subject: "conductor " + best.Subject, OK: best.Err == nil}
	if f.OK {
		return f, true
	}
	f.Reason = fmt.Sprintf("%s does not work: %s", best.Stage, best.Err)
	switch best.Stage {
	case "name":
		f.Remedy = "correct the name servers in network_data, or name the conductor by its address"
	case "TCP":
		f.Remedy = "check the route, a firewall between, and that the conductor listens there"
	case "TLS":
		f.Remedy = "check the conductor's certificate against the kernel line, and the machine's clock"
	default:
		f.Remedy = "check that this address is the conductor's API"
	}
	return f, true
}

func stage(a Answer) int {
	if a.Err == nil {
		return 9
	}
	return slices.Index([]string{"name", "TCP", "TLS", "HTTP"}, a.Stage)
}

// vlan names a VLAN by its tag.
func vlan(tag int) string {
	if tag == 0 {
		return "no VLAN (untagged)"
	}
	return "VLAN " + strconv.Itoa(tag)
}

// mostNamed is how many VLANs one line names.
const mostNamed = 8

func vlans(tags []int) string {
	var names []string
	for _, t := range tags[:min(len(tags), mostNamed)] {
		names = append(names, vlan(t))
	}
	if more := len(tags) - mostNamed; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}
