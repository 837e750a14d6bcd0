package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// megabyte is the unit of transfers and of our promises, in bytes.
const megabyte = 1e6

// promise is how large files of the folder of the programs may be, together, in MB.
type promise struct {
	files []string
	mb    float64
}

// promises are the promised sizes of a ramdisk's files, by its profile. The agent is in all of them. The kernel for the
// lab is Debian's for clouds, and as it is.
var promises = map[string][]promise{
	"lab": {
		{[]string{"ferrite-agent"}, 14},
		{[]string{"ramdisk/lab.initramfs"}, 12},
	},
	"metal": {
		{[]string{"ferrite-agent"}, 14},
		{[]string{"ramdisk/metal.vmlinuz"}, 10},
		{[]string{"ramdisk/metal.initramfs", "ramdisk/metal.vmlinuz"}, 64},
	},
}

// keepPromises wants the files of a ramdisk as small as was promised.
func keepPromises(bin, profile string) error {
	var broken error
	for _, p := range promises[profile] {
		var mb float64
		for _, name := range p.files {
			st, err := os.Stat(filepath.Join(bin, name))
			if err != nil {
				return err
			}
			mb += float64(st.Size()) / megabyte
		}
		if mb >= p.mb {
			broken = errors.Join(broken,
				fmt.Errorf("%s: %.1f MB, promised are less than %g", strings.Join(p.files, " and "), mb, p.mb))
		}
	}
	return broken
}
