// Package steps is what the agent can do to a machine on request, one file
// per step, with the readable list of them in registry.go.
//
// It must not know how a step was asked for or reported (that is package
// extension), and must refuse rather than guess: no step touches a disk that
// it was not certain to be meant. Programs that are not ours are run in one
// place (grub.go), and only where the conductor allows it.
package steps

import (
	"context"
	"io/fs"
	"log/slog"
	"net/http"
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

// Kernel is what steps ask of the kernel beside disks.
type Kernel interface {
	// MountTree mounts the file system of a kind on a block device.
	MountTree(device, fstype string, readOnly bool) (*sys.Tree, error)
	// RunArray assembles members to /dev/md<number>, with all of them or not
	// at all.
	RunArray(number int, members []string) error
	// InChroot has do run programs of an installed operating system.
	InChroot(ctx context.Context, c sys.Chroot, do func(run func(argv ...string) (output string, err error)) error) error
	// StopArray ends an array; its members keep what is on them.
	StopArray(path string) error
}

// Machine is what steps work on. All fields but the unexported are set once,
// before any step.
type Machine struct {
	Root   fs.FS // the root file system, with sys
	Disks  func() ([]agentapi.Disk, []agentapi.SkippedDisk)
	Open   func(ctx context.Context, path string) (Device, error)
	Kernel Kernel
	// LoadModule loads a module by name, if the ramdisk has it: no device asks
	// for file systems.
	LoadModule func(name string)
	// Run starts a program and waits for its end: process 1 knows its children.
	Run      func(*exec.Cmd) error
	EFIVars  func() disk.EFIVars    // nil result: not started by UEFI
	Pstore   func() (string, error) // where the kernel's logs of crashes are; "" for nowhere
	Arch     string                 // as Go names it: amd64, arm64
	Client   *http.Client           // for images and what belongs to them
	Download Download
	Wait     DiskWait
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

// DiskWait is how long a disk may take to turn up: controllers with many
// disks spin them up one after the other.
type DiskWait struct {
	Attempts int
	Delay    time.Duration
}

// written is what was installed since the agent started.
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

// PartitionUUIDs is what standby.get_partition_uuids answers: nothing before
// an image was written; then the disk's identifier or, of a partition image,
// what boot loaders know its file systems by, and where they are.
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
