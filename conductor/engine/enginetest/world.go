package enginetest

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bmc/manual"
	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/extras/signals/traces"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/conductor/store"
	"github.com/ferrite-metal/ferrite/conductor/store/mem"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// World is everything outside the engine, in one process and in virtual time: machines with a BMC, which boot a ramdisk
// with an agent that calls back.
type World struct {
	T          *testing.T
	Ctx        context.Context
	Store      store.Store // of the newest conductor
	Ledger     *Ledger
	Settings   plan.Settings
	Rng        *rand.Rand
	Trouble    float64                  // how likely each call to the outside fails or is lost
	Hangs      float64                  // how likely a step of an agent or a BMC never ends, and keeps in touch
	Creep      float64                  // how likely the agent of such a step reports more done every minute
	Faults     func(*Mortal) core.Store // makes a store fail; nil: it works
	Drive      func(core.BMC) core.BMC  // makes redfish something else; nil for the world
	Finalizing func(*Machine) error     // the error of an agent at finalize_rescue; nil: never
	Hardware   node.System              // the BMC's report of its machine
	Images     core.Images              // finds images; nil for none
	Networks   core.Networks            // changes machines' networks; nil for none
	Pressed    func(node.PowerState)    // called with each request to a BMC; nil for none
	Probe      core.ImageProbe          // looks at images; nil for none
	Logs       core.BootLogs            // keeps the logs of machines; nil for none
	Logless    bool                     // agents that are asked for their logs cannot collect any
	Syncing    error                    // the refusal of agents to sync; nil: never
	// agents that are asked for a kexec answer so, or fail; nil for a success
	Kexecing   func(*Machine, *agentapi.Result) error
	Once       bool   // BMCs keep a boot device for one boot only
	PowerOff   error  // the refusal of agents to power off; nil: never
	PowerFault string // and those that take it fail so, at once or after a while
	PowerSlow  bool
	Proof      core.RamdiskAuth      // the proof that ramdisks must show
	Readers    int                   // power states read at a time; 0 for the default
	Media      core.BootMedia        // serves boot media; nil for none
	Log        *slog.Logger          // of the conductors; nil for none
	Tracer     func() *traces.Tracer // of the next conductor; nil for none
	// open opens the database for the next conductor; nil: all have one store, in memory.
	Open func() OpenedStore

	Skew atomic.Int64 // how far the conductor's clock is off, in nanoseconds

	Mu       sync.Mutex
	Taken    map[node.Transition]bool // rows of the table that were taken
	Broken   map[string]bool          // nodes with a BMC that refuses everything
	Lost     map[string]bool          // nodes with a BMC that does not answer
	Mute     map[string]bool          // nodes with a ramdisk that never calls
	E        *engine.Engine
	machines map[string]*Machine
	Life     *Mortal
	stop     context.CancelFunc
	done     chan struct{}
	powered  sync.WaitGroup // programs on machines
}

// Machine is one node's hardware.
type Machine struct {
	Power    node.PowerState
	Device   string
	lasting  bool // the boot device is for more than one boot
	Boot     int  // grows with every power change: older programs are gone
	Disk     string
	wiped    bool
	Tenant   string // owner of the image on the disk
	token    string
	commands []agentapi.Result
	Stays    bool   // the agent has loaded the installed system, and goes on all the same
	LetGo    bool   // the agent has ended its service: the machine is in rescue
	writing  int    // write_image steps at work: never more than one
	Image    any    // image_info of the last of them
	Drive    any    // and its configdrive
	Boots    any    // parameters of the last install_bootloader
	bios     string // settings in force
	pending  string // settings for the next boot
	updating int    // polls until the firmware update is over
	chatting bool   // the update will never be over, but has something new to say at every poll
	Medium   string // in the virtual CD drive
	Stick    string // in the virtual drive for USB sticks
	Inserted int    // media, so far
	mode     string // boot mode, "" for uefi
	nextMode string // applied by the next start
	secure   bool   // secure boot
}

// New makes a world without a conductor. Equal seeds make equal accidents.
func New(t *testing.T, seed uint64) *World {
	w := &World{
		T: t, Ctx: t.Context(), Store: mem.New(), Settings: plan.DefaultSettings(),
		Rng: rand.New(rand.NewPCG(seed, 1)), machines: map[string]*Machine{},
		Taken: map[node.Transition]bool{}, Broken: map[string]bool{}, Lost: map[string]bool{}, Mute: map[string]bool{},
	}
	w.Settings.ConductorName = "test"
	w.Proof = core.RamdiskAuth{Words: true, Key: []byte("of the test")}
	w.Ledger = newLedger(t)
	return w
}

