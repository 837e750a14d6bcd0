package keys

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxFile limits how much of a key's file is read.
const maxFile = 64 << 10

// readFile returns the content of a key's file. It refuses a file that is not regular or that others than its owner may
// access; advice is the remedy in that error. Errors wrap those from package os, such as fs.ErrNotExist.
func readFile(path, advice string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s has the mode %s, expected a file of which others may do nothing: %s", path, mode, advice)
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// WriteFile writes a file with mode 0600. A crash leaves all of it or nothing.
func WriteFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when all went well
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder makes a rename survive a loss of power.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
