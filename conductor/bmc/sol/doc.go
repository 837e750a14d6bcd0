// Package sol is the remote console's side of serial over LAN (IPMI v2.0, chapter 15):
// packets, acknowledgements and retransmission.
//
// It must not do I/O nor read a clock: packets and the time come in, packets go out.
package sol
