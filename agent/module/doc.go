// Package module loads the kernel modules a machine needs, without udev. First come the modules listed when the
// ramdisk was built, then the modules for the machine's devices, by their modaliases. For as long as the agent runs,
// later devices get theirs.
//
// It must not talk to the kernel itself: loading and events are interfaces, files come from an fs.FS.
package module
