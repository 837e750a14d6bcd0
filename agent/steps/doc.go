// Package steps has the steps that the agent can carry out on a machine, one file per step, with the readable list of
// them in registry.go.
//
// It must not know how a step was requested or reported (that is package extension), and must refuse rather than
// guess: no step touches a disk unless it is certain that the disk is meant. It runs foreign programs in two places:
// an image's only where the conductor allows it (grub.go), and the programs in the site's own ramdisk as they are
// (site_run.go).
package steps

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/disk/erase"
	"github.com/ferrite-metal/ferrite/agent/sys"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Device is a whole disk opened for us alone.
type Device interface {
	erase.Drive
	// RereadPartitions makes the kernel see a new partition table.
	RereadPartitions(ctx context.Context) error
	Close() error
}

// Kernel has the calls of the kernel that steps need beside disks.
type Kernel interface {
	// MountTree mounts the file system of a kind on a block device.
	MountTree(device, fstype string, readOnly bool) (*sys.Tree, error)
	// RunArray assembles members to /dev/md<number>, with all of them or not
	// at all.
	RunArray(number int, members []string) error
	// InChroot has do run programs of an installed operating system.
	InChroot(ctx context.Context, c sys.Chroot, do func(run func(argv ...string) (output string, err error)) error) error
	// StopArray stops an array; its members keep their content.
	StopArray(path string) error
	// MountUntouched mounts a file system for reading, and writes nothing to it.
	MountUntouched(device, fstype string) (*sys.Tree, error)
	// LoadKernel loads a kernel for kexec; initrd may be nil.
	LoadKernel(kernel, initrd *os.File, cmdline string) error
}

// Machine is the machine that steps work on. All exported fields are set once, before
// any step.
type Machine struct {
	Root   fs.FS // the root file system, with sys, proc and the steps of the site
	Disks  func() ([]agentapi.Disk, []agentapi.SkippedDisk)
	Open   func(ctx context.Context, path string) (Device, error)
	Kernel Kernel
	// LoadModule loads a module by name, if the ramdisk has it: no device asks
	// for file systems.
	LoadModule func(name string)
	// Run starts a program and waits for its end: process 1 knows its children.
	Run      func(*exec.Cmd) error
	SiteRoot string                 // the path of Root, below which programs of site steps are; "" for /
	EFIVars  func() disk.EFIVars    // nil result: not started by UEFI
	Pstore   func() (string, error) // where the kernel's logs of crashes are; "" for nowhere
	Arch     string                 // as Go names it: amd64, arm64
	Client   *http.Client           // for images and their checksum files
	Download Download
	Wait     DiskWait
	Probe    ProbeWait
	Config   func() agentapi.LookupConfig // of the last lookup
	Progress func(agentapi.Progress)      // may be called often
	Log      *slog.Logger
	// DeployPriorities are priorities other than the registry's, by step.
	DeployPriorities map[string]int

	mu      sync.Mutex
	written *written
	arrays  []array // that run
}

// Download is how patient image downloads are.
type Download struct {
	Retries       int           // of a broken connection
	RetryInterval time.Duration // before the first of them
	MaxDuration   time.Duration // of a whole write; 0: no limit
}

// DiskWait limits how long a disk may take to appear: controllers with many disks spin
// them up one after the other.
type DiskWait struct {
	Attempts int
	Delay    time.Duration
}

// patience is how long a disk to install onto is waited for.
func (w DiskWait) patience() time.Duration { return time.Duration(max(w.Attempts-1, 0)) * w.Delay }

// written is the image that was installed since the agent started.
type written struct {
	device   string
	rootUUID string // of the root file system, or the identifier of a whole disk
	espUUID  string // of the EFI system partition that a partition image got
	parts    map[disk.Role]int
}

// setWritten remembers, or with nil forgets, where the image is.
func (m *Machine) setWritten(w *written) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.written = w
}

func (m *Machine) getWritten() *written {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.written
}

// PartitionUUIDs is the answer of standby.get_partition_uuids: empty before an image
// was written. Then it is the disk's identifier or, for a partition image, the UUIDs
// by which boot loaders find its file systems, and their places.
func (m *Machine) PartitionUUIDs() map[string]any {
	w := m.getWritten()
	if w == nil {
		return map[string]any{}
	}
	uuids := map[string]any{agentapi.RootUUIDKey: w.rootUUID}
	if w.parts == nil {
		return uuids
	}
	uuids[agentapi.ESPUUIDKey] = nil
	if w.espUUID != "" {
		uuids[agentapi.ESPUUIDKey] = w.espUUID
	}
	paths := map[string]string{}
	for role, number := range w.parts {
		paths[string(role)] = partitionPath(w.device, number)
	}
	uuids[agentapi.PartitionsByRole] = paths
	return uuids
}
