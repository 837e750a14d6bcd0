// Package firmware keeps the documents about the firmware of a host's machine: its
// BIOS settings and their schema, its components, and the policy that says when they
// may be changed. It finds what is to be changed, and the events about it.
//
// It is pure: plain data in, documents out. It must not decide when a change is made:
// that is package host's, by the host's state.
package firmware
