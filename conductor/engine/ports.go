package engine

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// CreatePort stores a new port of a node that is not reserved.
func (e *Engine) CreatePort(ctx context.Context, p node.Port) (node.Port, error) {
	if p.UUID == "" {
		p.UUID = uuid.NewString()
	}
	p.CreatedAt = e.Now()
	return e.putPort(ctx, p)
}

// putPort writes a port and raises its node's revision, so that a decision
// made on the old ports does not stand.
func (e *Engine) putPort(ctx context.Context, p node.Port) (node.Port, error) {
	for range maxTries {
		n, err := e.free(ctx, p.NodeUUID)
		if err != nil {
			return p, err
		}
		_, err = e.commit(ctx, node.Change{Save: &n, PutPorts: []node.Port{p}})
		if errors.Is(err, node.ErrStale) {
			continue
		}
		return p, err
	}
	return p, e.locked(p.NodeUUID)
}

// Port returns a port by UUID.
func (e *Engine) Port(ctx context.Context, id string) (node.Port, error) {
	p, err := e.Store.Port(ctx, id)
	if errors.Is(err, node.ErrNotFound) {
		return p, node.Refuse(node.NotFound, "Port %s could not be found.", id)
	}
	return p, err
}

// Ports returns those that match, in order of creation.
func (e *Engine) Ports(ctx context.Context, q node.PortQuery) ([]node.Port, error) {
	ports, err := e.Store.Ports(ctx, q)
	if errors.Is(err, node.ErrNotFound) {
		return nil, node.Refuse(node.NotFound, "Port %s could not be found.", q.Marker)
	}
	return ports, err
}

// UpdatePort edits a port; edit may answer a Refusal.
func (e *Engine) UpdatePort(ctx context.Context, id string, edit func(*node.Port) error) (node.Port, error) {
	p, err := e.Port(ctx, id)
	if err != nil {
		return p, err
	}
	if err := edit(&p); err != nil {
		return p, err
	}
	now := e.Now()
	p.UUID, p.UpdatedAt = id, &now
	return e.putPort(ctx, p)
}

// DeletePort removes a port.
func (e *Engine) DeletePort(ctx context.Context, id string) error {
	p, err := e.Port(ctx, id)
	if err != nil {
		return err
	}
	for range maxTries {
		n, err := e.free(ctx, p.NodeUUID)
		if err != nil {
			return err
		}
		_, err = e.commit(ctx, node.Change{Save: &n, DropPorts: []string{id}})
		if !errors.Is(err, node.ErrStale) {
			return err
		}
	}
	return e.locked(p.NodeUUID)
}
