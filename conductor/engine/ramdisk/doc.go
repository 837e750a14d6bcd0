// Package ramdisk answers agents and the boot service: boot words, look-ups, heartbeats, inspection data, leases, and
// the discovery of machines that are not enrolled.
//
// It must not believe a caller that has shown no proof: anybody on the boot network can call.
package ramdisk
