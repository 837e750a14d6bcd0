package sys

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// moduleInitCompressed makes finit_module unpack the file in the kernel
// (MODULE_INIT_COMPRESSED_FILE, Linux 5.17).
const moduleInitCompressed = 4

// LoadModule loads the module file at path with its parameters ("a=1 b=2").
// A module that is loaded already is no error.
func (Linux) LoadModule(path, params string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	flags := 0
	if !strings.HasSuffix(path, ".ko") {
		flags = moduleInitCompressed
	}
	err = unix.FinitModule(int(f.Fd()), params, flags)
	if err != nil && !errors.Is(err, unix.EEXIST) {
		return fmt.Errorf("load module %s: %w", path, err)
	}
	return nil
}
