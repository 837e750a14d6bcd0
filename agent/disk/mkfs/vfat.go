package mkfs

import (
	"io"

	"github.com/ferrite-metal/ferrite/images/fat"
)

func fitsVFAT(p Partition, label string) error { return fat.Fits(p, label) }

// makeVFAT makes a FAT32: every EFI system partition is one.
func makeVFAT(p Partition, label string, random io.Reader) error { return fat.Format(p, label, random) }
