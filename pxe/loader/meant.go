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

// meant finds the file that a name means whose letters no file has: firmware that keeps names in capitals
// (SNPONLY.EFI), and boot ROMs that take option 67 for a text with a zero behind it, and so ask for the name with the
// bytes of the next option (netbootxyz/netboot.xyz#1198, insomniacslk/dhcp#587). The longest that fits is meant.
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

// begins reports whether a name is that of a file with bytes behind it that are of no name: a space, or one that does
// not print.
func begins(name, file string) bool {
	return len(name) > len(file) && strings.EqualFold(name[:len(file)], file) &&
		strings.ContainsFunc(name[len(file):], unprintable)
}

func unprintable(r rune) bool { return r <= ' ' || r > '~' }
