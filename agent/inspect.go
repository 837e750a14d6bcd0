package agent

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/ferrite-metal/ferrite/agent/inventory"
	"github.com/ferrite-metal/ferrite/agent/logbook"
	"github.com/ferrite-metal/ferrite/agent/steps"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
)

// inspect hands over inspection data and returns the node's UUID when the
// answer has it. Failure is logged only: the agent may still be of use.
func (a *Agent) inspect(ctx context.Context) string {
	a.Board.Doing("inspecting the machine")
	data := a.inspection(ctx)
	a.Board.Doing("handing over the inspection data")
	reply, err := a.conductor.InspectUntil(ctx, a.Params.InspectionURLs, data, a.Log)
	if err != nil {
		a.Board.Failed(fmt.Errorf("inspection data not handed over: %w", err))
		a.Log.Error("inspection data not handed over", "err", err)
		return ""
	}
	a.Log.Info("inspection data handed over", "node", reply.UUID)
	if reply.BMCUser != nil {
		a.handInBMCUser(ctx, reply.UUID, *reply.BMCUser)
	}
	return reply.UUID
}

// collectors are the implemented ones of ironic-python-agent; default is always collected.
func collectors() []string {
	return []string{"default", "logs", "pci-devices", "numa-topology", "dmi-decode", "lldp", "usb-devices"}
}

// inspection collects the data that the kernel line asks for.
func (a *Agent) inspection(ctx context.Context) agentapi.Inspection {
	wants := func(collector string) bool { return slices.Contains(a.Params.Collectors, collector) }
	for _, c := range a.Params.Collectors {
		if !slices.Contains(collectors(), c) {
			a.Log.Warn("inspection collector is not built into this agent", "collector", c, "known", collectors())
		}
	}
	lldp := a.listenLLDP(ctx) // meanwhile
	a.machine.AwaitProbing(ctx)
	data := agentapi.Inspection{
		Inventory:     a.inventory(ctx),
		BootInterface: a.Params.BootIF,
		SystemUUID:    inventory.SystemUUID(a.Root),
		Clock:         a.Clock.Report(),
		Configuration: map[string]any{
			"collectors": a.Params.Collectors,
			"managers":   []map[string]string{{"name": steps.VersionManager, "version": steps.Version}},
		},
	}
	if root, err := a.machine.RootDisk(ctx, agentapi.CommandNode{}, 0); err != nil {
		a.Log.Warn("no root disk in the inspection data", "err", err)
	} else {
		data.RootDisk = &root
		data.Inventory.Disks, _ = a.disks() // one may have been waited for
	}
	_, data.SkippedDisks = a.disks()
	plan, err := a.machine.ErasePlan(ctx, agentapi.CommandNode{})
	if err != nil {
		a.Log.Warn("no erase plan in the inspection data", "err", err)
	}
	data.ErasePlan = plan
	if wants("pci-devices") {
		data.PCIDevices = inventory.PCIDevices(a.Root)
	}
	if wants("numa-topology") {
		data.NUMATopology = inventory.NUMATopology(a.Root)
	}
	if wants("dmi-decode") {
		data.DMI = inventory.DMI(a.Root)
	}
	if wants("usb-devices") {
		data.USBDevices = inventory.USBDevices(a.Root)
	}
	data.LLDPRaw = lldp()
	for i, f := range data.Inventory.Interfaces {
		data.Inventory.Interfaces[i].LLDP = data.LLDPRaw[f.Name]
	}
	if wants("logs") { // last, since they are about all of this
		logs, err := a.logs()
		if err != nil {
			a.Log.Warn("no logs in the inspection data", "err", err)
		}
		data.Logs = logs
	}
	return data
}

// inventory is the machine's current inventory.
func (a *Agent) inventory(ctx context.Context) agentapi.Inventory {
	a.settle()
	hostname, err := os.Hostname()
	if err != nil {
		a.Log.Debug("no host name", "err", err)
	}
	return inventory.Host{
		FS: a.Root, Addresses: addresses, IPMI: a.Kernel, Hostname: hostname, Machine: a.Kernel.Machine(),
		BootIF: a.Params.BootIF, Log: a.Log,
	}.Collect(ctx)
}

// disks are those there are now.
func (a *Agent) disks() ([]agentapi.Disk, []agentapi.SkippedDisk) {
	a.settle()
	return inventory.Disks(a.Root)
}

// How long steps wait for disks: see steps.ProbeWait.
const (
	probeLimit      = 10 * time.Minute
	missingPatience = 2 * time.Minute
	quiet           = 2 * time.Second
)

// probing names drivers and controllers that may still bring up disks.
func (a *Agent) probing() []string {
	select {
	case <-a.Settled:
	default:
		return []string{"drivers that are being loaded"}
	}
	return inventory.Probing(a.Root)
}

// settleTime is how long loading drivers may keep anything waiting.
const settleTime = 30 * time.Second

// settle waits until the drivers are loaded: before that a disk that is not
// seen may only be late.
func (a *Agent) settle() {
	select {
	case <-a.Settled:
	case <-time.After(settleTime):
		a.Log.Warn("drivers are still being loaded; the present devices are used", "waited", settleTime)
	}
}

// macs are the addresses the conductor may know this machine by.
func (a *Agent) macs() []string { return inventory.MACs(a.Root) }

// logs is everything there is to look at after a failure.
func (a *Agent) logs() (string, error) {
	return logbook.Collect(a.Book, a.Kernel, a.Root, inventory.Tree(a.Root), time.Now())
}

// addresses are a network interface's.
func addresses(name string) []netip.Addr {
	i, err := net.InterfaceByName(name)
	if err != nil {
		return nil
	}
	all, err := i.Addrs()
	if err != nil {
		return nil
	}
	var out []netip.Addr
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr())
		}
	}
	return out
}
