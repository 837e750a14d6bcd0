// Package configdrive makes config drives: the small read-only disk from which
// cloud-init, ignition and cloudbase-init learn a new machine's name, network
// and user data. It turns the four documents into an ISO 9660 image labelled
// config-2 (with Rock Ridge and Joliet names), and that into the string form
// Ironic carries, base64 of gzip, and back.
//
// It is pure: bytes in, bytes out, the same for the same input. It must not
// do I/O, read a clock, or know nodes or disks.
package configdrive
