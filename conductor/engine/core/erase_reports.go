package core

import (
	"context"
	"crypto/ed25519"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/proto/agentapi"
	"github.com/ferrite-metal/ferrite/proto/nodeapi"
)

// ListEraseReports returns the erase reports of all nodes that a query selects.
func (e *Core) ListEraseReports(ctx context.Context, q node.EraseReportQuery) ([]node.EraseReport, error) {
	return e.Store.EraseReports(ctx, q)
}

// EraseReport returns one erase report.
func (e *Core) EraseReport(ctx context.Context, uuid string) (node.EraseReport, error) {
	return e.Store.Catalogs().EraseReports.Find(ctx, uuid)
}

// ErasePublicKey is by which the signatures of erase reports are known; nil when
// there is no key.
func (e *Core) ErasePublicKey() ed25519.PublicKey {
	if len(e.EraseKey) == 0 {
		return nil
	}
	public, _ := e.EraseKey.Public().(ed25519.PublicKey)
	return public
}

// InventoryOf returns the inventory of the last inspection. It is empty if there is none or if it cannot be decoded.
func (e *Core) InventoryOf(ctx context.Context, uuid string) (inv agentapi.Inventory, err error) {
	found, err := e.Store.Inspected(ctx, uuid)
	if errors.Is(err, node.ErrNotFound) {
		return inv, nil
	}
	if err == nil {
		if _, bad := agentapi.Decode(found.Inventory, &inv); bad != nil {
			inv = agentapi.Inventory{}
		}
	}
	return inv, err
}

// signEraseReport signs a machine's report in the conductor's name. Only the conductor knows which agent it commanded,
// and machines keep no secrets.
func (e *Core) signEraseReport(r *node.EraseReport, now time.Time) error {
	r.UUID, r.CreatedAt = uuid.NewString(), now
	statement := nodeapi.EraseStatement{UUID: r.UUID, NodeUUID: r.NodeUUID, NodeName: r.NodeName, Failed: r.Failed,
		SignedAt: now, Report: r.Report}
	signed, err := statement.Sign(e.EraseKey)
	if err != nil {
		return err
	}
	if r.Payload, r.Signature, err = signed.Signed(); err != nil {
		return err
	}
	return r.Check()
}
