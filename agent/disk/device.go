package disk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	image "github.com/ferrite-metal/ferrite/images/disk"
)

const (
	bounceSize = 1 << 20 // the buffer of unaligned reads and writes
	busyPause  = 100 * time.Millisecond
	busyWait   = 10 * time.Second // for udev, md or a probe to close a disk
)

// Device is a whole block device, opened past the page cache and for us alone.
type Device struct {
	f      *os.File
	path   string
	size   int64
	sector int
}

// OpenDevice opens the block device at path for writing. A device that
// something holds (a mount, RAID, LVM) is waited for up to ten seconds.
func OpenDevice(ctx context.Context, path string) (*Device, error) {
	ctx, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	var f *os.File
	err := whileBusy(ctx, func() (err error) {
		f, err = os.OpenFile(path, os.O_RDWR|unix.O_DIRECT|unix.O_EXCL|unix.O_CLOEXEC, 0)
		return err
	})
	if errors.Is(err, unix.EBUSY) {
		return nil, fmt.Errorf("%w; %s", err, holders(path))
	}
	if err != nil {
		return nil, err
	}
	d, err := newDevice(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// newDevice asks an opened device for its size and sectors.
func newDevice(f *os.File, path string) (*Device, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
		return nil, fmt.Errorf("%s: expected a block device, found %s", path, info.Mode().Type())
	}
	d := &Device{f: f, path: path}
	var size uint64
	if err := d.ioctl(unix.BLKGETSIZE64, unsafe.Pointer(&size)); err != nil {
		return nil, fmt.Errorf("size of %s: %w", path, err)
	}
	var sector int32
	if err := d.ioctl(unix.BLKSSZGET, unsafe.Pointer(&sector)); err != nil {
		return nil, fmt.Errorf("sector size of %s: %w", path, err)
	}
	if sector < 512 || sector > 4096 || sector&(sector-1) != 0 {
		return nil, fmt.Errorf("%s has sectors of %d bytes, expected 512 to 4096", path, sector)
	}
	d.size, d.sector = int64(size), int(sector)
	return d, nil
}

// whileBusy tries until the answer is another than EBUSY or ctx ends.
func whileBusy(ctx context.Context, try func() error) error {
	for {
		err := try()
		if !errors.Is(err, unix.EBUSY) {
			return err
		}
		t := time.NewTimer(busyPause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return err
		}
	}
}

// holders lists the users of a device in sysfs.
func holders(path string) string {
	name := filepath.Base(path)
	var held []string
	for _, pattern := range []string{"holders/*", name + "*/holders/*"} {
		found, err := filepath.Glob(filepath.Join("/sys/class/block", name, pattern))
		if err != nil {
			return err.Error()
		}
		for _, h := range found {
			held = append(held, filepath.Base(h))
		}
	}
	if len(held) == 0 {
		return "it is mounted or used as swap"
	}
	return "it is held by " + strings.Join(held, ", ")
}

// ioctl calls the kernel on the device.
func (d *Device) ioctl(request uintptr, arg unsafe.Pointer) error {
	_, _, e := unix.Syscall(unix.SYS_IOCTL, d.f.Fd(), request, uintptr(arg))
	if e != 0 {
		return e
	}
	return nil
}

// Path is the path of the device.
func (d *Device) Path() string { return d.path }

// Size is the capacity in bytes.
func (d *Device) Size() int64 { return d.size }

// LogicalSectorSize is the unit of addressing, 512 or 4096 bytes.
func (d *Device) LogicalSectorSize() int { return d.sector }

// ReadAt reads anywhere on the device.
func (d *Device) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > d.size {
		return 0, fmt.Errorf("read %d bytes of %s at %d: beyond its %d bytes", len(p), d.path, off, d.size)
	}
	if d.direct(p, off) {
		return d.f.ReadAt(p, off)
	}
	sector := int64(d.sector)
	start := off / sector * sector
	buf := image.AlignedBuffer(int(min(bounceSize, (off+int64(len(p))-start+sector-1)/sector*sector)))
	done := 0
	for done < len(p) {
		start = (off + int64(done)) / sector * sector
		part := buf[:min(int64(len(buf)), d.size-start)]
		if _, err := d.f.ReadAt(part, start); err != nil {
			return done, err
		}
		done += copy(p[done:], part[off+int64(done)-start:])
	}
	return done, nil
}

// WriteAt writes whole sectors.
func (d *Device) WriteAt(p []byte, off int64) (int, error) {
	if off < 0 || off+int64(len(p)) > d.size || off%int64(d.sector) != 0 || len(p)%d.sector != 0 {
		return 0, fmt.Errorf("write %d bytes of %s at %d: expected whole sectors of %d within its %d bytes", len(p), d.path,
			off, d.sector, d.size)
	}
	if d.direct(p, off) {
		return d.f.WriteAt(p, off)
	}
	buf := image.AlignedBuffer(min(bounceSize, len(p)))
	done := 0
	for done < len(p) {
		n := copy(buf, p[done:])
		if _, err := d.f.WriteAt(buf[:n], off+int64(done)); err != nil {
			return done, err
		}
		done += n
	}
	return done, nil
}

// direct reports whether the kernel accepts a transfer unchanged under O_DIRECT.
func (d *Device) direct(p []byte, off int64) bool {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	return (int64(at)|off|int64(len(p)))%int64(d.sector) == 0
}

// Zero makes a run of sectors read as zeroes, by the device's own means
// where it has them.
func (d *Device) Zero(off, n int64) error {
	if n == 0 {
		return nil
	}
	span := [2]uint64{uint64(off), uint64(n)}
	err := d.ioctl(unix.BLKZEROOUT, unsafe.Pointer(&span))
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOTTY) {
		return image.WriteZeros(d, off, n)
	}
	if err != nil {
		return fmt.Errorf("BLKZEROOUT on %s: %w", d.path, err)
	}
	return nil
}

// Flush empties the device's write cache and drops the kernel's cache of other
// openings.
func (d *Device) Flush() error {
	if err := d.f.Sync(); err != nil {
		return err
	}
	if err := d.ioctl(unix.BLKFLSBUF, nil); err != nil {
		return fmt.Errorf("BLKFLSBUF on %s: %w", d.path, err)
	}
	return nil
}

// RereadPartitions makes the kernel read the partition table again. While a
// partition is in use the kernel refuses; that is waited for a while.
func (d *Device) RereadPartitions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, busyWait)
	defer cancel()
	if err := whileBusy(ctx, func() error { return d.ioctl(unix.BLKRRPART, nil) }); err != nil {
		return fmt.Errorf("make the kernel read the partitions of %s again: %w", d.path, err)
	}
	return nil
}

// Close closes the device.
func (d *Device) Close() error { return d.f.Close() }
