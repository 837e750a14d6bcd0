// Package agent runs the agent. It waits for the network, sends inspection data if
// the kernel line asks for it, and looks up the node. From then on it sends
// heartbeats and carries out the conductor's commands.
//
// It must not know how a kernel, a disk or a network works: it combines the packages
// below it.
package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os/exec"
	"sync"
	"time"

	"github.com/ferrite-metal/ferrite/agent/clock"
	"github.com/ferrite-metal/ferrite/agent/command"
	"github.com/ferrite-metal/ferrite/agent/contact"
	"github.com/ferrite-metal/ferrite/agent/disk"
	"github.com/ferrite-metal/ferrite/agent/extension"
	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/param"
	"github.com/ferrite-metal/ferrite/agent/rescue"
	"github.com/ferrite-metal/ferrite/agent/screen"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/connlimit"
)

// Version is the agent_version of heartbeats. Conductors take it for a version of ironic-python-agent, and use its
// protocol.
const Version = "10.0.0"

// Kernel has the calls of the kernel that the agent needs.
type Kernel interface {
	extension.Power
	logbook.Kernel
	inventory.IPMI
	inventory.Listener
	inventory.Switches
	steps.Kernel
	Machine() string
}

// Network is the network interfaces, which another package configures.
type Network interface {
	Wait(ctx context.Context, all bool, patience time.Duration) error
	Down() error
	// AskAnew asks for all addresses again.
	AskAnew()
}

// Options are the parts of an agent.
type Options struct {
	Params  param.Params
	Root    fs.FS // the root file system, with sys and proc
	Kernel  Kernel
	Network Network
	// LoadModule loads a module by name, if the ramdisk has it.
	LoadModule func(name string)
	Run        func(*exec.Cmd) error // starts a program and waits for its end
	Settled    <-chan struct{}       // closed when the drivers of the devices at hand are loaded
	Open       func(ctx context.Context, path string) (steps.Device, error)
	EFIVars    func() disk.EFIVars    // nil result: not started by UEFI
	Pstore     func() (string, error) // where the kernel's logs of crashes are; "" for nowhere
	Arch       string                 // as Go names it
	Listen     string                 // address of the command API, ":9999"
	// Rescue lets a user with the password log in, and returns once they can. It is
	// nil where the agent may not give the machine away.
	Rescue func(rescue.Password) error
	Clock  *clock.Keeper // of this machine; nil where its clocks are not the agent's
	Book   *logbook.Book
	Board  *screen.Board   // shown on the consoles; nil when there are none
	Stream *logbook.Stream // the log from the first line on, for the conductor
	Log    *slog.Logger
}

// Agent is one boot's agent.
type Agent struct {
	Options
	conductor  *contact.Conductor
	machine    *steps.Machine
	host       *extension.Host
	progress   *progress
	logShipper *logShipper
	state      state
	handed     sync.Once     // closes rescued
	rescued    chan struct{} // closed by a rescue.finalize_rescue that worked
}

// New makes an agent. Run starts it.
func New(o Options) *Agent {
	trust := contact.Options{
		URLs: o.Params.APIURLs, Pins: o.Params.APIPins, Insecure: o.Params.Insecure, RequestID: o.Params.RequestID,
	}
	a := &Agent{Options: o, rescued: make(chan struct{})}
	trust.Secret, trust.Heard, trust.Clocks = a.state.token, o.Clock.Heard, o.Clock.String
	trust.BootMode = inventory.BootMode(o.Root)
	a.conductor = contact.New(trust)
	a.state.setToken(o.Params.Token)
	a.progress = newProgress(a.conductor, &a.state, o.Board, o.Log)
	a.logShipper = newLogShipper(a.conductor, &a.state, o.Stream, o.Log)
	download := o.Params.Download
	a.machine = &steps.Machine{
		Root: o.Root, Disks: a.disks, Open: o.Open, Kernel: o.Kernel, LoadModule: o.LoadModule, Run: o.Run,
		EFIVars: o.EFIVars, Pstore: o.Pstore, Arch: o.Arch,
		DeployPriorities: map[string]int{"inject_files": o.Params.InjectFilesPriority},
		Client:           contact.NewImageClient(trust, download.ConnectTimeout),
		Download: steps.Download{
			Retries: download.Retries, RetryInterval: download.RetryInterval, MaxDuration: download.MaxDuration,
		},
		Wait:   steps.DiskWait{Attempts: o.Params.DiskAttempts, Delay: o.Params.DiskDelay},
		Probe:  steps.ProbeWait{Probing: a.probing, Limit: probeLimit, Missing: missingPatience, Quiet: quiet},
		Config: a.state.config, Progress: a.progress.report, Log: o.Log,
	}
	a.host = &extension.Host{
		Machine: a.machine, Power: o.Kernel, Inventory: a.inventory, Logs: a.logs, Refresh: a.refresh, Rescue: a.rescue,
	}
	return a
}

// ErrLockedDown says that the conductor gave this node's token to another agent:
// this agent must accept no commands.
var ErrLockedDown = errors.New("the conductor has given this node's token out already, and not to this agent")

// restartPause is the time before an agent that could not go on starts again.
const restartPause = 5 * time.Second

