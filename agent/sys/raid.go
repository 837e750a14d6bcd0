package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls of the md driver (Linux, include/uapi/linux/raid/md_u.h).
const (
	mdGetArrayInfo = 0x80480911
	mdAddNewDisk   = 0x40140921
	mdSetArrayInfo = 0x40480923
	mdRunArray     = 0x400c0930
	mdStopArray    = 0x932
)

// mdArrayInfo is mdu_array_info_t.
type mdArrayInfo struct {
	Major, Minor, Patch, CTime, Level, Size, Disks, RAIDDisks, MDMinor, NotPersistent int32
	UTime, State, Active, Working, Failed, Spare, Layout, Chunk                       int32
}

// mdDiskInfo is mdu_disk_info_t.
type mdDiskInfo struct{ Number, Major, Minor, RAIDDisk, State int32 }

// mdNewArray is where the driver takes the names of arrays to be.
const mdNewArray = "/sys/module/md_mod/parameters/new_array"

// RunArray assembles the members, partitions with superblocks of version 1.0,
// to /dev/md<number> and starts it. An array that does not start with all its
// members is stopped again. The driver, module raid1, must be loaded.
func (l Linux) RunArray(number int, members []string) error {
	path := fmt.Sprintf("/dev/md%d", number)
	if err := os.WriteFile(mdNewArray, []byte(filepath.Base(path)), 0); err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer f.Close() // the kernel keeps the changes
	if err := runArray(f, members); err != nil {
		_, stopErr := mdCall(f, mdStopArray, nil)
		return errors.Join(err, stopErr)
	}
	return nil
}

func runArray(f *os.File, members []string) error {
	info := mdArrayInfo{Major: 1} // without a number of disks: an existing array of version 1.0 follows
	if _, err := mdCall(f, mdSetArrayInfo, unsafe.Pointer(&info)); err != nil {
		return err
	}
	for _, m := range members {
		var st unix.Stat_t
		if err := unix.Stat(m, &st); err != nil {
			return fmt.Errorf("member %s of %s: %w", m, f.Name(), err)
		}
		disk := mdDiskInfo{Major: int32(unix.Major(st.Rdev)), Minor: int32(unix.Minor(st.Rdev))}
		if _, err := mdCall(f, mdAddNewDisk, unsafe.Pointer(&disk)); err != nil {
			return fmt.Errorf("member %s: %w", m, err)
		}
	}
	if _, err := mdCall(f, mdRunArray, nil); err != nil {
		return err
	}
	if _, err := mdCall(f, mdGetArrayInfo, unsafe.Pointer(&info)); err != nil {
		return err
	}
	if int(info.Active) != len(members) || info.RAIDDisks != info.Active || info.Failed != 0 {
		return fmt.Errorf("%s runs with %d of %d members, expected %d: one of them is out of date or failed", f.Name(),
			info.Active, info.RAIDDisks, len(members))
	}
	return nil
}

// StopArray stops an array; its members keep their content.
func (Linux) StopArray(path string) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer f.Close() // only called on
	_, err = mdCall(f, mdStopArray, nil)
	return err
}

// mdCall calls the driver on an array.
func mdCall(f *os.File, request uintptr, arg unsafe.Pointer) (int, error) {
	n, _, e := unix.Syscall(unix.SYS_IOCTL, f.Fd(), request, uintptr(arg))
	if e != 0 {
		name := map[uintptr]string{
			mdGetArrayInfo: "GET_ARRAY_INFO", mdAddNewDisk: "ADD_NEW_DISK", mdSetArrayInfo: "SET_ARRAY_INFO",
			mdRunArray: "RUN_ARRAY", mdStopArray: "STOP_ARRAY",
		}[request]
		return 0, fmt.Errorf("%s on %s: %w", name, f.Name(), e)
	}
	return int(n), nil
}
