package sys

import (
	"bytes"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sizes of linux/ethtool.h: a name of a flag, and how many fit into 32 bits.
const (
	ethtoolName  = 32
	privateFlags = 2 // ETH_SS_PRIV_FLAGS
	maxFlags     = 32
)

// PrivateFlag sets a switch that only the driver of a network interface knows, as
// "ethtool --set-priv-flags" does. It reports whether it was set otherwise before. The
// error is unix.EOPNOTSUPP for a driver without that flag.
func (Linux) PrivateFlag(name, flag string, on bool) (changed bool, err error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("private flag %s of %s: %w", flag, name, err)
	}
	defer func() { err = errors.Join(err, unix.Close(fd)) }()
	bit, err := privateFlag(fd, name, flag)
	if err != nil {
		return false, fmt.Errorf("private flag %s of %s: %w", flag, name, err)
	}
	value := struct{ cmd, flags uint32 }{cmd: unix.ETHTOOL_GPFLAGS}
	if err := ethtool(fd, name, unsafe.Pointer(&value)); err != nil {
		return false, fmt.Errorf("read private flags of %s: %w", name, err)
	}
	want := value.flags &^ bit
	if on {
		want |= bit
	}
	if want == value.flags {
		return false, nil
	}
	value.cmd, value.flags = unix.ETHTOOL_SPFLAGS, want
	if err := ethtool(fd, name, unsafe.Pointer(&value)); err != nil {
		return false, fmt.Errorf("set private flag %s of %s to %t: %w", flag, name, on, err)
	}
	return true, nil
}

// privateFlag finds the bit of a flag in the driver's list of names.
func privateFlag(fd int, name, flag string) (uint32, error) {
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, name)
	if err != nil {
		return 0, err
	}
	names := struct {
		cmd, set, count uint32
		text            [maxFlags * ethtoolName]byte
	}{cmd: unix.ETHTOOL_GSTRINGS, set: privateFlags}
	if info.N_priv_flags == 0 || info.N_priv_flags > maxFlags {
		return 0, unix.EOPNOTSUPP
	}
	if err := ethtool(fd, name, unsafe.Pointer(&names)); err != nil {
		return 0, err
	}
	for i := range min(names.count, maxFlags) {
		text, _, _ := bytes.Cut(names.text[i*ethtoolName:(i+1)*ethtoolName], []byte{0})
		if string(text) == flag {
			return 1 << i, nil
		}
	}
	return 0, unix.EOPNOTSUPP
}

// ethtool does one SIOCETHTOOL with a struct of linux/ethtool.h.
func ethtool(fd int, name string, data unsafe.Pointer) error {
	var request struct { // struct ifreq
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(request.name[:unix.IFNAMSIZ-1], name)
	request.data = data
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&request)))
	if errno != 0 {
		return errno
	}
	return nil
}
