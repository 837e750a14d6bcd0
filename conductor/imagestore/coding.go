package imagestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ferrite-metal/ferrite/images/disk"
)

// inside replaces a file with its decompressed content, if that has the checksum. Such a file came under a
// Content-Encoding that was not asked for, and is not the image itself (disk.Coded). The image is fetched once. within
// bounds the reading.
func (s *Store) inside(ctx context.Context, path string, want disk.Checksum,
	within func(io.Reader) io.Reader) (a Added, err error) {
	packed, err := os.Open(path)
	if err != nil {
		return a, err
	}
	defer packed.Close()
	plain, err := disk.Decoder(packed)
	if err != nil {
		return a, err
	}
	defer plain.Close()
	file, err := os.CreateTemp(filepath.Join(s.Dir, partialDir), uploadPrefix)
	if err != nil {
		return a, err
	}
	a, err = s.receive(ctx, file, within(plain), -1, want)
	if err = errors.Join(err, file.Close()); err == nil {
		return a, os.Rename(file.Name(), path)
	}
	return a, errors.Join(err, os.Remove(file.Name()))
}

// CodedError says that an image came under a Content-Encoding that was not asked for, with no checksum to judge by.
type CodedError struct{ At, Coding string }

func (e *CodedError) Error() string {
	return fmt.Sprintf("the server sends %s with Content-Encoding %.40q, which was not asked for: give the checksum of "+
		"the image, by which it is seen whether these bytes are the image or those inside them", e.At, e.Coding)
}

// Permanent says that trying again does not help.
func (*CodedError) Permanent() bool { return true }
