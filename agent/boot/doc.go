// Package boot is what the agent does because it is process 1: mount what a
// Linux system needs, make the console its own, take away dead children, see
// to it that random numbers come, and offer people a shell.
//
// It must not know of conductors, disks or networks; the kernel is reached
// through small interfaces.
package boot
