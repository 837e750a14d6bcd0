// Package keyfile reads and writes files that hold a key: for their owner alone,
// and after a crash whole or not there.
//
// It does not know what the keys are for, nor how they are written.
package keyfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxFile bounds what is read of a file that is said to be a key.
const maxFile = 64 << 10

// Read returns what a file holds, and refuses one that is no regular file or that
// others than its owner may do anything with; advice is what to do about that.
// Errors wrap those of package os, fs.ErrNotExist among them.
func Read(path, advice string) ([]byte, error) {
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

// Write puts a file where a crash leaves all of it or nothing, with mode 0600.
func Write(path string, text []byte) error {
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
