package redfishtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ferrite-metal/ferrite/lab/qemu"
)

// Machine is a machine in memory. Like a real one it clears a boot override for once when it starts.
type Machine struct {
	uuid   string
	mu     sync.Mutex
	power  qemu.Power
	boot   qemu.Boot
	media  string
	resets []qemu.ResetType
	fail   error
}

// SystemUUID is the UUID of the machine that golden files show.
const SystemUUID = "6aaf4df9-c601-5e47-a343-0856024bd9c3"

var machines atomic.Uint32

// NewMachine returns a UEFI machine that is off, with a UUID of its own.
func NewMachine() *Machine {
	return NewMachineOf(fmt.Sprintf("6aaf4df9-c601-5e47-a343-%012x", machines.Add(1)))
}

// NewMachineOf is NewMachine with a certain UUID.
func NewMachineOf(uuid string) *Machine {
	return &Machine{
		uuid:  uuid,
		power: qemu.Off, boot: qemu.Boot{Target: qemu.TargetNone, Enabled: qemu.Disabled, Firmware: qemu.UEFI},
	}
}

// Spec describes two disks and two network cards.
func (m *Machine) Spec() qemu.Spec {
	return qemu.Spec{
		Name: "node-0", UUID: m.uuid, Serial: "NODE-0",
		Firmware: qemu.UEFI, MemoryMB: 1536, CPUs: 2,
		Disks: []qemu.Disk{
			{SizeMB: 1024, Bus: qemu.BusVirtio, Serial: "node-0-0", LogicalSectorSize: 512},
			{SizeMB: 2048, Bus: qemu.BusNVMe, Serial: "node-0-1", LogicalSectorSize: 4096},
		},
		NICs: []qemu.NIC{{MAC: "52:54:00:77:00:01", Tap: "tap0"}, {MAC: "52:54:00:77:00:02"}},
	}
}

// Power is whether the machine is on.
func (m *Machine) Power() qemu.Power {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.power
}

// Boot returns the settings of the next start.
func (m *Machine) Boot() qemu.Boot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

// SetBoot changes the settings of the next start.
func (m *Machine) SetBoot(b qemu.Boot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := errors.Join(b.Validate(), m.fail); err != nil {
		return err
	}
	m.boot = b
	return nil
}

// Reset presses a button.
func (m *Machine) Reset(_ context.Context, kind qemu.ResetType) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	m.resets = append(m.resets, kind)
	switch kind {
	case qemu.ResetForceOff, qemu.ResetGracefulShutdown:
		m.power = qemu.Off
		return nil
	case qemu.ResetForceRestart, qemu.ResetNmi:
		if m.power == qemu.Off {
			return qemu.ErrPoweredOff
		}
	default:
	}
	m.power = qemu.On
	if m.boot.Enabled == qemu.Once {
		m.boot.Target, m.boot.Enabled = qemu.TargetNone, qemu.Disabled
	}
	return nil
}

// InsertMedia keeps the content of the image at a URL.
func (m *Machine) InsertMedia(ctx context.Context, image string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, err := fetch(ctx, image)
	if err == nil && m.fail == nil {
		m.media = string(content)
	}
	return errors.Join(err, m.fail)
}

func fetch(ctx context.Context, image string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, image, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	return content, errors.Join(err, answer.Body.Close())
}

// EjectMedia empties the drive.
func (m *Machine) EjectMedia(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.media = ""
	return m.fail
}

// Media is the content of the medium in the drive; "" for none.
func (m *Machine) Media() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.media
}

// Pressed lists the buttons pressed so far.
func (m *Machine) Pressed() []qemu.ResetType {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.resets)
}

// SetFailure makes SetBoot, Reset and the drive answer err; nil ends it.
func (m *Machine) SetFailure(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}
