package disk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"path"

	"github.com/ferrite-metal/ferrite/images/configdrive"
)

// driveFor returns a config drive that Linux mounts from a disk of sectors of
// the given size: the image itself where it can be, else a VFAT of its files.
func driveFor(image []byte, sector int) ([]byte, error) {
	f, err := OpenFAT(bytes.NewReader(image))
	if err != nil || int(binary.LittleEndian.Uint16(image[11:])) >= sector {
		return configdrive.ForSector(image, sector) // which refuses what is nothing we know
	}
	r := fatReader{f: f, files: map[string][]byte{}}
	if err := r.folder("", 0); err != nil {
		return nil, fmt.Errorf("config drive for sectors of %d bytes: %w", sector, err)
	}
	return configdrive.BuildFAT(r.files, sector)
}

// maxDriveDepth bounds folders within folders: a ring of them has no end.
const maxDriveDepth = 16

// fatReader takes all files out of a FAT.
type fatReader struct {
	f     *FAT
	files map[string][]byte
	read  int64
}

// folder reads what is in a folder and below.
func (r *fatReader) folder(name string, depth int) error {
	if depth > maxDriveDepth {
		return errors.New("its folders are a ring, or lie too deep in each other")
	}
	entries, err := r.f.List(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path.Join(name, e.Name)
		if e.IsDir {
			if err := r.folder(at, depth+1); err != nil {
				return err
			}
			continue
		}
		b, err := r.f.ReadFile(at, configdrive.MaxSize-r.read)
		if err != nil {
			return err
		}
		r.read += int64(len(b))
		r.files[at] = b
	}
	return nil
}
