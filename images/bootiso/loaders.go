package bootiso

import (
	"fmt"
	"io/fs"
)

// Folder is the folder beside a ramdisk that has the boot loaders of media.
const Folder = "loaders"

// Loaders are the boot loaders of a medium, as Debian packages them.
type Loaders struct {
	ISOLINUX []byte // isolinux.bin
	LDLINUX  []byte // ldlinux.c32, of the same version
	MBR      []byte // isohdpfx.bin
	GRUB     []byte // gcdx64.efi: GRUB with its modules, which looks for /boot/grub/grub.cfg on the CD
}

// ReadLoaders reads the boot loaders out of a folder that has them by their file names, as
// `ferrite ramdisk build` writes it.
func ReadLoaders(folder fs.FS) (l Loaders, err error) {
	for _, f := range []struct {
		name string
		to   *[]byte
	}{
		{"isolinux.bin", &l.ISOLINUX}, {"ldlinux.c32", &l.LDLINUX}, {"isohdpfx.bin", &l.MBR}, {"gcdx64.efi", &l.GRUB},
	} {
		if *f.to, err = fs.ReadFile(folder, f.name); err != nil {
			return Loaders{}, fmt.Errorf("boot loader of boot media: %w: build the ramdisk again with: "+
				"ferrite ramdisk build", err)
		}
	}
	return l, nil
}
