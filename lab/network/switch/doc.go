// Package netswitch is an Ethernet switch in a program, for guests that need ports which a Linux bridge lacks. It has
// tagged and untagged VLANs (802.1Q), and aggregates that answer LACP (802.1AX) and carry nothing without it. Its ports
// can begin to forward some time after their link came, as with spanning tree. The host's kernel needs neither bonding
// nor VLANs.
//
// Its decisions take frames and the time, and return frames. Run moves frames between
// wires: a tap, or QEMU's netdev dgram.
package netswitch
