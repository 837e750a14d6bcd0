package interop

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/serve/servetest"
	"github.com/ferrite-metal/ferrite/lab/qemu"
	"github.com/ferrite-metal/ferrite/lab/redfish"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// ipaMAC is the MAC of the recorded machine.
const ipaMAC = "52:54:00:77:00:07"

const bmcPassword = "open, please"

// ipaMachine is a machine that consists of its controller and the system that it boots: from the network, an agent;
// from its disk, an OS that reports nothing.
type ipaMachine struct {
	t         *testing.T
	conductor *servetest.Conductor // the conductor of its node
	tmp       string               // /tmp of the ramdisk
	bmc       *httptest.Server

	mu     sync.Mutex
	power  qemu.Power
	boot   qemu.Boot
	agent  *ipaAgent
	diary  []string // the systems that booted, and their commands
	next   manner   // of the agent that is booted next
	tokens []string // of all boots so far
}

// manner is how an agent of a boot differs from the usual.
type manner struct {
	inspects bool                              // the kernel's command line says where inspection data goes
	busy     int                               // so many commands are refused first, as if another ran
	slow     bool                              // it has called again before it lists its steps
	updated  bool                              // it is not the one it was when it listed its steps
	fails    map[string]*agentapi.CommandError // by step
}

func newIPAMachine(t *testing.T, c *servetest.Conductor) *ipaMachine {
	m := &ipaMachine{
		t: t, conductor: c, tmp: t.TempDir(), power: qemu.Off,
		boot: qemu.Boot{Target: qemu.TargetNone, Enabled: qemu.Disabled, Firmware: qemu.UEFI},
	}
	controller := redfish.New(redfish.Config{
		Machine: m, Username: "admin", Password: bmcPassword, Log: slog.New(slog.DiscardHandler),
	})
	m.bmc = httptest.NewServer(controller)
	t.Cleanup(func() {
		m.bmc.Close()
		if err := controller.Close(); err != nil {
			t.Error(err)
		}
		m.turn(qemu.Off)
	})
	return m
}

func (m *ipaMachine) Spec() qemu.Spec {
	return qemu.Spec{
		Name: "metal-1", UUID: "6aaf4df9-c601-5e47-a343-0856024bd9c3", Serial: "METAL-1", Firmware: qemu.UEFI,
		MemoryMB: 1024, CPUs: 1,
		Disks: []qemu.Disk{{SizeMB: 8192, Bus: qemu.BusVirtio, Serial: "H6D", LogicalSectorSize: 512}},
		NICs:  []qemu.NIC{{MAC: ipaMAC, Tap: "tap0"}},
	}
}

func (m *ipaMachine) Power() qemu.Power {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.power
}

func (m *ipaMachine) Boot() qemu.Boot {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.boot
}

func (m *ipaMachine) SetBoot(b qemu.Boot) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := b.Validate(); err != nil {
		return err
	}
	m.boot = b
	return nil
}

// The node boots from the network alone: the virtual drive keeps nothing.

func (m *ipaMachine) InsertMedia(context.Context, string) error { return nil }
func (m *ipaMachine) EjectMedia(context.Context) error          { return nil }

func (m *ipaMachine) Reset(_ context.Context, kind qemu.ResetType) error {
	switch kind {
	case qemu.ResetOn, qemu.ResetForceOn:
		m.turn(qemu.On)
	case qemu.ResetForceOff, qemu.ResetGracefulShutdown:
		m.turn(qemu.Off)
	default:
		m.turn(qemu.Off)
		m.turn(qemu.On)
	}
	return nil
}

// turn turns the machine on or off. The running system ends with the power; a machine that is turned on boots from the
// device that its controller has set.
func (m *ipaMachine) turn(to qemu.Power) {
	m.mu.Lock()
	was := m.agent
	if m.power == to {
		m.mu.Unlock()
		return
	}
	m.power, m.agent = to, nil
	if to == qemu.On {
		m.start()
	}
	m.mu.Unlock()
	if was != nil {
		was.end()
	}
}

// turnOffBy turns the machine off at an agent's end.
func (m *ipaMachine) turnOffBy(a *ipaAgent) {
	m.mu.Lock()
	its := m.agent == a
	m.mu.Unlock()
	if its {
		m.turn(qemu.Off)
	}
}

// state is the state of the node, for a machine that boots slowly.
func (m *ipaMachine) state() string {
	status, answer, err := m.conductor.Send(http.MethodGet, "/v1/nodes/metal-1", nil)
	var n struct {
		State string `json:"provision_state"`
	}
	if err := errors.Join(err, json.Unmarshal(answer, &n)); status != http.StatusOK || err != nil {
		m.t.Errorf("GET of the node answers %d, %v: %s", status, err, answer)
	}
	return n.State
}

// start boots. m is locked.
func (m *ipaMachine) start() {
	if m.boot.Target != qemu.TargetPxe {
		m.diary = append(m.diary, "boots from disk")
		return
	}
	m.diary = append(m.diary, "boots from network")
	m.agent = startIPA(m.t, m, m.next)
	m.next = manner{}
	if m.boot.Enabled == qemu.Once {
		m.boot.Target, m.boot.Enabled = qemu.TargetNone, qemu.Disabled
	}
}

// note writes into the diary.
func (m *ipaMachine) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.diary = append(m.diary, what)
}

// read is the diary since it was last read.
func (m *ipaMachine) read() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	since := m.diary
	m.diary = nil
	return since
}

// will says how the agent of the next boot differs.
func (m *ipaMachine) will(how manner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next = how
}

// issued remembers a token, which no boot before may have had, and returns the
// one of the boot before; empty for the first.
func (m *ipaMachine) issued(token string) (before string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.tokens, token) {
		m.t.Errorf("a token was given out for two boots")
	}
	if len(m.tokens) > 0 {
		before = m.tokens[len(m.tokens)-1]
	}
	m.tokens = append(m.tokens, token)
	return before
}
