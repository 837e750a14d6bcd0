package bootentry

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Blob is a file, or a part of one.
type Blob struct {
	Path   string // on its partition, from the root
	Offset int64
	Size   int64
	Whole  bool // it is all of the file

	files fs.FS
}

// Open opens the file that the blob is in.
func (b Blob) Open() (fs.File, error) { return b.files.Open(local(b.Path)) }

// local is a path as package fs wants it. Paths of boot loaders begin at the root of
// their file system, with any number of slashes.
func local(name string) string {
	name = strings.TrimPrefix(path.Clean("/"+name), "/")
	if name == "" {
		return "."
	}
	return name
}

// wholeFile is a file as a blob. It must be a regular one.
func wholeFile(files fs.FS, name string) (Blob, error) {
	info, err := fs.Stat(files, local(name))
	if err != nil {
		return Blob{}, fmt.Errorf("%s: %w", name, plain(err))
	}
	if !info.Mode().IsRegular() {
		return Blob{}, fmt.Errorf("%s: expected a regular file, found %s", name, info.Mode())
	}
	return Blob{Path: "/" + local(name), Size: info.Size(), Whole: true, files: files}, nil
}

// readerAt is an open file.
type readerAt interface {
	io.ReaderAt
	io.Closer
}

// openAt opens a regular file to read at any place.
func openAt(files fs.FS, name string) (readerAt, int64, error) {
	f, err := files.Open(local(name))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, plain(err))
	}
	info, err := f.Stat()
	r, ok := f.(readerAt)
	if err == nil && (!ok || !info.Mode().IsRegular()) {
		err = fmt.Errorf("%s: expected a regular file, found %s", name, info.Mode())
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return r, info.Size(), nil
}

// readText reads a file of configuration.
func readText(files fs.FS, name string) (string, error) {
	r, size, err := openAt(files, name)
	if err != nil {
		return "", err
	}
	defer r.Close() // only read from
	if size > maxText {
		return "", fmt.Errorf("%s has %d bytes, expected at most %d", name, size, maxText)
	}
	b, err := readAt(r, 0, size)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(b), nil
}

// readAt reads n bytes that must be there.
func readAt(r io.ReaderAt, at, n int64) ([]byte, error) {
	b := make([]byte, n)
	got, err := r.ReadAt(b, at)
	if int64(got) == n {
		return b, nil
	}
	return nil, fmt.Errorf("read %d bytes at %d: %w", n, at, err)
}

// exists reports whether there is a file or folder of a name.
func exists(files fs.FS, name string) (bool, error) {
	_, err := fs.Stat(files, local(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// listed lists a folder; a missing one is empty.
func listed(files fs.FS, folder string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(files, local(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, plain(err))
	}
	if len(entries) > maxFiles {
		return nil, fmt.Errorf("%s has %d files, expected at most %d", folder, len(entries), maxFiles)
	}
	return entries, nil
}

// plain is an error without the name of the file, which the caller says.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
