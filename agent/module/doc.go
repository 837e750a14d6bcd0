// Package module loads the kernel modules a machine needs, without udev: first
// those listed when the ramdisk was built, then whatever the machine's devices
// ask for by their modalias, then, for as long as the agent runs, what later
// devices ask for.
//
// It must not talk to the kernel itself: loading and events are interfaces,
// files come from an fs.FS.
package module
