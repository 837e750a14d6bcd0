package core

import (
	"context"
	"errors"
	"fmt"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
)

// facts gathers the facts that plan may know besides the node, and the facts that an event needs. Every later change of
// them raises the node's revision, so a commit on old facts is refused as stale. An effect to be finished must still be
// pending, or the commit is fenced off.
func (e *Core) facts(ctx context.Context, n node.Node, need plan.Need, finish *node.Effect) (f plan.Facts, err error) {
	ports, err := e.Store.Ports(ctx, node.PortQuery{NodeUUID: n.UUID})
	if err != nil {
		return f, fmt.Errorf("ports of node %s: %w", n.UUID, err)
	}
	pending := finish
	if pending == nil {
		if pending, err = e.Store.PendingEffect(ctx, n.UUID); err != nil {
			return f, fmt.Errorf("effects of node %s: %w", n.UUID, err)
		}
	}
	f = plan.Facts{Ports: ports, Settings: e.Settings, EffectPending: pending != nil, LogsMissing: e.logsMissing(n),
		Words: e.RamdiskAuth.Words, OwnDHCP: e.RamdiskAuth.Leases}
	if pending != nil && pending.Name == plan.ShutDown {
		f.ShutDown = pending
	}
	f.Offers = e.offers(n)
	_, f.ReportsHardware = e.BMCs[n.Driver].(HardwareReporter)
	if err := e.addNeeded(ctx, n, need, &f); err != nil {
		return f, err
	}
	if n.Run != nil {
		if err := e.Recall(ctx, n); err != nil {
			return f, err
		}
	}
	e.Memory.facts(n.UUID, &f)
	if f.BootStage == "" && n.Run != nil && e.Started.After(n.Run.Since) {
		f.BootStage = fmt.Sprintf("none since this conductor started at %s", e.Started.UTC().Format("15:04:05"))
	}
	return f, nil
}

// addNeeded gathers the facts that only this event needs.
func (e *Core) addNeeded(ctx context.Context, n node.Node, need plan.Need, f *plan.Facts) (err error) {
	if f.Taken, err = e.Taken(ctx, n.UUID, need.Addresses); err != nil {
		return err
	}
	if len(need.Templates) > 0 {
		if f.Templates, err = e.Store.Catalogs().DeployTemplates.List(ctx, "name", need.Templates...); err != nil {
			return err
		}
	}
	if need.Rules {
		if f.Rules, err = e.Store.Catalogs().InspectionRules.List(ctx, "phase", node.MainPhase); err != nil {
			return err
		}
	}
	if need.LastWords && e.BootLogs != nil {
		f.LastWords = e.BootLogs.Tail(n.UUID, lastWords)
	}
	if need.HardwareReport {
		if f.HardwareReport, err = e.Store.HardwareReport(ctx, n.UUID); err != nil {
			return err
		}
	}
	if need.Cleaning {
		if f.Cleaning, err = e.CleaningRunbook(ctx, n); err != nil {
			return err
		}
	}
	if need.Counts {
		f.Counts = e.Memory.counts(e.countedGroup(n))
	}
	if need.Inventory {
		if f.Inventory, err = e.InventoryOf(ctx, n.UUID); err != nil {
			return err
		}
	}
	if need.Bonds {
		if f.Bonds, err = e.Store.Catalogs().Portgroups.List(ctx, "node_uuid", n.UUID); err != nil {
			return err
		}
	}
	if need.System != "" && !n.SharesMachine {
		if f.SameSystem, err = e.SameSystem(ctx, need.System); err != nil {
			return err
		}
	}
	if f.OwnDHCP && need.Leased {
		f.Leased, err = e.Leased(ctx, n.UUID)
	}
	return err
}

// CleaningRunbook finds the runbook that plan.CleaningRunbook names; nil for none, and for a runbook that the node may
// not have.
func (e *Core) CleaningRunbook(ctx context.Context, n node.Node) (*node.Runbook, error) {
	ref := plan.CleaningRunbook(n, e.Settings)
	if ref == "" {
		return nil, nil //nolint:nilnil // none
	}
	book, err := e.Store.Catalogs().Runbooks.Find(ctx, ref)
	if errors.Is(err, node.ErrNotFound) || err == nil && !plan.MayCleanWith(n, book, e.Settings) {
		return nil, nil //nolint:nilnil // the decision gives the reason
	}
	return &book, err
}

// countedGroup is the conductor group that the limits of a node count; nil for all nodes of this conductor.
func (e *Core) countedGroup(n node.Node) *string {
	if !e.Settings.MaxConcurrentPerGroup {
		return nil
	}
	return &n.ConductorGroup
}

// lastWords is how many lines of a machine's log an error quotes.
const lastWords = 3

// Taken finds which addresses are ports of other nodes.
func (e *Core) Taken(ctx context.Context, uuid string, macs []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, mac := range macs {
		ports, err := e.Store.Ports(ctx, node.PortQuery{Address: mac})
		if err != nil {
			return nil, fmt.Errorf("ports with address %s: %w", mac, err)
		}
		if len(ports) > 0 && ports[0].NodeUUID != uuid {
			out[mac] = true
		}
	}
	return out, nil
}
