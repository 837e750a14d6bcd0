package ramdisk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/u-root/mkuimage/cpio"
)

// noCloser is for overlays that need no file to stay open.
type noCloser struct{}

func (noCloser) Close() error { return nil }

// addOverlay adds the files, folders and symbolic links of a folder or of a cpio archive. They belong to root, with the
// permission bits that they have there.
func (t tree) addOverlay(from string) (io.Closer, error) {
	if from == "" {
		return noCloser{}, nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if info.IsDir() {
		return noCloser{}, t.addFolder(from)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, fmt.Errorf("overlay: %w", err)
	}
	if err := t.addArchive(f, info.Size()); err != nil {
		return nil, errors.Join(fmt.Errorf("overlay %s: %w", from, err), f.Close())
	}
	return f, nil
}

// addFolder adds the contents of a folder.
func (t tree) addFolder(root string) error {
	return filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || file == root {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		if err := checkPath(name); err != nil {
			return fmt.Errorf("overlay %s: %w", root, err)
		}
		info, err := entry.Info()
		if err != nil {
			return fmt.Errorf("overlay: %w", err)
		}
		mode := uint32(info.Mode().Perm())
		switch {
		case info.IsDir():
			t.addRecord(cpio.Directory(name, uint64(mode)))
		case info.Mode().IsRegular():
			t.addFile(name, file, mode)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(file)
			if err != nil {
				return fmt.Errorf("overlay: %w", err)
			}
			t.addRecord(cpio.Symlink(name, target))
		default:
			return fmt.Errorf("overlay: %s is a %s: expected files, folders and symbolic links", file, info.Mode().Type())
		}
		return nil
	})
}

// addArchive adds the records of an archive, which must stay open until the tree is packed.
func (t tree) addArchive(f io.ReaderAt, size int64) error {
	// The library takes an incomplete archive for a complete one.
	err := new(Inspection).readArchive(io.NewSectionReader(f, 0, size))
	var records []cpio.Record
	if err == nil {
		records, err = cpio.ReadAllRecords(cpio.Newc.Reader(f))
	}
	if err != nil {
		return fmt.Errorf("expected an unpacked cpio archive of format newc, as cpio -o -H newc makes: %w", err)
	}
	for _, r := range records {
		name := path.Clean(r.Name)
		if name == "." {
			continue
		}
		if err := checkPath(name); err != nil {
			return err
		}
		switch kind := r.Mode & cpio.S_IFMT; kind {
		case cpio.S_IFREG, cpio.S_IFDIR, cpio.S_IFLNK:
			r.Name = name
			t.addRecord(r)
		default:
			return fmt.Errorf("%s has mode %o: expected files, folders and symbolic links", name, r.Mode)
		}
	}
	return nil
}
