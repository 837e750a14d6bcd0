package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxName is longer than any boot file name a DHCP answer can carry (255 bytes).
const maxName = 255

// ErrName means that a requested name is not a path below the folder.
var ErrName = errors.New("not a file name below the boot loader folder")

// segments are the parts of a name that a firmware asks for. DOS backslashes, leading and doubled slashes and "./" are
// how some firmwares write a plain name; anything that climbs is refused, not resolved.
func segments(name string) (parts []string, err error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("%w: %d bytes long", ErrName, len(name))
	}
	for part := range strings.SplitSeq(strings.ReplaceAll(name, `\`, "/"), "/") {
		switch part {
		case "", ".":
		case "..":
			return nil, fmt.Errorf("%w: %q", ErrName, name)
		default:
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: %q", ErrName, name)
	}
	return parts, nil
}

// Folder is the path of the folder of boot loaders. Its owner is trusted:
// symbolic links in it are followed, as Debian's ipxe.efi is one.
type Folder string

// Open opens a regular file of the folder for reading, by the name from the firmware; if no file has that name, the
// file it most likely means. The error matches ErrName or fs.ErrNotExist when the client is to blame. The caller
// closes the file.
func (f Folder) Open(name string) (*os.File, fs.FileInfo, error) {
	parts, err := segments(name)
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(parts...)
	if !strings.ContainsFunc(path, unprintable) {
		if file, info, err := f.open(path); !errors.Is(err, fs.ErrNotExist) {
			return file, info, err
		}
	}
	if path, err = f.meant(parts); err != nil {
		return nil, nil, err
	}
	return f.open(path)
}

func (f Folder) open(path string) (*os.File, fs.FileInfo, error) {
	// Without O_NONBLOCK opening a pipe would wait for its writer.
	file, err := os.OpenFile(filepath.Join(string(f), path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENOTDIR) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open boot loader: %w", err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("open boot loader %q: it is not a regular file: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// Check returns an error that names a missing boot loader and the remedy.
func (f Folder) Check() error {
	for _, name := range Files() {
		file, _, err := f.Open(name)
		if err != nil {
			return fmt.Errorf("boot loader %s in %s: %w: install Debian's package ipxe or name the folder that has it",
				name, f, err)
		}
		if err := file.Close(); err != nil {
			return fmt.Errorf("boot loader %s: %w", name, err)
		}
	}
	return nil
}
