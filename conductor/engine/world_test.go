package engine_test

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

// world is everything outside the engine, in one process and in virtual time: machines with a BMC, which boot a ramdisk
// with an agent that calls back.
type world struct {
	t          *testing.T
	ctx        context.Context
	store      store.Store // of the newest conductor
	ledger     *ledger
	settings   plan.Settings
	rng        *rand.Rand
	trouble    float64                  // how likely each call to the outside fails or is lost
	hangs      float64                  // how likely a step of an agent or a BMC never ends, and keeps in touch
	creep      float64                  // how likely the agent of such a step reports more done every minute
	faults     func(*mortal) core.Store // makes a store fail; nil: it works
	drive      func(core.BMC) core.BMC  // makes redfish something else; nil for the world
	finalizing func(*machine) error     // the error of an agent at finalize_rescue; nil: never
	system     node.System              // the BMC's report of its machine
	images     core.Images              // finds images; nil for none
	networks   core.Networks            // changes machines' networks; nil for none
	pressed    func(node.PowerState)    // called with each request to a BMC; nil for none
	probe      core.ImageProbe          // looks at images; nil for none
	logs       core.BootLogs            // keeps the logs of machines; nil for none
	logless    bool                     // agents that are asked for their logs cannot collect any
	syncing    error                    // the refusal of agents to sync; nil: never
	// agents that are asked for a kexec answer so, or fail; nil for a success
	kexecing   func(*machine, *agentapi.Result) error
	once       bool   // BMCs keep a boot device for one boot only
	powerOff   error  // the refusal of agents to power off; nil: never
	powerFault string // and those that take it fail so, at once or after a while
	powerSlow  bool
	proof      core.Proof            // the proof that ramdisks must show
	readers    int                   // power states read at a time; 0 for the default
	media      core.BootMedia        // serves boot media; nil for none
	log        *slog.Logger          // of the conductors; nil for none
	tracer     func() *traces.Tracer // of the next conductor; nil for none
	// open opens the database for the next conductor; nil: all have one store, in memory.
	open func() openedStore

	skew atomic.Int64 // how far the conductor's clock is off, in nanoseconds

	mu       sync.Mutex
	taken    map[node.Transition]bool // rows of the table that were taken
	broken   map[string]bool          // nodes with a BMC that refuses everything
	lost     map[string]bool          // nodes with a BMC that does not answer
	mute     map[string]bool          // nodes with a ramdisk that never calls
	e        *engine.Engine
	machines map[string]*machine
	life     *mortal
	stop     context.CancelFunc
	done     chan struct{}
	powered  sync.WaitGroup // programs on machines
}

// machine is one node's hardware.
type machine struct {
	power    node.PowerState
	device   string
	lasting  bool // the boot device is for more than one boot
	boot     int  // grows with every power change: older programs are gone
	disk     string
	wiped    bool
	tenant   string // owner of the image on the disk
	token    string
	commands []agentapi.Result
	stays    bool   // the agent has loaded the installed system, and goes on all the same
	letGo    bool   // the agent has ended its service: the machine is in rescue
	writing  int    // write_image steps at work: never more than one
	image    any    // image_info of the last of them
	drive    any    // and its configdrive
	boots    any    // parameters of the last install_bootloader
	bios     string // settings in force
	pending  string // settings for the next boot
	updating int    // polls until the firmware update is over
	chatting bool   // the update will never be over, but has something new to say at every poll
	medium   string // in the virtual CD drive
	inserted int    // media, so far
	mode     string // boot mode, "" for uefi
	nextMode string // applied by the next start
	secure   bool   // secure boot
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, ctx: t.Context(), store: mem.New(), settings: plan.DefaultSettings(),
		rng: rand.New(rand.NewPCG(seed, 1)), machines: map[string]*machine{},
		taken: map[node.Transition]bool{}, broken: map[string]bool{}, lost: map[string]bool{}, mute: map[string]bool{},
	}
	w.settings.ConductorName = "test"
	w.proof = core.Proof{Words: true, Key: []byte("of the test")}
	w.ledger = newLedger(t)
	return w
}