// Start begins a conductor's life; end or crash ends it.
func (w *World) Start() {
	life := &Mortal{ledger: w.Ledger, moved: w.moved, cut: func() {}, heal: func() {}, closed: func() {}}
	if w.Open != nil {
		w.Store = life.reach(w.Open())
	}
	life.Store = w.Store
	w.Ledger.Disturb(0)
	var st core.Store = life
	var bmc core.BMC = w
	if w.Drive != nil {
		bmc = w.Drive(w)
	}
	if w.Faults != nil {
		w.Ledger.failing = true
		st = w.Faults(life)
	}
	conf := core.Config{
		Store: st, BMCs: map[string]core.BMC{"redfish": bmc, "fake-hardware": w, "manual-management": manual.New()},
		Agents: agents{w}, Drives: drives{},
		Images: w.Images, Networks: w.Networks, Probe: w.Probe, BootLogs: w.Logs,
		EraseKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
		Settings: w.Settings, Log: cmp.Or(w.Log, slog.New(slog.DiscardHandler)),
		PowerWorkers: w.Readers, RamdiskAuth: w.Proof, Media: w.Media,
		Now: func() time.Time { return time.Now().Add(time.Duration(w.Skew.Load())) },
	}
	e := w.traced(&conf)
	w.Mu.Lock()
	w.E, w.Life = e, life
	w.Mu.Unlock()
	if err := e.Recover(w.Ctx); err != nil {
		w.T.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.Ctx)
	done := make(chan struct{})
	w.stop, w.done = stop, done
	go func() {
		defer close(done) // w.done may be the next conductor's by the time this one begins
		e.Run(ctx)
	}()
}

// traced makes the engine, with a tracer that follows it where there is one.
func (w *World) traced(c *core.Config) *engine.Engine {
	if w.Tracer == nil {
		return engine.New(*c)
	}
	t := w.Tracer()
	c.Traces = t
	e := engine.New(*c)
	e.Listen(t)
	e.Watch(t.Seen)
	return e
}

// End stops the conductor in order.
func (w *World) End() {
	w.stop()
	<-w.done
	w.Life.closed()
}

// Crash ends the conductor as kill -9 does: nothing more is written.
func (w *World) Crash() {
	w.Life.Dead.Store(true)
	w.End()
}

// Freeze stops the conductor as SIGSTOP does: its next write waits, and it is cut off from a database. The returned
// function lets it go on, beside any conductor that was started meanwhile, until all its work has ended.
func (w *World) Freeze() (thaw func()) {
	life, gate := w.Life, make(chan struct{})
	w.Ledger.lock(life) // no write is in the database
	life.gate.Store(&gate)
	life.cut()
	w.Ledger.unlock()
	stop, done := w.stop, w.done
	return func() {
		life.heal()
		close(gate)
		time.Sleep(time.Minute)
		stop()
		<-done
		life.closed()
	}
}

// Close ends the conductor and pulls every plug.
func (w *World) Close() {
	w.End()
	w.Mu.Lock()
	for _, m := range w.machines {
		m.Boot++
	}
	w.Mu.Unlock()
	w.powered.Wait()
}

// moved takes note of rows of the table.
func (w *World) moved(rows []node.Transition) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	for _, r := range rows {
		w.Taken[r] = true
	}
}

func (w *World) engine() *engine.Engine {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.E
}

// Machine returns the hardware of a node. A new one is off. The caller holds w.Mu.
func (w *World) Machine(uuid string) *Machine {
	m, ok := w.machines[uuid]
	if !ok {
		m = &Machine{Power: node.PowerOff, Device: "disk", Disk: "old tenant"}
		w.machines[uuid] = m
	}
	return m
}

// ErrLost is the failure of a call that was lost.
var ErrLost = errors.New("connection reset by the test")

// call is a call to the outside: it takes time and may be lost before or
// after it has worked.
func (w *World) call(ctx context.Context, work func()) error {
	w.Mu.Lock()
	before, after := w.Rng.Float64() < w.Trouble, w.Rng.Float64() < w.Trouble
	delay := time.Duration(w.Rng.IntN(200)) * time.Millisecond
	w.Mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
	}
	if before {
		return ErrLost
	}
	w.Mu.Lock()
	work()
	w.Mu.Unlock()
	if after {
		return ErrLost
	}
	return nil
}

// alive runs work if the machine is still in that boot.
func (w *World) alive(uuid string, boot int, work func(m *Machine)) bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	m := w.Machine(uuid)
	if m.Boot != boot || m.Power != node.PowerOn {
		return false
	}
	if work != nil {
		work(m)
	}
	return true
}

