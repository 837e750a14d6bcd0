package medium

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/netconfig"
)

// Device is a block device open for reading.
type Device interface {
	io.ReaderAt
	io.Closer
}

// Finder looks for media until they are there.
type Finder struct {
	Root fs.FS                             // with sys
	Open func(name string) (Device, error) // of /dev
}

// How long media are waited for: a BMC's USB devices may come late.
const (
	patience = 30 * time.Second
	grace    = 3 * time.Second // for a second medium, once there is one
	pause    = 500 * time.Millisecond
)

// Find looks for media, and returns their contents. The error names the devices that were searched; the contents are
// valid all the same.
func (f *Finder) Find(ctx context.Context) (Contents, error) {
	began := time.Now()
	var firstSeen time.Time
	for {
		c, errs := f.look()
		if firstSeen.IsZero() && len(c.Labels) > 0 {
			firstSeen = time.Now()
		}
		complete := len(c.NetworkData) > 0 && c.Parameters != ""
		if complete || !firstSeen.IsZero() && time.Since(firstSeen) >= grace {
			return c, errors.Join(errs...)
		}
		if time.Since(began) >= patience {
			return c, errors.Join(append(errs, fmt.Errorf("no medium labelled %s, %s or %s came within %s: "+
				"looked at %v", bootLabel, dataLabel, parametersLabel, patience, f.devices()))...)
		}
		if !sys.Sleep(ctx, pause) {
			return c, ctx.Err()
		}
	}
}

// look reads all media once. The network data of the boot medium count first.
func (f *Finder) look() (Contents, []error) {
	var c Contents
	var errs []error
	for _, name := range f.devices() {
		label, err := f.read(name, &c)
		if label != "" {
			c.Labels = append(c.Labels, label)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("medium %s in %s: %w", label, name, err))
		}
	}
	return c, errs
}

// read adds the data on one device; the label is "" where it is none of ours.
func (f *Finder) read(name string, c *Contents) (label string, err error) {
	d, err := f.Open(name)
	if err != nil {
		return "", nil //nolint:nilerr // a drive without a medium cannot be opened
	}
	defer d.Close() // only read
	v, err := openVolume(d)
	if err != nil {
		return "", nil //nolint:nilerr // some other medium
	}
	switch {
	case strings.EqualFold(v.label, parametersLabel):
		b, err := v.read(parametersFile, mostParameters)
		c.Parameters = strings.Join(strings.Fields(string(b)), " ")
		return v.label, err
	case strings.EqualFold(v.label, bootLabel), strings.EqualFold(v.label, dataLabel):
		b, err := v.read(networkFile, netconfig.MaxNetworkData)
		if errors.Is(err, fs.ErrNotExist) {
			return v.label, nil // the network is by DHCP, or by the kernel line
		}
		if err == nil && (len(c.NetworkData) == 0 || strings.EqualFold(v.label, bootLabel)) {
			c.NetworkData, c.From = b, v.label
		}
		return v.label, err
	}
	return "", nil
}

// mostUSB is the size of the largest USB disk that counts as a medium, in sectors of 512
// bytes: ironic-python-agent's rule.
const mostUSB = 4 << 30 / 512

// devices are the drives that a BMC's media appear in, by name: CDs, floppies, and small disks
// at USB. Other disks and all partitions may have a config drive of a workload's.
func (f *Finder) devices() []string {
	entries, err := fs.ReadDir(f.Root, "sys/class/block")
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		name := e.Name()
		dir := path.Join("sys/class/block", name)
		if _, err := fs.Stat(f.Root, path.Join(dir, "partition")); err == nil {
			continue
		}
		const rom = "5" // a SCSI device type
		size, err := strconv.ParseInt(f.text(path.Join(dir, "size")), 10, 64)
		small := err == nil && size < mostUSB && f.atUSB(dir)
		if f.text(path.Join(dir, "device/type")) == rom || strings.HasPrefix(name, "fd") || small {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// atUSB reports whether a device's way to the machine is USB.
func (f *Finder) atUSB(dir string) bool {
	target, err := fs.ReadLink(f.Root, dir)
	return err == nil && strings.Contains(target, "/usb")
}

func (f *Finder) text(name string) string {
	b, err := fs.ReadFile(f.Root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