// start begins a conductor's life; end or crash ends it.
func (w *world) start() {
	life := &mortal{ledger: w.ledger, moved: w.moved, cut: func() {}, heal: func() {}, closed: func() {}}
	if w.open != nil {
		w.store = life.reach(w.open())
	}
	life.Store = w.store
	w.ledger.disturb(0)
	var st core.Store = life
	var bmc core.BMC = w
	if w.drive != nil {
		bmc = w.drive(w)
	}
	if w.faults != nil {
		w.ledger.failing = true
		st = w.faults(life)
	}
	conf := core.Config{
		Store: st, BMCs: map[string]core.BMC{"redfish": bmc, "fake-hardware": w, "manual-management": manual.New()},
		Agents: agents{w}, Drives: drives{},
		Images: w.images, Networks: w.networks, Probe: w.probe, BootLogs: w.logs,
		EraseKey: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)),
		Settings: w.settings, Log: cmp.Or(w.log, slog.New(slog.DiscardHandler)),
		PowerWorkers: w.readers, Proof: w.proof, Media: w.media,
		Now: func() time.Time { return time.Now().Add(time.Duration(w.skew.Load())) },
	}
	e := w.traced(&conf)
	w.mu.Lock()
	w.e, w.life = e, life
	w.mu.Unlock()
	if err := e.Recover(w.ctx); err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(w.ctx)
	done := make(chan struct{})
	w.stop, w.done = stop, done
	go func() {
		defer close(done) // w.done may be the next conductor's by the time this one begins
		e.Run(ctx)
	}()
}

// traced makes the engine, with a tracer that follows it where there is one.
func (w *world) traced(c *core.Config) *engine.Engine {
	if w.tracer == nil {
		return engine.New(*c)
	}
	t := w.tracer()
	c.Traces = t
	c.Live = func(uuid string, stage *core.BootStage, p *agentapi.Progress) {
		if stage != nil {
			t.Staged(uuid, stage.Name, stage.Detail, stage.At)
			return
		}
		t.Progressed(uuid, *p)
	}
	e := engine.New(*c)
	e.Listen(t)
	e.Follow(t)
	return e
}

func (w *world) end() {
	w.stop()
	<-w.done
	w.life.closed()
}

// crash ends the conductor as kill -9 does: nothing more is written.
func (w *world) crash() {
	w.life.dead.Store(true)
	w.end()
}

// freeze stops the conductor as SIGSTOP does: its next write waits, and it is cut off from a database. The returned
// function lets it go on, beside any conductor that was started meanwhile, until all its work has ended.
func (w *world) freeze() (thaw func()) {
	life, gate := w.life, make(chan struct{})
	w.ledger.lock(life) // no write is in the database
	life.gate.Store(&gate)
	life.cut()
	w.ledger.unlock()
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

// close ends the conductor and pulls every plug.
func (w *world) close() {
	w.end()
	w.mu.Lock()
	for _, m := range w.machines {
		m.boot++
	}
	w.mu.Unlock()
	w.powered.Wait()
}

// moved takes note of rows of the table.
func (w *world) moved(rows []node.Transition) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		w.taken[r] = true
	}
}

func (w *world) engine() *engine.Engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.e
}

func (w *world) of(uuid string) *machine {
	m, ok := w.machines[uuid]
	if !ok {
		m = &machine{power: node.PowerOff, device: "disk", disk: "old tenant"}
		w.machines[uuid] = m
	}
	return m
}

var errLost = errors.New("connection reset by the test")

// call is a call to the outside: it takes time and may be lost before or
// after it has worked.
func (w *world) call(ctx context.Context, work func()) error {
	w.mu.Lock()
	before, after := w.rng.Float64() < w.trouble, w.rng.Float64() < w.trouble
	delay := time.Duration(w.rng.IntN(200)) * time.Millisecond
	w.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(delay):
	}
	if before {
		return errLost
	}
	w.mu.Lock()
	work()
	w.mu.Unlock()
	if after {
		return errLost
	}
	return nil
}

// alive runs work if the machine is still in that boot.
func (w *world) alive(uuid string, boot int, work func(m *machine)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.of(uuid)
	if m.boot != boot || m.power != node.PowerOn {
		return false
	}
	if work != nil {
		work(m)
	}
	return true
}

