package network

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"net"
	"net/netip"
	"regexp"
)

// namePrefix starts the name of every namespace a lab makes, so that a human reading `ip netns list` knows its origin.
const namePrefix = "ferrite-"

// BridgeName is the bridge inside the namespace. It need not be unique: two
// labs never share a namespace.
const BridgeName = "br0"

// Plan holds all names and addresses of one lab's network. All of them follow from the lab's id, so that a second
// process can find the namespace of the first one.
type Plan struct {
	// Namespace is the name under /run/netns.
	Namespace string
	// Subnet is the /24 the machines live in.
	Subnet netip.Prefix
	// Gateway is the bridge's own address, the subnet's first.
	Gateway netip.Addr
	// Subnet6 is a unique local /64 (RFC 4193) the lab announces.
	Subnet6 netip.Prefix
	// Gateway6 is the bridge's address in Subnet6.
	Gateway6 netip.Addr
	// MAC is the bridge's hardware address. It is set, because a bridge left
	// alone takes the lowest address of its ports and changes it whenever a
	// tap comes or goes, which breaks the machines' ARP caches.
	MAC net.HardwareAddr
}

// NewPlan derives the network of the lab called id, which is 1 to 32 small
// letters, digits and dashes.
func NewPlan(id string) (Plan, error) {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`).MatchString(id) {
		return Plan{}, fmt.Errorf("lab id %q: expected 1 to 32 characters of a-z, 0-9 and -", id)
	}
	h := fnv.New64a()
	h.Write([]byte(id)) // hash.Hash.Write never fails
	sum := binary.BigEndian.AppendUint64(nil, h.Sum64())

	// 10.64.0.0 and up: away from the 10.0.x.y most sites use, so that a
	// printed address is not mistaken for one of theirs.
	net4 := netip.AddrFrom4([4]byte{10, 64 + sum[0]%128, sum[1], 0})
	var six [16]byte
	six[0] = 0xfd
	copy(six[1:6], sum[2:7])
	net6 := netip.AddrFrom16(six)
	return Plan{
		Namespace: namePrefix + id,
		Subnet:    netip.PrefixFrom(net4, 24),
		Gateway:   net4.Next(),
		Subnet6:   netip.PrefixFrom(net6, 64),
		Gateway6:  net6.Next(),
		MAC:       net.HardwareAddr{0x52, 0x54, 0x00, sum[5], sum[6], sum[7]},
	}, nil
}

// TapName is the name of tap number i, counted from 0.
func TapName(i int) string { return fmt.Sprintf("tap%d", i) }
