package ramdisk

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/u-root/mkuimage/cpio"
)

// tree is the content of a ramdisk: path to how to open that record. Records are opened
// one at a time while packing, so that a metal ramdisk's thousand modules need neither
// memory nor file descriptors.
type tree map[string]func() (cpio.Record, error)

// newTree is a ramdisk with the files that the kernel needs to start any /init: mount
// points and a console to be the first file descriptors.
func newTree() tree {
	t := tree{}
	for _, dir := range []string{"dev", "proc", "sys", "run", "mnt", "root", "var", "etc", "bin", "lib"} {
		t.addRecord(cpio.Directory(dir, 0o755))
	}
	t.addRecord(cpio.Directory("tmp", 0o1777))
	t.addRecord(cpio.CharDev("dev/console", 0o600, 5, 1))
	t.addRecord(cpio.CharDev("dev/null", 0o666, 1, 3))
	return t
}

func (t tree) addRecord(r cpio.Record) {
	t[r.Name] = func() (cpio.Record, error) { return r, nil }
}

func (t tree) addText(name, text string) {
	t[name] = func() (cpio.Record, error) { return cpio.StaticFile(name, text, 0o644), nil }
}

// addFile packs a file of this machine with the given permission bits. The cpio writer
// closes it.
func (t tree) addFile(name, source string, mode uint32) {
	t[name] = func() (cpio.Record, error) {
		f, err := os.Open(source)
		if err != nil {
			return cpio.Record{}, err
		}
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", source)
		}
		if err != nil {
			return cpio.Record{}, errors.Join(err, f.Close())
		}
		record := cpio.Record{ReaderAt: f, Info: cpio.Info{Name: name, Mode: cpio.S_IFREG | uint64(mode),
			FileSize: uint64(info.Size())}}
		return record, nil
	}
}

// write packs the tree as a newc archive: sorted, owned by root, without times or inode
// numbers. It reports the size of each file.
func (t tree) write(w io.Writer, report func(name string, size int64)) error {
	t.addParents()
	archive := cpio.Newc.Writer(w)
	for _, name := range slices.Sorted(maps.Keys(t)) {
		record, err := t[name]()
		if err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
		report(name, int64(record.FileSize))
		if err := archive.WriteRecord(cpio.MakeReproducible(record)); err != nil {
			return fmt.Errorf("pack %s: %w", name, err)
		}
	}
	return cpio.WriteTrailer(archive)
}

func (t tree) addParents() {
	for _, name := range slices.Collect(maps.Keys(t)) {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if _, have := t[dir]; !have {
				t.addRecord(cpio.Directory(dir, 0o755))
			}
		}
	}
}
