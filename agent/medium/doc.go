// Package medium finds a conductor's data for a machine on virtual media: network data on a CD labelled
// VMEDIA_BOOT_ISO or config-2, and kernel parameters on a floppy labelled ir-vfd-dev (Ironic's virtual media
// interfaces).
//
// It reads superblocks and files itself: the ramdisk has no udev, and perhaps no isofs. It never writes, never mounts,
// and reads no disk that may hold a workload's config drive.
package medium

import (
	"errors"
	"io"
	"strings"

	"github.com/ferrite-metal/ferrite/images/fat"
)

// The labels, in any case: FAT has upper case letters alone by rights.
const (
	bootLabel       = "VMEDIA_BOOT_ISO"
	dataLabel       = "config-2"
	parametersLabel = "ir-vfd-dev"
)

// The files, and the most that is read of them.
const (
	networkFile    = "openstack/latest/network_data.json"
	parametersFile = "parameters.txt"
	mostParameters = 64 << 10
)

// Contents is the data on media; empty for none.
type Contents struct {
	Labels      []string // of the media found
	NetworkData []byte
	From        string // of the network data: a label
	Parameters  string // words of a kernel line
}

// errNone says that a device has no file system that is read here.
var errNone = errors.New("neither ISO 9660 nor FAT")

// volume is a file system that can be read.
type volume struct {
	label string
	read  func(path string, limit int64) ([]byte, error)
}

// openVolume reads the superblock of a device.
func openVolume(r io.ReaderAt) (volume, error) {
	if i, err := OpenISO(r); err == nil {
		return volume{i.Label, i.ReadFile}, nil
	}
	f, err := fat.Open(r)
	if err != nil {
		return volume{}, errNone
	}
	label, err := fatLabel(r)
	return volume{label, f.ReadFile}, err
}

// fatLabel is the label in a boot sector. Its place depends on the kind of FAT: FAT32 has no 16-bit size of a table
// (sections 3.2 and 3.3 of the specification).
func fatLabel(r io.ReaderAt) (string, error) {
	b := make([]byte, 512)
	if _, err := r.ReadAt(b, 0); err != nil {
		return "", err
	}
	at := 43
	if b[22] == 0 && b[23] == 0 {
		at = 71
	}
	return strings.TrimRight(string(b[at:at+11]), " \x00"), nil
}
