package sys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// rtc is the battery-backed clock that the kernel starts from.
const rtc = "/dev/rtc0"

// SetClock sets the system's clock.
func (Linux) SetClock(t time.Time) error {
	ts, err := unix.TimeToTimespec(t)
	if err == nil {
		err = unix.ClockSettime(unix.CLOCK_REALTIME, &ts)
	}
	if err != nil {
		return fmt.Errorf("set the clock to %s: %w", t.UTC().Format(time.RFC3339), err)
	}
	return nil
}

// ReadRTC reads the RTC, which is taken to be in UTC as by the kernel. It returns
// fs.ErrNotExist on a machine without one.
func (Linux) ReadRTC() (t time.Time, err error) {
	err = withRTC(func(fd int) error {
		at, err := unix.IoctlGetRTCTime(fd)
		if err == nil {
			t = time.Date(int(at.Year)+1900, time.Month(at.Mon)+1, int(at.Mday), int(at.Hour), int(at.Min), int(at.Sec), 0,
				time.UTC)
		}
		return err
	})
	return t, err
}

// SetRTC writes the RTC in UTC. It returns fs.ErrNotExist on a machine without one.
func (Linux) SetRTC(t time.Time) error {
	t = t.UTC()
	return withRTC(func(fd int) error {
		return unix.IoctlSetRTCTime(fd, &unix.RTCTime{
			Sec: int32(t.Second()), Min: int32(t.Minute()), Hour: int32(t.Hour()),
			Mday: int32(t.Day()), Mon: int32(t.Month()) - 1, Year: int32(t.Year()) - 1900,
		})
	})
}

// KernelBuilt is uname's version, which has the day of the kernel's build.
func (Linux) KernelBuilt() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Version[:])
}

func withRTC(do func(fd int) error) error {
	f, err := os.Open(rtc)
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) { // a node without a device behind it
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	err = do(int(f.Fd()))
	if err != nil {
		err = fmt.Errorf("%s: %w", rtc, err)
	}
	return errors.Join(err, f.Close())
}
