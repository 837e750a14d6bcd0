// Package neutron has OpenStack's Neutron (Networking API v2.0) tell the switches which network a machine is in, as
// Ironic's network interface neutron does: its ramdisk is in one of ours, what it runs in those of its owner's VIFs.
//
// It decides neither when a machine changes its network nor which VIF is at which port. Each call may be repeated: it
// looks at what Neutron has, and changes what differs.
package neutron
