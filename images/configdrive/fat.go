package configdrive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"

	"github.com/ferrite-metal/ferrite/images/fat"
	"github.com/ferrite-metal/ferrite/images/iso"
)

// BuildFAT makes a config drive of the files that Linux mounts from a disk of
// sectors of the given size.
func BuildFAT(files map[string][]byte, sector int) ([]byte, error) {
	return buildFAT(Label, files, sector)
}

// buildFAT makes a VFAT image of the files. Linux cannot mount an ISO 9660 from a disk with sectors of 4096 bytes,
// since the format has blocks of 2048 bytes.
func buildFAT(label string, files map[string][]byte, sector int) ([]byte, error) {
	root, err := iso.Tree(contents(files))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	image, err := fat.Build(label, fatTree(root, files, ""), sector, MaxSize)
	if large, ok := errors.AsType[fat.TooLargeError](err); ok {
		return nil, tooLarge(large.Size)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return image, nil
}

// fatTree is the tree of the files, in the order of their ISO 9660 identifiers.
func fatTree(e *iso.Entry, files map[string][]byte, at string) *fat.File {
	f := &fat.File{Name: e.Name, Content: files[at]}
	if e.Children != nil {
		f.Children = []*fat.File{}
	}
	for _, c := range e.Children {
		f.Children = append(f.Children, fatTree(c, files, path.Join(at, c.Name)))
	}
	return f
}

// ForSector returns a config drive that Linux mounts from a disk of sectors
// of the given size: the image itself, or a VFAT made of its files where it is
// an ISO 9660 and its blocks are smaller than the sectors.
func ForSector(image []byte, sector int) ([]byte, error) {
	if isFAT(image) {
		if has := int(binary.LittleEndian.Uint16(image[11:])); has < sector {
			return nil, fmt.Errorf("%w: it is a VFAT of sectors of %d bytes, which cannot be mounted on a disk of sectors of %d",
				ErrInvalid, has, sector)
		}
	}
	if sector <= iso.SectorSize || !isISO(image) {
		return image, nil
	}
	files, err := read(image)
	if err != nil {
		return nil, err
	}
	return buildFAT(Label, files, sector)
}
