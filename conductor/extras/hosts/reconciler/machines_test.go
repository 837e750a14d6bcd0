package reconciler_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/controller"
	"github.com/ferrite-metal/ferrite/conductor/bmc/fake"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/hostapi"
)

// machines is fake hardware with BMCs that want a password and describe the machine. It fails on request.
type machines struct {
	*fake.Driver
	mu     sync.Mutex
	state  map[string]node.PowerState // by BMC address: machines outlive their nodes
	cycles int                        // power changes
	fail   map[string]error           // of deploys, by the URL of the image
	stuck  bool                       // power changes fail
	awake  bool                       // operating systems do not shut down
	silent bool                       // BMCs do not answer
	fading int                        // they do not after so many more answers; 0 for never
	slow   time.Duration              // how long they take to
	held   bool                       // deploys do not end
	drive  drive
	speed  map[string]string // a setting of BIOSes, "Slow" at first, by BMC address
	bmcs   *controller.Pool[string, login]
	steps  map[string]int // how often each was done
	rigid  bool           // BIOSes take no settings
	events subscribers
}

func (m *machines) address(n node.Node) string {
	return fmt.Sprint(n.DriverInfo["fake_address"], n.Name)
}

// patience is the driver's wait for a BMC, as long as Redfish's.
const patience = 15 * time.Second

// silence has BMCs answer no more, or again.
func (m *machines) silence(on bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.silent = on
}

// slowness has them take their time.
func (m *machines) slowness(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.slow = d
}

// deafen has operating systems not heed that they are to shut down.
func (m *machines) deafen() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.awake = true
}

// fade has BMCs answer that often still, and then no more.
func (m *machines) fade(answers int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fading, m.silent = answers, answers == 0
}

// login is one into a BMC that wants none.
type login struct{}

func (login) Logout(context.Context) error { return nil }

// newBMCs are the BMCs of all machines, with a back-off after failures as in other drivers.
func newBMCs() *controller.Pool[string, login] {
	o := controller.Options{Driver: "fake", Log: slog.New(slog.DiscardHandler), Failure: func(error) bool { return true }}
	return controller.New(o, func(string, string) login { return login{} })
}

// answers waits for the BMC, in vain if it is silent.
func (m *machines) answers(ctx context.Context, n node.Node) error {
	return m.bmcs.Call(ctx, m.address(n), "", "ask", func(ctx context.Context, _ login) error { return m.answer(ctx) })
}

func (m *machines) answer(ctx context.Context) error {
	m.mu.Lock()
	if m.fading > 0 {
		m.fading--
		defer func() {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.silent = m.silent || m.fading == 0
		}()
	}
	silent, slow := m.silent, m.slow
	m.mu.Unlock()
	if !silent {
		time.Sleep(slow)
		return nil
	}
	select {
	case <-ctx.Done():
	case <-time.After(patience):
	}
	return errors.New("no answer of the BMC")
}

func (m *machines) PowerState(ctx context.Context, n node.Node) (node.PowerState, error) {
	if err := m.answers(ctx, n); err != nil {
		return "", err
	}
	if n.DriverInfo["fake_password"] != "right" {
		return "", node.Refuse(node.Invalid, "the BMC refuses the password of %v", n.DriverInfo["fake_username"])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.state[m.address(n)]; p != "" {
		return p, nil
	}
	return node.PowerOff, nil
}

func (m *machines) SetPower(ctx context.Context, n node.Node, target node.PowerState) error {
	if err := m.answers(ctx, n); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stuck {
		return node.Refuse(node.Invalid, "the power supply does not answer")
	}
	if m.awake && target == node.SoftPowerOff {
		return nil
	}
	m.cycles++
	m.state[m.address(n)] = plan.PowerAfter(target)
	return nil
}

func (m *machines) SetBootDevice(ctx context.Context, n node.Node, device string, persistent bool) error {
	if err := m.answers(ctx, n); err != nil {
		return err
	}
	return m.Driver.SetBootDevice(ctx, n, device, persistent)
}

func (m *machines) System(context.Context, node.Node) (node.System, error) {
	return node.System{CPUs: 4, Architecture: "x86_64", MemoryMB: 8192, Model: "Sky", MACs: nil}, nil
}

// Steps adds one to every deploy, so that it can fail.
func (m *machines) Steps(n node.Node) []node.StepOffer {
	return append(m.Driver.Steps(n),
		node.StepOffer{Interface: "management", Step: "check_disk", Priority: map[node.Framework]int{node.DeploySteps: 90},
			NeedsNoRamdisk: true})
}

func (m *machines) DoStep(ctx context.Context, n node.Node, s node.Step, task string) (node.StepReport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps[s.String()]++
	switch {
	case s.String() == "bios.apply_configuration":
		return m.setUp(n, s)
	case s.String() == updateParts && m.held:
		return node.StepReport{}, nil
	case s.String() == updateParts && m.rigid:
		return node.StepReport{}, node.Refuse(node.Invalid, "the image is for another machine")
	case s.Step != "check_disk":
		return m.Driver.DoStep(ctx, n, s, task)
	}
	image, _ := n.InstanceInfo["image_source"].(string)
	if m.held {
		return node.StepReport{}, nil
	}
	return node.StepReport{Done: true}, m.fail[image]
}

// setUp takes settings, of which there is one.
func (m *machines) setUp(n node.Node, s node.Step) (node.StepReport, error) {
	if m.rigid {
		return node.StepReport{}, node.Refuse(node.Invalid, "the BIOS takes no settings")
	}
	settings, _ := s.Args["settings"].([]any)
	for _, item := range settings {
		of, _ := item.(map[string]any)
		m.speed[m.address(n)] = fmt.Sprint(of["value"])
	}
	return node.StepReport{Done: true}, nil
}

// ReportHardware reports that setting, and one part with firmware.
func (m *machines) ReportHardware(_ context.Context, n node.Node) (node.HardwareReport, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	speed := cmp.Or(m.speed[m.address(n)], "Slow")
	return node.HardwareReport{
		BIOS: []node.BIOSSetting{{Name: "Speed", Value: &speed, AttributeType: hostapi.SettingEnumeration,
			AllowableValues: []string{"Slow", "Fast"}}},
		Firmware: []node.FirmwareComponent{{Component: "bios", CurrentVersion: "1.0"}},
	}, nil
}

// stiffen has BIOSes take nothing, or anything again.
func (m *machines) stiffen(rigid bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rigid = rigid
}

// done is how often a step was done, by any machine.
func (m *machines) done(step string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.steps[step]
}

func (m *machines) failing(image string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = map[string]error{image: err}
}

// hold has deploys and updates go on until they are let go.
func (m *machines) hold(held bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held = held
}

func (m *machines) powerCycles() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.cycles
}
