package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
	images "github.com/ferrite-metal/ferrite/images/disk"
	"golang.org/x/sys/unix"
)

// childMode is the first argument of the process that writes.
const childMode = "write-image"

// report is the output of that process.
type report struct {
	Seconds float64 // from the first request to the disk made whole
	Written int64   // bytes of data
	Peak    int64   // resident memory at its highest, bytes
}

// parseReport reads a child's output.
func parseReport(b []byte) (r report, err error) {
	err = json.Unmarshal(b, &r)
	return r, err
}

// child writes the image at url onto a device as the agent does.
func child(url, device, sum string) error {
	ctx := context.Background()
	dev, err := disk.OpenDevice(ctx, device)
	if err != nil {
		return err
	}
	defer dev.Close() //nolint:errcheck // flushed before; closing tells nothing new
	zeroer := newFreeZeroer(dev)
	defer close(zeroer.runs)
	start := time.Now()
	src, err := images.OpenHTTPSource(ctx, http.DefaultClient, url, images.HTTPOptions{})
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // only read from: nothing to lose
	result, err := images.Write(ctx, src, zeroer,
		images.Options{Checksum: images.Checksum{Algorithm: images.SHA256, Sum: sum}})
	if err != nil {
		return err
	}
	r := report{Seconds: time.Since(start).Seconds(), Written: result.Written}
	if r.Peak, err = peak(); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

// peak reads VmHWM.
func peak() (int64, error) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	m := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(b)
	if m == nil {
		return 0, fmt.Errorf("/proc/self/status has no VmHWM")
	}
	kib, err := strconv.ParseInt(string(m[1]), 10, 64)
	return kib << 10, err
}

// freeZeroer zeroes outside of the throttled group: the kernel's throttle charges BLKZEROOUT
// as if its zeroes were data, where a disk is sent a command of a few bytes. The comparison
// with dd is about the data.
type freeZeroer struct {
	*disk.Device
	runs chan zeroRun
}

// zeroRun is one call of Zero.
type zeroRun struct {
	off, n int64
	done   chan error
}

// newFreeZeroer starts the thread that zeroes.
func newFreeZeroer(d *disk.Device) *freeZeroer {
	z := &freeZeroer{Device: d, runs: make(chan zeroRun)}
	go func() {
		runtime.LockOSThread() // for ever: this thread has left the group
		left := os.WriteFile(filepath.Join(blkio, "tasks"), []byte(strconv.Itoa(unix.Gettid())), 0o600)
		for r := range z.runs {
			if left != nil {
				r.done <- left
				continue
			}
			r.done <- z.Device.Zero(r.off, r.n)
		}
	}()
	return z
}

// Zero hands the run to that thread.
func (z *freeZeroer) Zero(off, n int64) error {
	done := make(chan error)
	z.runs <- zeroRun{off, n, done}
	return <-done
}
