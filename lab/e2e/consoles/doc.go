// Package consoles watches a QEMU machine from its firmware to its login, by ferrite node console: once by serial over
// LAN of ipmi_sim, once by the SSH server of the lab's BMC. The package has tests alone.
package consoles
