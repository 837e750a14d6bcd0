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

// clean turns the name a firmware asks for into a slash-separated path below
// the folder. Leading slashes and DOS backslashes are how some firmwares
// write a plain name; anything that climbs is refused, not resolved.
func clean(name string) (string, error) {
	if len(name) > maxName {
		return "", fmt.Errorf("%w: %d bytes long", ErrName, len(name))
	}
	path := strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "/")
	if path == "." || !fs.ValidPath(path) || strings.ContainsFunc(path, isControl) {
		return "", fmt.Errorf("%w: %q", ErrName, name)
	}
	return path, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// Folder is the path of the folder of boot loaders. Its owner is trusted:
// symbolic links in it are followed, as Debian's ipxe.efi is one.
type Folder string

// Open opens a regular file of the folder for reading, by the name a
// firmware asked for. The error matches ErrName or fs.ErrNotExist when the
// client is to blame. The caller closes the file.
func (f Folder) Open(name string) (*os.File, fs.FileInfo, error) {
	path, err := clean(name)
	if err != nil {
		return nil, nil, err
	}
	// Without O_NONBLOCK opening a pipe would wait for its writer.
	file, err := os.OpenFile(filepath.Join(string(f), filepath.FromSlash(path)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
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

// Check reports whether every boot loader is there, and what to do if not.
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
