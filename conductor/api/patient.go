package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/engine"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/plan"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// Ironic's defaults of node_locked_retry_attempts and node_locked_retry_interval.
const (
	lockedTries    = 3
	lockedInterval = time.Second
)

// patient tries an operator's request again while its node is locked, as
// Ironic's conductor does before it answers NodeLocked. A try that finds the
// node locked has ended when the wait begins, so nothing is held meanwhile.
// Allocations are not tried again: the engine looks for another node.
type patient struct {
	Conductor
	interval time.Duration
	stopping <-chan struct{}
}

// try calls f until the node is not locked, three times at most.
func try[T any](ctx context.Context, p patient, f func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		v, err := f()
		var refusal *node.Refusal
		if n == lockedTries || !errors.As(err, &refusal) || refusal.Kind != node.Locked {
			return v, err
		}
		if err := p.wait(ctx); err != nil {
			return v, err
		}
	}
}

// wait returns early, with an error, when the client goes away or the conductor
// stops.
func (p patient) wait(ctx context.Context) error {
	timer := time.NewTimer(p.interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.stopping:
	case <-ctx.Done():
	}
	select {
	case <-p.stopping: // which may have ended ctx too
		return nodeapi.NewFault(http.StatusServiceUnavailable, "The conductor is stopping; please retry in a few seconds")
	default:
		return ctx.Err()
	}
}

