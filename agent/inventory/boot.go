package inventory

import "io/fs"

// BootMode is uefi or bios: the way this kernel was started.
func BootMode(fsys fs.FS) string {
	if exists(fsys, "sys/firmware/efi") {
		return "uefi"
	}
	return "bios"
}

// secureBootVariable is the UEFI variable that says whether signatures are
// checked (UEFI 2.10 table 3.1), behind four bytes of attributes.
const secureBootVariable = "sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

// SecureBoot is whether the firmware checks signatures; nil where there is no
// UEFI or it does not know secure boot.
func SecureBoot(fsys fs.FS) *bool {
	b, err := fs.ReadFile(fsys, secureBootVariable)
	if err != nil || len(b) != 5 {
		return nil
	}
	on := b[4] == 1
	return &on
}
