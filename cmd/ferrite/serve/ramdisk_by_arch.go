package serve

import (
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/boot/bootpolicy"
)

// ramdisksByArch reads the settings --ramdisk-by-arch: a pair of files for each architecture.
func (c *Config) ramdisksByArch() (map[string]bootpolicy.Files, error) {
	all := map[string]bootpolicy.Files{}
	for _, one := range c.RamdiskByArch {
		arch, files, named := strings.Cut(one, "=")
		kernel, initrd, paired := strings.Cut(files, ",")
		if !named || !paired || arch == "" || kernel == "" || initrd == "" || strings.Contains(initrd, ",") {
			return nil, fmt.Errorf("--ramdisk-by-arch %q: expected ARCHITECTURE=KERNEL,INITRAMFS, such as "+
				"x86_64=/srv/metal.vmlinuz,/srv/metal.initramfs", one)
		}
		if _, twice := all[arch]; twice {
			return nil, fmt.Errorf("--ramdisk-by-arch names %s twice: say which files are meant", arch)
		}
		if err := checkRamdiskFiles(kernel, initrd); err != nil {
			return nil, fmt.Errorf("--ramdisk-by-arch %s: %w", arch, err)
		}
		all[arch] = bootpolicy.Files{Kernel: kernel, Initrd: initrd}
	}
	return all, nil
}
