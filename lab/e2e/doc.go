// Package e2e holds the end-to-end tests: real DHCP packets, real QEMU machines,
// real disks. They need root, and the programs and the ramdisk in bin/.
//
// Each case is a site of its own: a lab with a conductor in a network namespace. The build tag chooses the cases. e2e
// has the cases of make test. matrix has the machines of all kinds of hardware, with the ramdisk for real servers.
// interop has the cases with OpenStack Ironic. Without a tag only the helpers are tested.
//
//	go test -tags e2e -v -run TestRescue ./lab/e2e
package e2e