// run is one boot of a machine: from the network or its virtual drive into the ramdisk when asked to, otherwise into
// the system on the disk.
func (w *World) run(uuid string, boot int) {
	time.Sleep(5 * time.Second)
	ramdisk := false
	if !w.alive(uuid, boot, func(m *Machine) {
		ramdisk = (m.Device == "pxe" || m.Device == "cdrom" && m.Medium != "") && !w.Mute[uuid]
		m.Device = "disk"
	}) || !ramdisk {
		return
	}
	n, err := w.engine().Node(w.Ctx, uuid)
	if err != nil || !plan.WantsRamdisk(n) {
		return
	}
	var word string
	w.retry(uuid, boot, func() error {
		word, err = w.engine().BootWord(w.Ctx, uuid)
		return err
	})
	if plan.Inspecting(n) {
		data := agentapi.Inspection{Inventory: agentapi.Inventory{
			Interfaces: []agentapi.Interface{{Name: "eth0", MACAddress: MACOf(uuid), HasCarrier: true}},
			CPU:        agentapi.CPU{Count: 2, Architecture: "x86_64"}, Memory: agentapi.Memory{PhysicalMB: 512},
		}}
		raw, _ := json.Marshal(data)
		w.retry(uuid, boot, func() error {
			_, err := w.engine().ContinueInspection(w.Ctx, uuid, data, raw, node.Caller{From: ramdiskAddress, Word: word})
			return err
		})
	}
	var token string
	w.retry(uuid, boot, func() (err error) {
		_, token, err = w.engine().Lookup(w.Ctx, []string{MACOf(uuid)}, uuid, node.Caller{From: ramdiskAddress, Word: word})
		return err
	})
	if !w.alive(uuid, boot, func(m *Machine) { m.token = token }) {
		return
	}
	for w.beat(uuid, boot) {
		time.Sleep(90 * time.Second)
	}
}

// Word is the one-time token of a node's boot, as its boot script has it.
func (w *World) Word(uuid string) string {
	w.T.Helper()
	word, err := w.E.BootWord(w.Ctx, uuid)
	if err != nil || len(word) < 32 {
		w.T.Fatalf("one-time token %q, %v", word, err)
	}
	return word
}

// retry calls the conductor until it answers or the machine's boot is over.
func (w *World) retry(uuid string, boot int, f func() error) {
	for range 20 {
		if f() == nil || !w.alive(uuid, boot, nil) {
			return
		}
		time.Sleep(3 * time.Second)
	}
}

func (w *World) beat(uuid string, boot int) bool {
	var token string
	if letGo := false; !w.alive(uuid, boot, func(m *Machine) { token, letGo = m.token, m.LetGo }) || letGo {
		return false
	}
	if w.chance() {
		return true // lost on the way
	}
	if w.chance() { // sent twice
		_ = w.engine().Heartbeat(w.Ctx, uuid, agentapi.Heartbeat{CallbackURL: fmt.Sprintf(agentURL, uuid, boot),
			AgentToken: token, AgentVersion: "test"})
	}
	err := w.engine().Heartbeat(w.Ctx, uuid, agentapi.Heartbeat{
		CallbackURL: fmt.Sprintf(agentURL, uuid, boot), AgentToken: token, AgentVersion: "test",
	})
	_ = err // an agent only logs it
	return true
}

func (w *World) chance() bool {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Rng.Float64() < w.Trouble
}

// Ramdisks have one address: the path of their agents identifies them.
var ramdiskAddress = netip.MustParseAddr("192.0.2.9")

// agentURL has the node's UUID and the number of the boot. It is a constant, for Sscanf.
const agentURL = "https://192.0.2.9/%36s/%d"

// MACOf has 40 bits of the UUID: of 24, one world of 400 nodes in 200 had a MAC address twice.
func MACOf(uuid string) string {
	return fmt.Sprintf("02:%s:%s:%s:%s:%s", uuid[:2], uuid[2:4], uuid[4:6], uuid[6:8], uuid[9:11])
}

type drives struct{}

func (drives) Encode(d any, _ node.Node) (string, error) { return fmt.Sprint(d), nil }

// Turn changes whether a node is among some.
func (w *World) Turn(some map[string]bool, id string) {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	some[id] = !some[id]
}

// Pick returns a random number below n.
func (w *World) Pick(n int) int {
	w.Mu.Lock()
	defer w.Mu.Unlock()
	return w.Rng.IntN(n)
}
