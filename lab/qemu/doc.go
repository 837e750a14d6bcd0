// Package qemu is a virtual machine with a power button: a QEMU process that
// is started, reset, powered down and started again as a server's board
// controller would do it, with disks, NICs, firmware and a serial console.
//
// It must not know the origin of a button's press: no Redfish, no network set-up, no images, no Ferrite protocol. It
// only uses names (taps, files) it was given.
package qemu
