// Package fat reads and makes FAT file systems, as Microsoft's FAT specification (version 1.03) describes them. Open
// reads FAT12, FAT16 and FAT32: every EFI system partition is one. Build makes an image of a few files, a FAT12 or
// FAT16, for a config drive. Format makes an empty FAT32 on a partition.
//
// The package trusts no input: a damaged file system gives an error that wraps ErrInvalid. Build gives the same bytes
// for the same files. It must not know disks, partition tables or the purpose of the files.
package fat

import "errors"

// ErrInvalid is wrapped when a FAT file system cannot be read.
var ErrInvalid = errors.New("FAT filesystem")

// Attributes of a directory entry (section 6 of the specification).
const (
	attrReadOnly  = 0x01
	attrVolume    = 0x08
	attrDirectory = 0x10
	attrLongName  = 0x0f
)

// recordSize is the length of a directory entry in bytes.
const recordSize = 32

// The number of clusters alone decides the kind (section 3.5).
const (
	fat16From = 4085  // clusters; fewer are a FAT12
	fat32From = 65525 // clusters; fewer are a FAT16
)

// bitsOf returns the size of a table's entries for a number of clusters.
func bitsOf(clusters int64) int {
	switch {
	case clusters < fat16From:
		return 12
	case clusters < fat32From:
		return 16
	}
	return 32
}