// Run runs the agent until ctx ends, or until ErrLockedDown. After a rescue it only
// waits for that. All other errors are logged, and Run starts again from lookup.
func (a *Agent) Run(ctx context.Context) error {
	a.showMachine()
	a.Board.Doing("waiting for the network")
	if err := a.Network.Wait(ctx, a.Params.DHCPWaitAll, a.Params.DHCPWait); err != nil {
		return err
	}
	a.showMachine() // its addresses are known now
	nodeUUID := ""
	a.askTime(ctx)
	if len(a.Params.InspectionURLs) > 0 {
		nodeUUID = a.inspect(ctx)
	}
	if len(a.Params.APIURLs) == 0 {
		a.Log.Info("no conductor to report to (ipa-api-url); waiting")
		a.Board.Doing("nothing: there is no conductor to report to")
		a.Stream.Close()
		<-ctx.Done()
		return ctx.Err()
	}
	for {
		err := a.live(ctx, nodeUUID)
		if errors.Is(err, ErrLockedDown) {
			a.Board.Failed(err)
			a.Board.Doing("nothing: locked down")
			return errors.Join(err, a.Network.Down())
		}
		if errors.Is(err, errRescued) {
			return a.handOver(ctx)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		a.Board.Failed(err)
		a.Log.Error("the agent could not go on; starting again", "err", err, "in", restartPause)
		select {
		case <-ctx.Done():
		case <-time.After(restartPause):
		}
	}
}

// live runs from lookup until something goes wrong.
func (a *Agent) live(ctx context.Context, nodeUUID string) error {
	a.Board.Doing("asking the conductor for the node of this machine")
	reply, err := a.lookup(ctx, nodeUUID)
	if err != nil {
		return err
	}
	if err := a.state.adopt(reply); err != nil {
		return err
	}
	a.host.SetNode(extension.NodeOf(reply.Node))
	a.showNode(reply)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go a.logShipper.run(ctx) // ends with the cancel above
	a.Log.Info("node found", "node", reply.Node.UUID, "heartbeat_timeout", reply.Config.HeartbeatTimeout,
		"conductor", a.conductor.URL())
	return a.serve(ctx)
}

// lookup tries until the conductor knows the node. After the lookup timeout it begins
// again, as ironic-python-agent does when it is restarted.
func (a *Agent) lookup(ctx context.Context, nodeUUID string) (agentapi.LookupReply, error) {
	patience := contact.Patience{Timeout: a.Params.LookupTimeout, Interval: a.Params.LookupInterval,
		Failed: a.Board.Failed}
	for {
		reply, err := a.conductor.LookupUntil(ctx, a.macs, nodeUUID, patience, a.Log)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return reply, ctx.Err()
		}
		a.Board.Failed(err)
		a.Log.Error("the conductor does not know this machine; starting again", "err", err, "macs", a.macs())
	}
}

// refresh looks the node up again and adopts the changes.
func (a *Agent) refresh(ctx context.Context) (agentapi.LookupNode, error) {
	reply, err := a.conductor.Lookup(ctx, a.macs(), a.state.uuid())
	if err != nil {
		return agentapi.LookupNode{}, err
	}
	return reply.Node, a.state.adopt(reply)
}

// serve opens the command API and sends heartbeats until ctx ends.
func (a *Agent) serve(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ip, err := a.advertised(ctx)
	if err != nil {
		return err
	}
	minor, err := a.conductor.Version(ctx)
	if err != nil {
		return err
	}
	heartbeats := newHeartbeater(a.conductor, &a.state, a.Board, a.Log)
	commandEnded := func() {
		a.logShipper.flush(ctx)
		heartbeats.force()
	}
	api := command.New(ctx, command.Options{
		Extensions: a.host.All(), Token: a.state.token, Begun: a.showCommand, Ended: a.showEnd, Done: commandEnded,
		Version: Version, Started: time.Now(), Log: a.Log,
		OpenList: func() bool { return minor < 83 }, // before that Ironic sends no token with GET
	})
	l, err := connlimit.Listen(a.Listen, maxConnections, maxEach, nil, a.Log)
	if err != nil {
		return fmt.Errorf("command API: %w", err)
	}
	server, err := openCommandServer(l, ip, minor, api, a.Log)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	defer server.close()
	go a.progress.run(ctx) // ends with the cancel above
	go func() {            // and so does this
		select {
		case <-ctx.Done():
		case <-a.rescued:
			cancel(errRescued)
		}
	}()
	a.Log.Info("command API is open", "callback", server.callback)
	if err := heartbeats.run(ctx, server); ctx.Err() == nil {
		return err
	}
	return context.Cause(ctx)
}

// advertised is the address that the conductor is to call.
func (a *Agent) advertised(ctx context.Context) (netip.Addr, error) {
	if a.Params.AdvertiseHost != "" {
		ip, err := netip.ParseAddr(a.Params.AdvertiseHost)
		if err != nil {
			return ip, fmt.Errorf("kernel parameter ipa-advertise-host: %w", err)
		}
		return ip, nil
	}
	return contact.LocalAddress(ctx, a.conductor.URL())
}
