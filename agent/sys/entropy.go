package sys

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// EntropyReady reports whether the kernel's random pool is initialised: until
// it is, every getrandom blocks, and with it TLS and DHCP.
func (Linux) EntropyReady() (bool, error) {
	var b [1]byte
	_, err := unix.Getrandom(b[:], unix.GRND_NONBLOCK)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, unix.EAGAIN):
		return false, nil
	default:
		return false, fmt.Errorf("getrandom: %w", err)
	}
}

// poolInfo is the kernel's struct rand_pool_info with room for 64 bytes.
type poolInfo struct {
	entropyBits int32
	size        int32
	buf         [64]byte
}

// AddEntropy mixes seed into the random pool and credits it with bits of
// entropy (random(4), RNDADDENTROPY).
func (Linux) AddEntropy(seed [64]byte, bits int) error {
	f, err := os.OpenFile("/dev/random", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("add entropy: %w", err)
	}
	defer f.Close() // nothing is buffered
	info := poolInfo{entropyBits: int32(bits), size: int32(len(seed)), buf: seed}
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.RNDADDENTROPY, uintptr(unsafe.Pointer(&info)))
	if errno != 0 {
		return fmt.Errorf("add entropy: %w", errno)
	}
	return nil
}
