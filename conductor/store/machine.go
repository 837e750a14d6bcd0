package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/ferrite-metal/ferrite/conductor/node"
)

// Two nodes with known systems and equal keys are one machine, and the unique index on nodes.machine refuses the
// second. A node without a system must be the only node of its BMC, so it conflicts with every node there.
const (
	// otherMachines finds a node of another system at the same BMC: ?1 is KeyOfBMC, ?2 the first text after all that
	// begin so.
	otherMachines = "SELECT uuid FROM nodes WHERE machine <> '' AND machine >= ?1 AND machine < ?2 AND uuid <> ?3 LIMIT 1"
	// sameMachine finds a node of the key ?1, or of the only system of its BMC, ?2.
	sameMachine = "SELECT uuid FROM nodes WHERE machine <> '' AND machine IN (?1, ?2) AND uuid <> ?3 LIMIT 1"
	// holdsMachine finds the node itself, where it has the key already.
	holdsMachine = "SELECT uuid FROM nodes WHERE uuid = ?1 AND machine = ?2"
)

// conflicting is the statement that finds another node of a machine, and its arguments.
func conflicting(m node.Machine, uuid string) (text string, args []any) {
	bmc := m.KeyOfBMC()
	if m.System == "" {
		return otherMachines, []any{bmc, bmc[:len(bmc)-1] + "!", uuid} // "!" comes next after the space
	}
	return sameMachine, []any{m.Key(), bmc, uuid}
}

// machineFree refuses a node if another node holds its machine. A node that holds it already is never refused.
func (t *tx) machineFree(n *node.Node) error {
	m, ok := n.HeldMachine()
	if !ok {
		return nil
	}
	if held, err := t.exists(holdsMachine, n.UUID, m.Key()); held || err != nil {
		return err
	}
	if err := t.lock(t, m.KeyOfBMC()); err != nil {
		return err
	}
	other := ""
	text, args := conflicting(m, n.UUID)
	err := t.query(func(scan func(...any) error) error { return scan(&other) }, text, args...)
	if err == nil && other != "" {
		err = &node.MachineTakenError{Machine: m, Other: other}
	}
	return err
}

// machinesFilled is the migration after 00015_machines.sql.
const machinesFilled = 16

// goMigrations are the migrations that SQL cannot express.
func goMigrations() []*goose.Migration {
	return []*goose.Migration{
		goose.NewGoMigration(machinesFilled, &goose.GoFunc{RunTx: fillMachines}, nil),
	}
}

// nodesPerPage bounds the memory of fillMachines.
const nodesPerPage = 500

// fillMachines fills nodes.machine. Earlier builds allowed several nodes with one machine. The oldest of them holds it,
// and the others are marked as sharing it. A row with an unreadable document gets no machine.
func fillMachines(ctx context.Context, tx *sql.Tx) error {
	for last := int64(0); ; {
		page, err := nodesWithMachines(ctx, tx, &last)
		if err != nil {
			return fmt.Errorf("read the nodes' BMC addresses: %w", err)
		}
		for _, n := range page {
			if err := fillMachine(ctx, tx, n); err != nil {
				return fmt.Errorf("note the BMC of node %s: %w", n.UUID, err)
			}
		}
		if last == 0 {
			return nil
		}
	}
}

// nodesWithMachines reads the nodes after a row that hold a machine, as far as HeldMachine needs them. last becomes the
// last row that was read, 0 for none.
func nodesWithMachines(ctx context.Context, tx *sql.Tx, last *int64) (page []node.Node, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, uuid, driver, parent_node,
		CASE WHEN json_valid(doc) THEN coalesce(doc -> '$.driver_info', '{}') ELSE '{}' END
		FROM nodes WHERE id > ? ORDER BY id LIMIT ?`, *last, nodesPerPage)
	if err != nil {
		return nil, err
	}
	*last = 0
	return page, eachRow(rows, func(rows *sql.Rows) error {
		var n node.Node
		var info []byte
		if err := rows.Scan(last, &n.UUID, &n.Driver, &n.ParentNode, &info); err != nil {
			return err
		}
		if json.Unmarshal(info, &n.DriverInfo) != nil {
			return nil
		}
		if _, ok := n.HeldMachine(); ok {
			page = append(page, n)
		}
		return nil
	})
}

func fillMachine(ctx context.Context, tx *sql.Tx, n node.Node) error {
	m, _ := n.HeldMachine()
	text, args := conflicting(m, n.UUID)
	var other string
	switch err := tx.QueryRowContext(ctx, text, args...).Scan(&other); {
	case errors.Is(err, sql.ErrNoRows):
		_, err := tx.ExecContext(ctx, "UPDATE nodes SET machine = ? WHERE uuid = ?", m.Key(), n.UUID)
		return err
	case err != nil:
		return err
	}
	_, err := tx.ExecContext(ctx,
		"UPDATE nodes SET doc = json_set(doc, '$.shares_machine', json('true')) WHERE uuid = ?", n.UUID)
	return err
}
