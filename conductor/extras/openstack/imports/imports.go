// Package imports takes over nodes of another program: complete records, at rest, each in one transaction.
//
// It must not act on a machine, nor cause an act: its writes have no effects, and the power sync lets the record of an
// imported node follow its machine until an operator requests something of the node here.
package imports

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/engine/core"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Imports inserts nodes of other programs, and brings them up to date.
type Imports struct{ *core.Core }

// New imports nodes into the store of a core.
func New(c *core.Core) *Imports { return &Imports{Core: c} }

// ImportNode takes over a node with all its records, or none of them. The same request again changes nothing.
func (e *Imports) ImportNode(ctx context.Context, r node.ImportRequest) (node.ImportResult, error) {
	for range core.MaxTries {
		result, err := e.try(ctx, r)
		if errors.Is(err, errRace) || errors.Is(err, node.ErrStale) {
			continue
		}
		return result, err
	}
	return node.ImportResult{}, e.Locked(r.Bundle.Node.UUID)
}

// errRace: the node was created while it was being imported.
var errRace = errors.New("the node was made meanwhile")

// try is one try: ErrStale or errRace when another request was faster.
func (e *Imports) try(ctx context.Context, r node.ImportRequest) (node.ImportResult, error) {
	uuid := r.Bundle.Node.UUID
	there := cloned(r.Bundle)
	ours, err := e.bundle(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) {
		result := node.ImportResult{Outcome: node.ImportCreated, UUID: uuid}
		if err := e.prepare(ctx, r, &there, nil); err != nil || r.DryRun {
			return result, err
		}
		return result, e.insert(ctx, r, there)
	}
	if err != nil {
		return node.ImportResult{}, err
	}
	return e.update(ctx, r, there, ours)
}

// insert writes a node that is not here yet.
func (e *Imports) insert(ctx context.Context, r node.ImportRequest, there node.Bundle) error {
	n := there.Node
	n.Import = &node.Import{Source: r.Source, At: e.Now(), Base: digests(&there), FollowPower: true}
	_, err := e.Commit(ctx, node.Change{
		Insert: &n, SavePortgroups: there.Portgroups, AddPorts: there.Ports, PutAllocation: there.Allocation,
		Volumes: node.VolumeChange{Connectors: there.Connectors, Targets: there.Targets}, Inspected: there.Inspected,
		History: []node.HistoryEntry{e.note(n, "imported from "+r.Source)},
	})
	if errors.Is(err, node.ErrConflict) {
		if _, found := e.Store.Node(ctx, n.UUID); found == nil {
			return errRace
		}
	}
	return err
}

// update brings a node that is here up to date, where it was not changed here.
func (e *Imports) update(ctx context.Context, r node.ImportRequest, there, ours node.Bundle,
) (node.ImportResult, error) {
	result := node.ImportResult{Outcome: node.ImportUnchanged, UUID: ours.Node.UUID}
	if err := e.Unbusy(ctx, ours.Node); err != nil {
		return result, err
	}
	unmask(&there, ours)
	if err := e.prepare(ctx, r, &there, &ours.Node); err != nil {
		return result, err
	}
	v := compare(ours, there, r.Source, r.Overwrite)
	result.Kept, result.Conflicts = v.kept, v.conflicts
	if len(v.conflicts) > 0 {
		result.Outcome = node.ImportConflict
		return result, nil
	}
	if result.Changes = v.changes; len(v.changes) > 0 {
		result.Outcome = node.ImportChanged
	}
	base := digests(&there)
	if r.DryRun || len(v.changes) == 0 && current(ours.Node.Import, r.Source, base) {
		return result, nil
	}
	next := cloned(ours)
	for _, take := range v.take {
		take(&next, &there)
	}
	if err := e.check(ctx, &next, &ours.Node); err != nil {
		return result, err
	}
	n := &next.Node
	follow := ours.Node.FollowsPower()
	if n.ProvisionState != ours.Node.ProvisionState {
		now := e.Now()
		n.ProvisionUpdatedAt = &now
	}
	n.Import = &node.Import{Source: r.Source, At: e.Now(), Base: base, FollowPower: follow}
	change := changeOf(ours, next)
	if len(v.changes) > 0 {
		change.History = []node.HistoryEntry{e.note(*n, "changed by an import from "+r.Source+": "+names(v.changes))}
	}
	_, err := e.Commit(ctx, change)
	return result, err
}

// current reports whether a node's import is recorded already.
func current(i *node.Import, source string, base map[string]string) bool {
	if i == nil || i.Source != source || len(i.Base) != len(base) {
		return false
	}
	for name, digest := range base {
		if i.Base[name] != digest {
			return false
		}
	}
	return true
}

func (e *Imports) note(n node.Node, text string) node.HistoryEntry {
	return node.HistoryEntry{NodeUUID: n.UUID, CreatedAt: e.Now(), Severity: "INFO", EventType: "import", Event: text,
		State: n.ProvisionState, Target: n.TargetProvisionState, Conductor: e.ConductorName()}
}

// maxNames is how many items a line of history names.
const maxNames = 12

func names(all []node.Difference) string {
	var some []string
	for _, d := range all[:min(len(all), maxNames)] {
		some = append(some, d.Item)
	}
	if more := len(all) - len(some); more > 0 {
		some = append(some, fmt.Sprintf("%d more", more))
	}
	return strings.Join(some, ", ")
}

// Unbusy refuses a node that something is being done to.
func (e *Imports) Unbusy(ctx context.Context, n node.Node) error {
	if _, err := e.Free(ctx, n.UUID); err != nil {
		return err
	}
	if n.Run != nil || n.Chore != "" {
		return node.Refuse(node.Conflict, "Node %s is %s here, and is left as it is: import it again when it is at rest.",
			n.UUID, n.ProvisionState)
	}
	return nil
}
