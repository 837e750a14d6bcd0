// Package disk changes a machine's disks, beside writing an image: partition tables
// (GPT and MBR), the layout of a partition image, the config drive's partition, wiping
// metadata and members of software RAID. It recognises file systems, finds the boot
// loader on the EFI system partition and writes EFI boot entries. It uses no foreign
// programs. Package erase below erases whole disks, package mkfs makes file systems.
//
// Everything above Device and EFIVarFS works on the small interfaces Disk and EFIVars
// and is tested on files. The package must not choose disks, talk to the conductor, or
// write outside the range it was given.
package disk
