// Package netconfig is the network of a ramdisk that is not DHCP on every card: static
// addresses, VLANs and bonds. A node's network_data (OpenStack) or kernel parameters
// (dracut.cmdline(7)) become one Plan, and a Plan becomes a list of operations on links.
//
// It must not touch the kernel or read files: text in, a plan out. The conductor checks
// by it what operators write, and the agent applies the same.
package netconfig
