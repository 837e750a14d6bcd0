// Package neutron changes the network of a machine by OpenStack's Neutron (Networking API v2.0), as Ironic's network
// interface neutron does. A ramdisk is in a network of ours; the operating system is in the networks of its owner's
// VIFs.
//
// It decides neither when a machine changes its network nor which VIF is at which port. Each call may be repeated: it
// looks at the state in Neutron, and changes the difference.
package neutron
