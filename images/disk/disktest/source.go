// Package disktest holds files in place of an image's source and target: a web server and a disk.
//
// Only tests may import it, and it knows nothing of image formats.
package disktest

import (
	"context"
	"fmt"
	"io"
	"os"
)

// headSize is how much of an image a source shows before it is read.
const headSize = 4096

// FileSource is an image in a local file.
type FileSource struct {
	path string
	size int64
	head []byte
}

// OpenFileSource reads the head and size of the regular file at path.
func OpenFileSource(path string) (*FileSource, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("image %s: expected a regular file, found %s", path, info.Mode().Type())
	}
	head, err := io.ReadAll(io.LimitReader(f, headSize))
	if err != nil {
		return nil, err
	}
	return &FileSource{path: path, size: info.Size(), head: head}, nil
}

// Name is the file's path.
func (s *FileSource) Name() string { return s.path }

// Size is the file's size when it was opened.
func (s *FileSource) Size() int64 { return s.size }

// Head is the file's first bytes.
func (s *FileSource) Head() []byte { return s.head }

// Body opens the file.
func (s *FileSource) Body(context.Context) (io.ReadCloser, error) { return os.Open(s.path) }

// ReadRange reads part of the file.
func (s *FileSource) ReadRange(_ context.Context, p []byte, off int64) error {
	f, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.ReadAt(p, off)
	return err
}
