package core

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/ferrite-metal/ferrite/conductor/engine/lanes"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// Config holds the dependencies and settings of an engine. The first group is required.
type Config struct {
	Store    Store
	BMCs     map[string]BMC // by hardware type; its keys are the enabled types
	Agents   AgentClient
	Drives   ConfigDrives
	EraseKey ed25519.PrivateKey // signs erase reports
	Settings plan.Settings      // ConductorName owns leases
	Log      *slog.Logger

	Images    Images           // nil: images are at http(s) URLs only
	Networks  Networks         // nil: no node may have network interface neutron
	RuleCalls *http.Client     // makes the calls of inspection rules; nil: none are made
	Probe     ImageProbe       // nil: images are not looked at before a deploy
	BootLogs  BootLogs         // nil: none are kept
	Now       func() time.Time // the clock; time.Now when nil
	Workers   int              // effects of a lane that are carried out at a time; 64 when 0
	Retries   int              // tries of an effect that fails for a passing reason; 4 when 0

	// CheckForm refuses values of a node's driver_info that are wrong independent of files and BMCs. Nil: no check.
	CheckForm func(n node.Node) error

	RamdiskAuth RamdiskAuth // the proof that ramdisks must show; the zero value: none

	Media BootMedia // images for virtual drives; nil: none are served

	Discovery Discovery // the zero value: machines that are not enrolled stay unknown

	Observer Observer // nil: none
	Traces   Tracer   // nil: none

	// Observations returns the boot stages and progress that earlier conductors saw of a node's machine. Nil: nothing.
	Observations func(ctx context.Context, uuid string) (Observation, error)

	PowerWorkers int // power states read at a time by the power sync; 64 when 0

	// Group is the conductor group of this conductor. The store refuses to write nodes of other groups. Nil: all nodes
	// are this conductor's.
	Group *string
}

// Ours reports whether a node is this conductor's.
func (c *Config) Ours(n *node.Node) bool { return c.Group == nil || n.ConductorGroup == *c.Group }

// BootMedia serves the images from which machines boot out of a virtual drive.
type BootMedia interface {
	// MediumURL is where the BMC of n reads the image for the boot that its run is about to make, or its instance's. It
	// refuses a node for which none can be made.
	MediumURL(ctx context.Context, n node.Node) (string, error)
	// SettingsURL is where the BMC reads the settings of the agent that this boot starts, for a second virtual drive.
	SettingsURL(ctx context.Context, n node.Node) (string, error)
}

// Core decides and writes: it gathers the facts around an event, asks package plan,
// commits the change, and has the pending effects carried out. It is safe for
// concurrent use.
type Core struct {
	Config
	// Perform carries out one effect; leave gives its worker back before the end.
	Perform func(ctx context.Context, ef node.Effect, leave func()) (any, error)
	// LastRead is when the power state of a node was last read.
	LastRead func(uuid string) time.Time
	// SameSystem returns the nodes with this machine UUID, see node.SystemKey.
	SameSystem func(ctx context.Context, uuid string) ([]node.Node, error)
	systems    sync.Mutex // held from the look for nodes of one system until the decision is stored

	large *semaphore.Weighted // largeNodes

	Memory    memory
	listeners []Listener // in their order
	listened  int        // where Listen inserts
	watchers  []func(uuid string, stage *BootStage, progress *agentapi.Progress)
	turns     turns
	wakeRun   chan struct{}
	wakeDue   chan struct{}
	looksAt   atomic.Int64 // when deadlines are looked at next, in nanoseconds
	Started   time.Time
	aside     setAside // records that cannot be read

	Running sync.WaitGroup
	hold    atomic.Pointer[node.RestoreHold] // nil for none
	resumed chan struct{}                    // closed when a hold has ended
	// PowerNow returns the latest answer of a BMC while effects are held.
	PowerNow func(uuid string) (PowerReading, bool)

	stop context.Context // ends work begun outside a request
	halt context.CancelFunc
}

// New makes a core that listens to itself alone.
func New(c Config) *Core {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Observer == nil {
		c.Observer = noObserver{}
	}
	if c.Traces == nil {
		c.Traces = noTracer{}
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
	if c.RamdiskAuth.Key == nil {
		c.RamdiskAuth.Key = make([]byte, sha256.Size)
		rand.Read(c.RamdiskAuth.Key) // never fails
	}
	stop, halt := context.WithCancel(context.Background())
	e := &Core{
		Config: c, Started: c.Now(), stop: stop, halt: halt,
		turns:   turns{lanes: lanes.New(c.Workers)},
		large:   semaphore.NewWeighted(largeNodes),
		resumed: make(chan struct{}), wakeRun: make(chan struct{}, 1), wakeDue: make(chan struct{}, 1),
	}
	e.Memory = newMemory(func(uuid string, stage *BootStage, progress *agentapi.Progress) {
		for _, seen := range e.watchers {
			seen(uuid, stage, progress)
		}
	})
	e.ownListeners()
	return e
}

// ConductorName is the name of this conductor.
func (e *Core) ConductorName() string { return e.Settings.ConductorName }

// Run carries out effects and watches deadlines, and runs the parts beside it, until
// ctx ends. Then it waits for the work under way, which ctx has cancelled.
func (e *Core) Run(ctx context.Context, beside ...func(context.Context)) {
	defer context.AfterFunc(ctx, e.halt)()
	e.Running.Go(func() { e.watchDeadlines(ctx) })
	for _, run := range beside {
		e.Running.Go(func() { run(ctx) })
	}
	e.dispatch(ctx)
	e.Running.Wait()
}

// Wake wakes the loop that waits on c, once.
func Wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
