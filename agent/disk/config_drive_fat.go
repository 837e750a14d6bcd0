package disk

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ferrite-metal/ferrite/images/configdrive"
	"github.com/ferrite-metal/ferrite/images/fat"
)

// driveFor returns a config drive that Linux mounts from a disk of sectors of
// the given size: the image itself where it can be, else a VFAT of its files.
func driveFor(image []byte, sector int) ([]byte, error) {
	f, err := fat.Open(bytes.NewReader(image))
	if err != nil || int(binary.LittleEndian.Uint16(image[11:])) >= sector {
		return configdrive.ForSector(image, sector) // which refuses unknown contents
	}
	files, err := f.Files(configdrive.MaxSize)
	if err != nil {
		return nil, fmt.Errorf("config drive for sectors of %d bytes: %w", sector, err)
	}
	return configdrive.BuildFAT(files, sector)
}
