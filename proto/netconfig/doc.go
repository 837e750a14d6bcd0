// Package netconfig plans the network of a ramdisk: static addresses, VLANs and bonds. A node's network_data
// (OpenStack) or kernel parameters (dracut.cmdline(7)) become one Plan, and a Plan becomes a list of operations on
// links. Without a plan the ramdisk runs DHCP on every card.
//
// It must not touch the kernel or read files: text in, a plan out. The conductor checks operators' settings with it,
// and the agent applies the same.
package netconfig
