package ramdisk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// OwnKernel is a kernel that is no package: a bzImage, and the folder lib/modules/<release> that `make
// modules_install` made for it, with the lists of depmod.
func OwnKernel(image, modules string) (Kernel, error) {
	f, err := os.Open(image)
	if err != nil {
		return Kernel{}, fmt.Errorf("kernel: %w", err)
	}
	defer f.Close()
	head := make([]byte, 4096)
	n, _ := f.ReadAt(head, 0)
	version, ok := kernelVersion(f, head[:n])
	release, _, _ := strings.Cut(version, " ")
	if !ok || release == "" {
		return Kernel{}, fmt.Errorf("kernel %s: expected a bzImage for x86, found none", image)
	}
	k := Kernel{Package: image, Version: release, Release: release, Image: image}
	if k.Modules, err = filepath.Abs(modules); err != nil {
		return Kernel{}, fmt.Errorf("modules: %w", err)
	}
	if found := filepath.Base(k.Modules); found != release {
		return Kernel{}, fmt.Errorf("modules %s: kernel %s is %s, expected the folder lib/modules/%s", modules,
			image, release,
			release)
	}
	for _, list := range []string{"modules.dep", "modules.alias", "modules.softdep", "modules.builtin"} {
		if _, err := os.Stat(filepath.Join(k.Modules, list)); err != nil {
			return Kernel{}, errors.Join(fmt.Errorf("modules %s: no list %s: run `depmod -b ROOT %s`", modules, list, release),
				err)
		}
	}
	return k, nil
}
