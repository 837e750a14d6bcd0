package ramdisk

import (
	"io"
	"io/fs"
	"time"

	"github.com/u-root/mkuimage/cpio"
)

// treeFile is an open file of a treeFS, which closes it.
type treeFile struct {
	io.Reader
	treeInfo
}

func (f treeFile) Stat() (fs.FileInfo, error) { return f.treeInfo, nil }
func (f treeFile) Close() error               { return nil }

// treeInfo describes a record as fs.FileInfo.
type treeInfo struct {
	name   string
	record cpio.Record
}

func (i treeInfo) Name() string       { return i.name }
func (i treeInfo) Size() int64        { return int64(i.record.FileSize) }
func (i treeInfo) ModTime() time.Time { return time.Time{} }
func (i treeInfo) IsDir() bool        { return i.Mode().IsDir() }
func (i treeInfo) Sys() any           { return nil }

func (i treeInfo) Mode() fs.FileMode {
	mode := fs.FileMode(i.record.Mode & 0o777)
	switch i.record.Mode & cpio.S_IFMT {
	case cpio.S_IFREG:
		return mode
	case cpio.S_IFDIR:
		return mode | fs.ModeDir
	case cpio.S_IFLNK:
		return mode | fs.ModeSymlink
	}
	return mode | fs.ModeIrregular
}
