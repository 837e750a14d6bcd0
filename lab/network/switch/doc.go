// Package netswitch is an Ethernet switch in a program, for guests whose ports a Linux
// bridge cannot give: tagged and untagged VLANs (802.1Q), aggregates that answer LACP
// (802.1AX) and carry nothing without it, and ports that forward only some time after
// their link came, as with spanning tree. The host's kernel needs neither bonding nor VLANs.
//
// Its decisions take frames and the time, and return frames. Run moves frames between
// wires: a tap, or QEMU's netdev dgram.
package netswitch
