package outbound

import "net/netip"

// translated are the networks with addresses that contain an IPv4 address, and the positions of its bytes.
var translated = []struct {
	network netip.Prefix
	at      [][4]int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), [][4]int{{12, 13, 14, 15}}}, // NAT64 (RFC 6052)
	// NAT64 of a site's own (RFC 8215), which chooses the length of its prefix: 48, 56, 64 or 96 bits.
	{netip.MustParsePrefix("64:ff9b:1::/48"), [][4]int{{6, 7, 9, 10}, {7, 9, 10, 11}, {9, 10, 11, 12}, {12, 13, 14, 15}}},
	{netip.MustParsePrefix("2002::/16"), [][4]int{{2, 3, 4, 5}}},           // 6to4 (RFC 3056)
	{netip.MustParsePrefix("::/96"), [][4]int{{12, 13, 14, 15}}},           // IPv4-compatible (RFC 4291, 2.5.5.1)
	{netip.MustParsePrefix("::ffff:0:0:0/96"), [][4]int{{12, 13, 14, 15}}}, // IPv4-translated (RFC 2765)
}

// embedded are the IPv4 addresses that an IPv6 address may stand for. 0.0.0.0/8 is left out: a longer prefix of a site
// has zeros where a shorter one has the address, and translators pass it on nowhere.
func embedded(a netip.Addr) (all []netip.Addr) {
	if a.Is4() {
		return nil
	}
	b := a.As16()
	for _, t := range translated {
		if !t.network.Contains(a) {
			continue
		}
		for _, at := range t.at {
			if inner := netip.AddrFrom4([4]byte{b[at[0]], b[at[1]], b[at[2]], b[at[3]]}); !thisNetwork.Contains(inner) {
				all = append(all, inner)
			}
		}
	}
	return all
}
