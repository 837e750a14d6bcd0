// Package firmware keeps the documents about the firmware of a host's machine: its BIOS settings and their schema, its
// components, and the policy that allows changes of them. It finds the changes that are due, and the events about
// them.
//
// It is pure: plain data in, documents out. It must not decide when a change is made: that is package host's, by the
// host's state.
package firmware