func (p patient) do(ctx context.Context, f func() error) error {
	_, err := try(ctx, p, func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// UpdateNode waits for the node.
func (p patient) UpdateNode(ctx context.Context, ref string, edit func(*node.Node) error) (node.Node, error) {
	return try(ctx, p, func() (node.Node, error) { return p.Conductor.UpdateNode(ctx, ref, edit) })
}

// DeleteNode waits for the node.
func (p patient) DeleteNode(ctx context.Context, ref string) error {
	return p.do(ctx, func() error { return p.Conductor.DeleteNode(ctx, ref) })
}

// Provision waits for the node, if its state allows the verb.
func (p patient) Provision(ctx context.Context, ref string, r plan.Request) error {
	return p.do(ctx, func() error { return p.Conductor.Provision(ctx, ref, r) })
}

// SetPower waits for the node.
func (p patient) SetPower(ctx context.Context, ref string, target node.PowerState, timeout time.Duration) error {
	return p.do(ctx, func() error { return p.Conductor.SetPower(ctx, ref, target, timeout) })
}

// SetBootDevice waits for the node.
func (p patient) SetBootDevice(ctx context.Context, ref, device string, persistent bool) error {
	return p.do(ctx, func() error { return p.Conductor.SetBootDevice(ctx, ref, device, persistent) })
}

// InjectNMI waits for the node.
func (p patient) InjectNMI(ctx context.Context, ref string) error {
	return p.do(ctx, func() error { return p.Conductor.InjectNMI(ctx, ref) })
}

// ChangeBootMode waits for the node.
func (p patient) ChangeBootMode(ctx context.Context, ref, mode string) error {
	return p.do(ctx, func() error { return p.Conductor.ChangeBootMode(ctx, ref, mode) })
}

// ChangeSecureBoot waits for the node.
func (p patient) ChangeSecureBoot(ctx context.Context, ref string, on bool) error {
	return p.do(ctx, func() error { return p.Conductor.ChangeSecureBoot(ctx, ref, on) })
}

// SetConsole waits for the node.
func (p patient) SetConsole(ctx context.Context, ref string, on bool) error {
	return p.do(ctx, func() error { return p.Conductor.SetConsole(ctx, ref, on) })
}

// SetIndicatorState waits for the node.
func (p patient) SetIndicatorState(ctx context.Context, ref, component, name, state string) error {
	return p.do(ctx, func() error { return p.Conductor.SetIndicatorState(ctx, ref, component, name, state) })
}

// SetTargetRAIDConfig waits for the node.
func (p patient) SetTargetRAIDConfig(ctx context.Context, ref string, config map[string]any) error {
	return p.do(ctx, func() error { return p.Conductor.SetTargetRAIDConfig(ctx, ref, config) })
}

// AttachMedium waits for the node.
func (p patient) AttachMedium(ctx context.Context, ref string, m node.Medium) error {
	return p.do(ctx, func() error { return p.Conductor.AttachMedium(ctx, ref, m) })
}

// DetachMedia waits for the node.
func (p patient) DetachMedia(ctx context.Context, ref string, devices []string) error {
	return p.do(ctx, func() error { return p.Conductor.DetachMedia(ctx, ref, devices) })
}

// CallVendor waits for the node. A node is locked for a method before it is called.
func (p patient) CallVendor(ctx context.Context, ref, httpMethod, method string,
	args map[string]any) (result any, async bool, err error) {
	err = p.do(ctx, func() error {
		result, async, err = p.Conductor.CallVendor(ctx, ref, httpMethod, method, args)
		return err
	})
	return result, async, err
}

// CreatePort waits for the node.
func (p patient) CreatePort(ctx context.Context, v node.Port) (node.Port, error) {
	return try(ctx, p, func() (node.Port, error) { return p.Conductor.CreatePort(ctx, v) })
}

// UpdatePort waits for the port's node.
func (p patient) UpdatePort(ctx context.Context, ref string, edit func(*node.Port) error) (node.Port, error) {
	return try(ctx, p, func() (node.Port, error) { return p.Conductor.UpdatePort(ctx, ref, edit) })
}

// DeletePort waits for the port's node.
func (p patient) DeletePort(ctx context.Context, ref string) error {
	return p.do(ctx, func() error { return p.Conductor.DeletePort(ctx, ref) })
}

// AttachVIF waits for the node.
func (p patient) AttachVIF(ctx context.Context, ref string, v node.VIF) error {
	return p.do(ctx, func() error { return p.Conductor.AttachVIF(ctx, ref, v) })
}

// DetachVIF waits for the node.
func (p patient) DetachVIF(ctx context.Context, ref, id string) error {
	return p.do(ctx, func() error { return p.Conductor.DetachVIF(ctx, ref, id) })
}

// SetTraits waits for the node.
func (p patient) SetTraits(ctx context.Context, ref string, traits []string) error {
	return p.do(ctx, func() error { return p.Conductor.SetTraits(ctx, ref, traits) })
}

// AddTrait waits for the node.
func (p patient) AddTrait(ctx context.Context, ref, trait string) error {
	return p.do(ctx, func() error { return p.Conductor.AddTrait(ctx, ref, trait) })
}

// RemoveTrait waits for the node.
func (p patient) RemoveTrait(ctx context.Context, ref, trait string) error {
	return p.do(ctx, func() error { return p.Conductor.RemoveTrait(ctx, ref, trait) })
}

// Catalogs has changes of portgroups and volumes wait for their node.
func (p patient) Catalogs() engine.Catalogs {
	all := p.Conductor.Catalogs()
	all.Portgroups = patientCatalog[node.Portgroup]{all.Portgroups, p}
	all.VolumeConnectors = patientCatalog[node.VolumeConnector]{all.VolumeConnectors, p}
	all.VolumeTargets = patientCatalog[node.VolumeTarget]{all.VolumeTargets, p}
	return all
}

// patientCatalog is records that cannot be changed while their node is locked.
type patientCatalog[T any] struct {
	engine.Catalog[T]
	p patient
}

// Create waits for the record's node.
func (c patientCatalog[T]) Create(ctx context.Context, v T) (T, error) {
	return try(ctx, c.p, func() (T, error) { return c.Catalog.Create(ctx, v) })
}

// Update waits for the record's node.
func (c patientCatalog[T]) Update(ctx context.Context, ref string, edit func(*T) error) (T, error) {
	return try(ctx, c.p, func() (T, error) { return c.Catalog.Update(ctx, ref, edit) })
}

// Delete waits for the record's node.
func (c patientCatalog[T]) Delete(ctx context.Context, ref string) error {
	return c.p.do(ctx, func() error { return c.Catalog.Delete(ctx, ref) })
}
