package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	driveLabel = "config-2"
	driveMount = "/mnt"
	drivePoll  = 50 * time.Millisecond
	// maxFile bounds what we read of each: OpenStack allows 64 KiB, vendors more.
	maxFile = 16 << 20
)

// drive is what a config drive says, in OpenStack's layout (openstack/latest).
type drive struct {
	Meta struct {
		UUID     string            `json:"uuid"`
		Hostname string            `json:"hostname"`
		Name     string            `json:"name"`
		Meta     map[string]string `json:"meta"`
	}
	MetaData    []byte // as it is written; Meta is what we need of it
	UserData    []byte // nil for none
	NetworkData []byte // nil for none
}

// shortName is the hostname up to its first dot, "tinyos" when the drive names none.
func (d drive) shortName() string {
	for _, name := range []string{d.Meta.Hostname, d.Meta.Name} {
		if short, _, _ := strings.Cut(name, "."); short != "" {
			return short
		}
	}
	return "tinyos"
}

// findDrive waits for a block device, disk or partition, with the config drive's label,
// and reads it. The drive is on a disk, so that its time begins with the first of them.
func findDrive() (drive, error) {
	end, wait := time.Now().Add(diskWait), diskWait
	for seen := false; time.Now().Before(end); time.Sleep(drivePoll) {
		devices, err := filepath.Glob("/sys/class/block/*")
		if err != nil {
			return drive{}, err
		}
		for _, device := range devices {
			path := filepath.Join("/dev", filepath.Base(device))
			if strings.EqualFold(labelOf(path), driveLabel) {
				return readMounted(path)
			}
		}
		if !seen && slices.ContainsFunc(devices, isDisk) {
			seen, end, wait = true, time.Now().Add(driveWait), driveWait
		}
	}
	return drive{}, fmt.Errorf("no config drive: no disk or partition labelled %s within %s", driveLabel, wait)
}

// isDisk distinguishes a disk, by its folder in sysfs, from its partitions, from what has no
// hardware behind it, and from optical drives, which are there before a disk is.
func isDisk(device string) bool {
	_, err := os.Stat(filepath.Join(device, "device"))
	return err == nil && !strings.HasPrefix(filepath.Base(device), "sr")
}

// labelOf is the volume label of the file system on a device, "" for none: an empty
// drive cannot be opened or read.
func labelOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	return readLabel(f)
}

// readLabel knows ISO 9660 (ECMA-119, 8.4: the primary volume descriptor in sector 16)
// and FAT (the boot sector's extended parameter block, at 71 for FAT32 and 43 for FAT12
// and FAT16).
func readLabel(r io.ReaderAt) string {
	sector := make([]byte, 2048)
	if _, err := r.ReadAt(sector, 16*2048); err == nil && sector[0] == 1 && string(sector[1:6]) == "CD001" {
		return strings.TrimSpace(string(sector[40:72]))
	}
	if _, err := r.ReadAt(sector[:512], 0); err != nil || sector[510] != 0x55 || sector[511] != 0xaa {
		return ""
	}
	switch {
	case string(sector[82:87]) == "FAT32":
		return strings.TrimSpace(string(sector[71:82]))
	case string(sector[54:57]) == "FAT":
		return strings.TrimSpace(string(sector[43:54]))
	}
	return ""
}

func readMounted(device string) (drive, error) {
	var tried error
	for _, kind := range []string{"iso9660", "vfat"} {
		if err := unix.Mount(device, driveMount, kind, unix.MS_RDONLY, ""); err != nil {
			tried = errors.Join(tried, fmt.Errorf("mount %s as %s: %w", device, kind, err))
			continue
		}
		d, err := readDrive(os.DirFS(driveMount))
		return d, errors.Join(err, unix.Unmount(driveMount, 0))
	}
	return drive{}, fmt.Errorf("config drive: %w", tried)
}

func readDrive(files fs.FS) (drive, error) {
	var d drive
	for name, to := range map[string]*[]byte{"meta_data.json": &d.MetaData, "user_data": &d.UserData,
		"network_data.json": &d.NetworkData} {
		text, err := readFile(files, name)
		if err != nil && (name == "meta_data.json" || !errors.Is(err, fs.ErrNotExist)) {
			return d, fmt.Errorf("config drive: %w", err)
		}
		*to = text
	}
	if err := json.Unmarshal(d.MetaData, &d.Meta); err != nil {
		return d, fmt.Errorf("config drive: meta_data.json: %w", err)
	}
	return d, nil
}

func readFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open("openstack/latest/" + name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return text, nil
}
