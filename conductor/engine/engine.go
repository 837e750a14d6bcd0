// Package engine is the only writer of node state. It gathers the facts
// around an event, asks package plan what follows, saves the node together
// with the effect it then owes, carries effects out, and comes back with their
// outcome. It also declares what it needs from stores, BMC drivers and agents.
//
// It must not decide (that is plan's), know a driver or a database, or write
// a node in any other way than through plan or an operator's edit.
package engine

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// Config is what an engine is made of. Everything but the last group is
// required.
type Config struct {
	Store    Store
	BMCs     map[string]BMC // by hardware type; its keys are the enabled types
	Agents   AgentClient
	Drives   ConfigDrives
	EraseKey ed25519.PrivateKey // signs erase reports
	Settings plan.Settings      // Host names this conductor, and owns leases
	Log      *slog.Logger

	Images   Images           // nil: images are at http(s) URLs only
	BootLogs BootLogs         // nil: none are kept
	Now      func() time.Time // the clock; time.Now when nil
	Workers  int              // effects carried out at a time; 64 when 0
	Retries  int              // tries of an effect that fails for a passing reason; 4 when 0

	// CheckForm refuses what cannot be right in a node's driver_info, whatever
	// files and BMCs there are. Nil for nothing.
	CheckForm func(n node.Node) error

	Proof Proof // what ramdisks must show; the zero value: nothing

	Discovery Discovery // the zero value: machines nobody has enrolled stay unknown

	// Changed is told of every write to a node once it is done, with the node as
	// it is then, of a deleted one the UUID alone. It must not wait for anything.
	// Nil for nobody to be told.
	Changed func(n node.Node)

	PowerWorkers int // power states read at a time by the power sync; 64 when 0
}

// Engine runs the nodes of one conductor. It is safe for concurrent use.
type Engine struct {
	Config
	memory   memory
	schedule *schedule
	slots    chan struct{}
	wakeRun  chan struct{}
	wakeDue  chan struct{}
	wakeRead chan struct{}
	wiring   sync.Mutex // held while ports and portgroups are checked against each other and written
	started  time.Time

	discovering sync.Mutex // held while a machine nobody has enrolled is looked for and written
	machines    machines   // that such a one may be
	aside       setAside   // records that cannot be read
	warnings    warnings   // of what strangers do

	wakeAllocate chan struct{}
	running      sync.WaitGroup
	stop         context.Context // ends work begun outside a request
	halt         context.CancelFunc
}

// New makes an engine; Run starts it.
func New(c Config) *Engine {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Workers == 0 {
		c.Workers = 64
	}
	if c.Retries == 0 {
		c.Retries = 4
	}
	if c.PowerWorkers == 0 {
		c.PowerWorkers = 64
	}
	if c.Proof.Key == nil {
		c.Proof.Key = make([]byte, sha256.Size)
		rand.Read(c.Proof.Key) // never fails
	}
	stop, halt := context.WithCancel(context.Background())
	return &Engine{
		Config: c, started: c.Now(), stop: stop, halt: halt,
		memory: newMemory(), schedule: newSchedule(c.PowerWorkers),
		slots:   make(chan struct{}, c.Workers),
		wakeRun: make(chan struct{}, 1), wakeDue: make(chan struct{}, 1), wakeRead: make(chan struct{}, 1),
		wakeAllocate: make(chan struct{}, 1),
	}
}

// ConductorName is the name of this conductor.
func (e *Engine) ConductorName() string { return e.Settings.ConductorName }

// Run carries out effects, watches deadlines, reads power states and gives nodes
// to allocations until ctx ends; then it waits for what is under way, which ctx has cancelled, to let go.
func (e *Engine) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, e.halt)()
	e.running.Go(func() { e.watchDeadlines(ctx) })
	e.running.Go(func() { e.syncPower(ctx) })
	e.running.Go(func() { e.watchAllocations(ctx) })
	e.dispatch(ctx)
	e.running.Wait()
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
