package backup

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// output is a backup that is being written beside its place. Its errors have the name of the backup: the operator knows
// no other, and the file is removed with the error.
type output struct {
	file *os.File
	name string
}

func create(path, name string) (o output, err error) {
	o.name = name
	o.file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	return o, o.named(err)
}

// named is an error about the file, by the name of the backup.
func (o output) named(err error) error {
	if p := new(fs.PathError); errors.As(err, &p) {
		return &fs.PathError{Op: p.Op, Path: o.name, Err: p.Err}
	}
	return err
}

// Write writes on.
func (o output) Write(b []byte) (int, error) {
	n, err := o.file.Write(b)
	return n, o.named(err)
}

// sync flushes the file to the disk. It returns the size.
func (o output) sync() (int64, error) {
	if err := o.file.Sync(); err != nil {
		return 0, o.named(err)
	}
	size, err := o.file.Seek(0, io.SeekCurrent)
	return size, o.named(err)
}

func (o output) close() error { return o.named(o.file.Close()) }
