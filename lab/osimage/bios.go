package osimage

import (
	"context"
	"fmt"
	"os"

	"github.com/ferrite-metal/ferrite/images/ramdisk/buildcache"
)

// mbrBinary is the boot code that looks for the GPT partition marked bootable, of
// Debian's syslinux-common.
const mbrBinary = "/usr/lib/syslinux/mbr/gptmbr.bin"

// syslinuxConfig boots at once, and says what it does on the serial port.
func syslinuxConfig(cmdline string) string {
	return fmt.Sprintf("SERIAL 0 115200\nPROMPT 0\nTIMEOUT 1\nDEFAULT linux\nLABEL linux\n  KERNEL /vmlinuz\n  INITRD "+
		"/initramfs\n  APPEND %s\n", cmdline)
}

// installSyslinux makes a FAT file system bootable by BIOS. It works on the image file,
// through mtools: no mount, no root.
func installSyslinux(ctx context.Context, fat string) error {
	_, err := buildcache.Tool{
		Name: "syslinux", Package: "syslinux", Args: []string{"--install", fat},
		Env: []string{"MTOOLS_SKIP_CHECK=1", sourceDate},
	}.Run(ctx)
	return err
}

func readMBRCode() ([]byte, error) {
	code, err := os.ReadFile(mbrBinary)
	if err != nil {
		return nil, fmt.Errorf("BIOS boot code: run `apt-get install syslinux-common`: %w", err)
	}
	return code, nil
}
