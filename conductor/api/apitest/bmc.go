package apitest

import (
	"context"
	"sync"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// BMC is the BMC of every machine, and obeys at once. Hang, when set, holds up every question for the power state, and
// every medium, until it is closed.
type BMC struct {
	Hang chan struct{}

	mu    sync.Mutex
	power map[string]node.PowerState
	mode  map[string]string
	fault error
	media map[string]string // images by node
	bare  bool              // no virtual drives
}

func newBMC() *BMC {
	return &BMC{power: map[string]node.PowerState{}, mode: map[string]string{}, media: map[string]string{}}
}

// Hold holds up every question for the power state from now on, until release is called.
func (b *BMC) Hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	held := make(chan struct{})
	b.Hang = held
	return sync.OnceFunc(func() { close(held) })
}

func (b *BMC) held() chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Hang
}

// Break makes every question for the power state fail from now on.
func (b *BMC) Break(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = why
}

func (b *BMC) wait(ctx context.Context) error {
	held := b.held()
	if held == nil {
		return nil
	}
	select {
	case <-held:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Validate misses a redfish node's address.
func (b *BMC) Validate(n node.Node) error {
	if n.Driver == "redfish" && n.DriverInfo["redfish_address"] == nil {
		return node.Refuse(node.Invalid, "driver_info/redfish_address of node %s is missing", n.UUID)
	}
	return nil
}

// PowerState is off until it was switched.
func (b *BMC) PowerState(ctx context.Context, n node.Node) (node.PowerState, error) {
	if err := b.wait(ctx); err != nil {
		return "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fault != nil {
		return "", b.fault
	}
	if p := b.power[n.UUID]; p != "" {
		return p, nil
	}
	return node.PowerOff, nil
}

// SetPower is done at once.
func (b *BMC) SetPower(_ context.Context, n node.Node, target node.PowerState) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch target {
	case node.PowerOff, node.SoftPowerOff:
		b.power[n.UUID] = node.PowerOff
	default:
		b.power[n.UUID] = node.PowerOn
	}
	return nil
}

// BootDevice is always the network.
func (b *BMC) BootDevice(context.Context, node.Node) (string, bool, error) { return "pxe", false, nil }

// SetBootDevice takes anything.
func (b *BMC) SetBootDevice(context.Context, node.Node, string, bool) error { return nil }

// SupportedBootDevices is the network.
func (b *BMC) SupportedBootDevices(node.Node) []string { return []string{"pxe"} }

// BootMode is UEFI until it was set.
func (b *BMC) BootMode(_ context.Context, n node.Node) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if mode := b.mode[n.UUID]; mode != "" {
		return mode, nil
	}
	return "uefi", nil
}

// SetBootMode is done at once.
func (b *BMC) SetBootMode(_ context.Context, n node.Node, mode string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mode[n.UUID] = mode
	return nil
}

// System is a small one.
func (b *BMC) System(context.Context, node.Node) (node.System, error) {
	return node.System{MemoryMB: 512, CPUs: 2, Architecture: "x86_64"}, nil
}

// Steps are two of the BIOS and one of the firmware, by request.
func (b *BMC) Steps(node.Node) []node.StepOffer {
	byRequest := map[node.Framework]int{node.CleanSteps: 0, node.DeploySteps: 0, node.ServiceSteps: 0}
	return []node.StepOffer{
		{Interface: "bios", Step: "apply_configuration", Priority: byRequest, NeedsNoRamdisk: true,
			Args: map[string]node.StepArg{"settings": {Description: "a list of name and value", Required: true}}},
		{Interface: "bios", Step: "factory_reset", Priority: byRequest, NeedsNoRamdisk: true},
		{Interface: "firmware", Step: "update", Priority: byRequest, NeedsNoRamdisk: true,
			Args: map[string]node.StepArg{"settings": {Description: "a list of component and url", Required: true}}},
	}
}

// DoStep finishes at once, and reports two settings and a component.
func (b *BMC) DoStep(_ context.Context, _ node.Node, s node.Step, _ string) (node.StepReport, error) {
	five, on, low, high, yes := "5", "Enabled", int64(0), int64(60), true
	if s.Step == "factory_reset" {
		five = "0"
	}
	return node.StepReport{Done: true, HardwareReport: &node.HardwareReport{
		BIOS: []node.BIOSSetting{
			{Name: "BootDelay", Value: &five, AttributeType: "Integer", LowerBound: &low, UpperBound: &high,
				ResetRequired: &yes},
			{Name: "Turbo", Value: &on, AttributeType: "Enumeration", AllowableValues: []string{"Enabled", "Disabled"}},
		},
		Firmware: []node.FirmwareComponent{{Component: "bmc", CurrentVersion: "1." + five, Vendor: "V", Model: "M",
			SerialNumber: "S"}},
	}}, nil
}

// NoDrives takes the virtual drives away from all machines.
func (b *BMC) NoDrives() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bare = true
}

// MediaSlots is a CD drive.
func (b *BMC) MediaSlots(_ context.Context, n node.Node) ([]node.MediaSlot, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bare {
		return nil, nil
	}
	slot := node.MediaSlot{Types: []string{"CD", "DVD"}}
	if image, ok := b.media[n.UUID]; ok {
		slot.Inserted, slot.Image = true, &image
	}
	return []node.MediaSlot{slot}, nil
}

// AttachMedium has no drive but that.
func (b *BMC) AttachMedium(ctx context.Context, n node.Node, m node.Medium) error {
	if err := b.wait(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if m.Device != "cdrom" {
		return node.Refuse(node.Invalid, "there is no %s for %s", m.Device, m.Image)
	}
	b.media[n.UUID] = m.Image
	return nil
}

// DetachMedia ejects every medium, including unnamed ones.
func (b *BMC) DetachMedia(_ context.Context, n node.Node, _ []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.media, n.UUID)
	return nil
}

// noAgents has no ramdisk that answers.
type noAgents struct{}

func (noAgents) Execute(context.Context, node.Node, agentapi.Command, bool) (agentapi.Result, error) {
	return agentapi.Result{}, context.DeadlineExceeded
}

func (noAgents) Commands(context.Context, node.Node) ([]agentapi.Result, error) {
	return nil, context.DeadlineExceeded
}

type drives struct{}

func (drives) Encode(any, node.Node) (string, error) { return "", nil }
