// Package disk is what the agent does to a machine's disks beside writing an
// image: partition tables (GPT and MBR), dividing a disk for a partition image,
// the config drive's partition, wiping metadata, members of software RAID, which
// file system a partition has, finding what boots on the EFI system partition,
// and EFI boot entries. All of it is done here, without foreign programs;
// erasing whole disks is package erase below, making file systems package mkfs.
//
// Everything above Device and EFIVarFS works on the small interfaces Disk and
// EFIVars and is tested on files. The package must not choose disks, talk to
// the conductor, or write where it was not told to.
package disk
