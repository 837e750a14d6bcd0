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

// meant finds the file for a name that does not match exactly. Some firmware keeps names in capitals (SNPONLY.EFI).
// Some boot ROMs expect a zero at the end of option 67, and append the bytes of the next option to the name
// (netbootxyz/netboot.xyz#1198, insomniacslk/dhcp#587). The longest match wins.
func (f Folder) meant(parts []string) (path string, err error) {
	for i, part := range parts {
		entries, err := os.ReadDir(filepath.Join(string(f), path))
		if errors.Is(err, syscall.ENOTDIR) {
			err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
		}
		if err != nil {
			return "", fmt.Errorf("open boot loader: %w", err)
		}
		best := ""
		for _, e := range entries {
			fits := strings.EqualFold(e.Name(), part) || i == len(parts)-1 && begins(part, e.Name())
			if fits && len(e.Name()) > len(best) {
				best = e.Name()
			}
		}
		if best == "" {
			return "", fmt.Errorf("open boot loader %q: %w", filepath.Join(parts...), fs.ErrNotExist)
		}
		path = filepath.Join(path, best)
	}
	return path, nil
}

// begins reports whether a name is a file's name followed by bytes that no name has: a space, or unprintable ones.
func begins(name, file string) bool {
	return len(name) > len(file) && strings.EqualFold(name[:len(file)], file) &&
		strings.ContainsFunc(name[len(file):], unprintable)
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }
