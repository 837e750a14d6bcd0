// Package boot does the work of process 1: it mounts the file systems of a Linux
// system, opens the console, reaps dead children, fills the random pool, and offers a
// shell.
//
// It must not know of conductors, disks or networks. It reaches the kernel through
// small interfaces.
package boot
