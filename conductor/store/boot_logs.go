package store

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
)

// BootLog is the log of a machine from one boot. Number orders the boots of a node.
type BootLog struct {
	Node   string
	Number int
	Name   string
	Size   int64 // bytes
}

// logPiece is the size at which a piece of a log is full, in bytes. Adding to a piece writes all of it again.
const logPiece = 32 << 10

// BootLogs lists the logs of a node, oldest first. Only databases on a server have any.
func (s *Database) BootLogs(ctx context.Context, nodeUUID string) (all []BootLog, err error) {
	err = s.read.each(ctx, func(rows *sql.Rows) error {
		b := BootLog{Node: nodeUUID}
		err := rows.Scan(&b.Number, &b.Name, &b.Size)
		all = append(all, b)
		return err
	}, "SELECT number, boot, sum(length(piece)) FROM boot_logs WHERE node_uuid = ? GROUP BY number, boot ORDER BY number",
		nodeUUID)
	if err != nil {
		return nil, fmt.Errorf("list the logs of node %s: %w", nodeUUID, err)
	}
	return all, nil
}

// AppendBootLog adds to a log of b.Size bytes.
func (s *Database) AppendBootLog(ctx context.Context, b BootLog, text []byte) error {
	return s.changeLog(ctx, b, func(t *tx) error {
		const add = "UPDATE boot_logs SET piece = piece || ? WHERE node_uuid = ? AND number = ? AND length(piece) < ? " +
			"AND at + length(piece) = ?"
		touched, err := t.exec(add, text, b.Node, b.Number, logPiece, b.Size)
		if err != nil || touched > 0 {
			return err
		}
		return t.putPiece(b, b.Size, text)
	})
}

// ReplaceBootLog writes a log anew.
func (s *Database) ReplaceBootLog(ctx context.Context, b BootLog, text []byte) error {
	return s.changeLog(ctx, b, func(t *tx) error {
		if err := t.dropLog(b); err != nil {
			return err
		}
		for at := 0; at < len(text); at += logPiece {
			if err := t.putPiece(b, int64(at), text[at:min(at+logPiece, len(text))]); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteBootLog removes a log.
func (s *Database) DeleteBootLog(ctx context.Context, b BootLog) error {
	return s.changeLog(ctx, b, func(t *tx) error { return t.dropLog(b) })
}

// DeleteBootLogs removes all logs of a node, which may be gone already.
func (s *Database) DeleteBootLogs(ctx context.Context, nodeUUID string) error {
	return s.changeLog(ctx, BootLog{Node: nodeUUID}, func(t *tx) error {
		_, err := t.exec("DELETE FROM boot_logs WHERE node_uuid = ?", nodeUUID)
		return err
	})
}

func (s *Database) changeLog(ctx context.Context, b BootLog, change func(t *tx) error) error {
	err := s.w.do(ctx, func(t *tx) error {
		if err := t.checkGroup(b.Node); err != nil {
			return err
		}
		return change(t)
	})
	if err != nil {
		return fmt.Errorf("write the log %s of node %s: %w", b.Name, b.Node, err)
	}
	return nil
}

func (t *tx) putPiece(b BootLog, at int64, text []byte) error {
	_, err := t.exec("INSERT INTO boot_logs (node_uuid, number, boot, at, piece) VALUES (?, ?, ?, ?, ?)",
		b.Node, b.Number, b.Name, at, text)
	if orphan(err) {
		return noNode(b.Node)
	}
	return err
}

func (t *tx) dropLog(b BootLog) error {
	_, err := t.exec("DELETE FROM boot_logs WHERE node_uuid = ? AND number = ?", b.Node, b.Number)
	return err
}

// ReadBootLog reads at most some bytes of a log from a place on.
func (s *Database) ReadBootLog(ctx context.Context, b BootLog, from, most int64) ([]byte, error) {
	var text bytes.Buffer
	err := s.read.each(ctx, func(rows *sql.Rows) error {
		var at int64
		var piece []byte
		if err := rows.Scan(&at, &piece); err != nil {
			return err
		}
		text.Write(piece[min(max(from-at, 0), int64(len(piece))):])
		return nil
	}, "SELECT at, piece FROM boot_logs WHERE node_uuid = ? AND number = ? AND at + length(piece) > ? AND at < ? "+
		"ORDER BY at", b.Node, b.Number, from, from+most)
	if err != nil {
		return nil, fmt.Errorf("read the log %s of node %s: %w", b.Name, b.Node, err)
	}
	return text.Bytes()[:min(most, int64(text.Len()))], nil
}
