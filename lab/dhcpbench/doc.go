// Package dhcpbench measures how many new clients a second a DHCP server gives an address, and how many go without:
// this conductor's, and Debian's Kea beside it, each alone in a network namespace of its own, with durable leases and
// a link between. It needs root, and leaves nothing behind: make bench-dhcp.
//
// It must not know of nodes or pools: it asks as a relay asks, and counts.
package dhcpbench