// run is one boot of a machine: from the network or its virtual drive into the ramdisk when asked to, otherwise into
// the system on the disk.
func (w *world) run(uuid string, boot int) {
	time.Sleep(5 * time.Second)
	ramdisk := false
	if !w.alive(uuid, boot, func(m *machine) {
		ramdisk = (m.device == "pxe" || m.device == "cdrom" && m.medium != "") && !w.mute[uuid]
		m.device = "disk"
	}) || !ramdisk {
		return
	}
	n, err := w.engine().Node(w.ctx, uuid)
	if err != nil || !plan.WantsRamdisk(n) {
		return
	}
	var word string
	w.retry(uuid, boot, func() error {
		word, err = w.engine().BootWord(w.ctx, uuid)
		return err
	})
	if plan.Inspecting(n) {
		data := agentapi.Inspection{Inventory: agentapi.Inventory{
			Interfaces: []agentapi.Interface{{Name: "eth0", MACAddress: macOf(uuid), HasCarrier: true}},
			CPU:        agentapi.CPU{Count: 2, Architecture: "x86_64"}, Memory: agentapi.Memory{PhysicalMB: 512},
		}}
		raw, _ := json.Marshal(data)
		w.retry(uuid, boot, func() error {
			_, err := w.engine().ContinueInspection(w.ctx, uuid, data, raw, node.Caller{From: ramdiskAddress, Word: word})
			return err
		})
	}
	var token string
	w.retry(uuid, boot, func() (err error) {
		_, token, err = w.engine().Lookup(w.ctx, []string{macOf(uuid)}, uuid, node.Caller{From: ramdiskAddress, Word: word})
		return err
	})
	if !w.alive(uuid, boot, func(m *machine) { m.token = token }) {
		return
	}
	for w.beat(uuid, boot) {
		time.Sleep(90 * time.Second)
	}
}

// word is the one-time word of a node's boot, as its boot script has it.
func (w *world) word(uuid string) string {
	w.t.Helper()
	word, err := w.e.BootWord(w.ctx, uuid)
	if err != nil || len(word) < 32 {
		w.t.Fatalf("one-time word %q, %v", word, err)
	}
	return word
}

// retry calls the conductor until it answers or the machine's boot is over.
func (w *world) retry(uuid string, boot int, f func() error) {
	for range 20 {
		if f() == nil || !w.alive(uuid, boot, nil) {
			return
		}
		time.Sleep(3 * time.Second)
	}
}

func (w *world) beat(uuid string, boot int) bool {
	var token string
	if letGo := false; !w.alive(uuid, boot, func(m *machine) { token, letGo = m.token, m.letGo }) || letGo {
		return false
	}
	if w.chance() {
		return true // lost on the way
	}
	if w.chance() { // sent twice
		_ = w.engine().Heartbeat(w.ctx, uuid, agentapi.Heartbeat{CallbackURL: fmt.Sprintf(agentURL, uuid, boot),
			AgentToken: token, AgentVersion: "test"})
	}
	err := w.engine().Heartbeat(w.ctx, uuid, agentapi.Heartbeat{
		CallbackURL: fmt.Sprintf(agentURL, uuid, boot), AgentToken: token, AgentVersion: "test",
	})
	_ = err // an agent only logs it
	return true
}

func (w *world) chance() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.Float64() < w.trouble
}

// Ramdisks have one address: the path of their agents identifies them.
var ramdiskAddress = netip.MustParseAddr("192.0.2.9")

// agentURL has the node's UUID and the number of the boot. It is a constant, for Sscanf.
const agentURL = "https://192.0.2.9/%36s/%d"

// macOf has 40 bits of the UUID: of 24, one world of 400 nodes in 200 had a MAC address twice.
func macOf(uuid string) string {
	return fmt.Sprintf("02:%s:%s:%s:%s:%s", uuid[:2], uuid[2:4], uuid[4:6], uuid[6:8], uuid[9:11])
}

type drives struct{}

func (drives) Encode(d any, _ node.Node) (string, error) { return fmt.Sprint(d), nil }

// turn changes whether a node is among some.
func (w *world) turn(some map[string]bool, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	some[id] = !some[id]
}

func (w *world) pick(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(n)
}
