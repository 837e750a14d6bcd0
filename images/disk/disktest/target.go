package disktest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// FileTarget is a regular file taken for a disk of 512-byte sectors.
type FileTarget struct {
	f    *os.File
	size int64
}

// CreateFileTarget opens path, creating it when absent, and makes it size bytes long. Its
// contents stay, as on a disk.
func CreateFileTarget(path string, size int64) (*FileTarget, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, errors.Join(fmt.Errorf("make %s %d bytes long: %w", path, size, err), f.Close())
	}
	return &FileTarget{f: f, size: size}, nil
}

// ReadAt reads back written bytes.
func (t *FileTarget) ReadAt(p []byte, off int64) (int, error) { return t.f.ReadAt(p, off) }

// WriteAt writes within the file's size.
func (t *FileTarget) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > t.size {
		return 0, fmt.Errorf("write %d bytes at %d: beyond the file's %d bytes", len(p), off, t.size)
	}
	return t.f.WriteAt(p, off)
}

// Zero punches a hole; on a filesystem without holes it writes zeroes, all at
// once: tests are small.
func (t *FileTarget) Zero(off, n int64) error {
	if off < 0 || n < 0 || off+n > t.size {
		return fmt.Errorf("zero %d bytes at %d: beyond the file's %d bytes", n, off, t.size)
	}
	if n == 0 {
		return nil
	}
	err := unix.Fallocate(int(t.f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	if !errors.Is(err, unix.EOPNOTSUPP) {
		return err
	}
	_, err = t.f.WriteAt(make([]byte, n), off)
	return err
}

// Size is the file's size.
func (t *FileTarget) Size() int64 { return t.size }

// LogicalSectorSize is 512.
func (t *FileTarget) LogicalSectorSize() int { return 512 }

// Flush is fsync.
func (t *FileTarget) Flush() error { return t.f.Sync() }

// Close closes the file.
func (t *FileTarget) Close() error { return t.f.Close() }
