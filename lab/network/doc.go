// Package network gives a lab its own Linux network namespace: a bridge with
// an address, one tap per virtual NIC, a router-advertisement answerer, and
// ways in from outside (sockets, child processes, loopback forwarders).
//
// It must not touch the host's own network: no veth, no address, no route, no
// packet filter outside the namespace it made. It knows nothing of machines,
// firmware or Redfish.
package network
