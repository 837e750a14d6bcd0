package netcheck

import (
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"

	"github.com/ferrite-metal/ferrite/proto/lldp"
)

// MAC is an Ethernet address.
type MAC [6]byte

// String is the usual form.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// Heard is the traffic that a card or bond has received, by VLAN; 0 is without a tag.
type Heard struct {
	Frames    map[int]int                // how many
	Owners    map[int]map[netip.Addr]MAC // senders of ARP and their addresses
	Announced []int                      // VLANs of the port, by the switch's LLDP; the untagged one is 0

	owners int           // that were heard unasked, in all VLANs
	asked  map[host]bool // hosts that we asked: their answers are kept beside any number of others
}

type host struct {
	tag     int
	address netip.Addr
}

// NewHeard has heard nothing.
func NewHeard() *Heard {
	return &Heard{Frames: map[int]int{}, Owners: map[int]map[netip.Addr]MAC{}, asked: map[host]bool{}}
}

// Bounds of the memory: strangers send the frames.
const (
	mostVLANs  = 4096
	mostOwners = 1024  // of one VLAN
	mostHeard  = 16384 // owners of all VLANs together
)

// The parts of a frame.
const (
	headerSize = 14
	tagSize    = 4
	arpSize    = 28
	typeARP    = 0x0806
	typeTag    = 0x8100
	tagMask    = 0x0fff
	arpRequest = 1
)

// Add takes a received frame. Its tag is 0 where the frame has it inside, or has none.
func (h *Heard) Add(frame []byte, tag int) {
	if len(frame) < headerSize {
		return
	}
	kind, payload := binary.BigEndian.Uint16(frame[12:]), frame[headerSize:]
	if kind == typeTag && len(payload) >= tagSize {
		tag = int(binary.BigEndian.Uint16(payload)) & tagMask
		kind, payload = binary.BigEndian.Uint16(payload[2:]), payload[tagSize:]
	}
	if kind == lldp.EtherType {
		h.announced(frame)
		return // the switch's own, in no VLAN
	}
	if frame[0] == 1 && frame[1] == 0x80 && frame[2] == 0xc2 { // to the switch's protocols: LACP, spanning tree
		return
	}
	h.Frames[tag]++
	if kind == typeARP {
		h.arp(payload, tag)
	}
}

// arp keeps the sender of an ARP message (RFC 826). A probe has none (RFC 5227).
func (h *Heard) arp(b []byte, tag int) {
	if len(b) < arpSize || string(b[:6]) != "\x00\x01\x08\x00\x06\x04" {
		return
	}
	sender := netip.AddrFrom4([4]byte(b[14:18]))
	if sender.IsUnspecified() {
		return
	}
	if h.Owners[tag] == nil {
		h.Owners[tag] = map[netip.Addr]MAC{}
	}
	if _, known := h.Owners[tag][sender]; !known && !h.asked[host{tag, sender}] {
		if len(h.Owners[tag]) == mostOwners || h.owners == mostHeard {
			return
		}
		h.owners++
	}
	h.Owners[tag][sender] = MAC(b[8:14])
}

// announced keeps the VLANs that an LLDP frame names.
func (h *Heard) announced(frame []byte) {
	tlvs, _ := lldp.Frame(frame) // TLVs before damage count
	if tlvs == nil {
		return
	}
	n, _ := lldp.Read(tlvs) // unreadable parts are passed over
	var tags []int
	if _, native := n["switch_port_untagged_vlan_id"].(int); native {
		tags = append(tags, 0)
	}
	list, _ := n["switch_port_vlans"].([]any)
	for _, v := range list {
		m, _ := v.(map[string]any)
		id, _ := m["id"].(int)
		if id > 0 && id != n["switch_port_untagged_vlan_id"] && !slices.Contains(tags, id) && len(tags) < mostVLANs {
			tags = append(tags, id)
		}
	}
	h.Announced = tags
}

// Forget drops the owner of an address in a VLAN, before a new request for it.
func (h *Heard) Forget(tag int, a netip.Addr) {
	delete(h.Owners[tag], a)
	h.asked[host{tag, a}] = true
}

// answered reports whether an address is heard of in its own VLAN.
func (h *Heard) answered(tag int, a netip.Addr) bool {
	_, ok := h.Owners[tag][a]
	return ok
}

// Clone is a copy.
func (h *Heard) Clone() *Heard {
	out := &Heard{Frames: maps.Clone(h.Frames), Owners: map[int]map[netip.Addr]MAC{}, Announced: slices.Clone(h.Announced)}
	for tag, m := range h.Owners {
		out.Owners[tag] = maps.Clone(m)
	}
	return out
}

// seen are the VLANs that frames were heard in.
func (h *Heard) seen() []int { return slices.Sorted(maps.Keys(h.Frames)) }

// elsewhere is another VLAN in which an address was heard; -1 for none.
func (h *Heard) elsewhere(tag int, a netip.Addr) int {
	for _, t := range slices.Sorted(maps.Keys(h.Owners)) {
		if _, ok := h.Owners[t][a]; ok && t != tag {
			return t
		}
	}
	return -1
}

// host is the first other host of a network heard in a VLAN; the zero address for none.
func (h *Heard) host(tag int, subnet netip.Prefix, l Link) netip.Addr {
	for _, a := range slices.SortedFunc(maps.Keys(h.Owners[tag]), netip.Addr.Compare) {
		own := slices.ContainsFunc(l.Addresses, func(p netip.Prefix) bool { return p.Addr() == a })
		if subnet.Contains(a) && !own {
			return a
		}
	}
	return netip.Addr{}
}

// neighbour is another VLAN in which hosts of a network were heard; -1 for none.
func (h *Heard) neighbour(l Link, subnet netip.Prefix) int {
	for _, t := range slices.Sorted(maps.Keys(h.Owners)) {
		if t != l.Tag && h.host(t, subnet, l).IsValid() {
			return t
		}
	}
	return -1
}

// unannounced reports whether a switch names its port's VLANs, and not this one. A switch
// that names an untagged VLAN alone may have said nothing of the tagged ones.
func (h *Heard) unannounced(tag int) bool {
	tagged := slices.ContainsFunc(h.Announced, func(t int) bool { return t != 0 })
	return tagged && !slices.Contains(h.Announced, tag)
}

// Request is the frame of an ARP request for an address, in a VLAN. A request without a sender is a probe, which
// changes no host's table (RFC 5227, 2.1.1).
func Request(from MAC, tag int, sender, target netip.Addr) ([]byte, error) {
	if !target.Is4() || sender.IsValid() && !sender.Is4() {
		return nil, fmt.Errorf("ARP from %s for %s: expected IPv4 addresses", sender, target)
	}
	b := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, from[:]...)
	if tag != 0 {
		b = binary.BigEndian.AppendUint16(b, typeTag)
		b = binary.BigEndian.AppendUint16(b, uint16(tag&tagMask)) //nolint:gosec // 12 bits
	}
	b = binary.BigEndian.AppendUint16(b, typeARP)
	b = append(b, 0, 1, 8, 0, 6, 4, 0, arpRequest)
	b = append(b, from[:]...)
	var none [4]byte
	if sender.IsValid() {
		none = sender.As4()
	}
	b = append(b, none[:]...)
	b = append(b, 0, 0, 0, 0, 0, 0)
	to := target.As4()
	return append(b, to[:]...), nil
}
