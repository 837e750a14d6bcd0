// Package bootiso composes the ISO image from which a machine boots a kernel and a ramdisk: out of
// a BMC's virtual drive, or from a USB stick. It boots by BIOS (ISOLINUX) and by UEFI (GRUB).
//
// Kernel and ramdisk are read from where they are. The machine's own are the two configurations of
// the boot loaders, which hold the kernel line, and an archive of files for the ramdisk. They have
// places of fixed size, so that an image keeps its layout as long as kernel and ramdisk stay.
//
// The package is pure but for the readers that it is given. It knows no nodes and no BMCs.
package bootiso
