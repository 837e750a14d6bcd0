// Package handover keeps in the database of a cluster a leader's knowledge of machines beside their nodes: boot stages
// and progress (Observations), and the logs of ramdisks and consoles (Logs). So the next leader shows them, too.
//
// It must not decide, and writes for the time of one term alone: the database refuses it afterwards.
package handover

import (
	"context"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/agents/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// logTime bounds one read or write of a log.
const logTime = 30 * time.Second

// Logs are the logs of machines in a database, for the time of a term.
type Logs struct {
	db   *store.Database
	term context.Context //nolint:containedctx // logs are written for nobody's request
}

// NewLogs makes the logs of a term, which ends with its context.
func NewLogs(term context.Context, db *store.Database) Logs { return Logs{db, term} }

func (l Logs) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(l.term, logTime)
}

func rowOf(node string, b bootlog.Boot) store.BootLog {
	return store.BootLog{Node: node, Number: b.Number, Name: b.Name, Size: b.Size}
}

// Nodes are none: the logs of a node go with it.
func (Logs) Nodes() ([]string, error) { return nil, nil }

// Boots lists the boots of a node, oldest first.
func (l Logs) Boots(node string) (boots []bootlog.Boot, err error) {
	ctx, cancel := l.within()
	defer cancel()
	all, err := l.db.BootLogs(ctx, node)
	for _, b := range all {
		boots = append(boots, bootlog.Boot{Number: b.Number, Name: b.Name, Size: b.Size})
	}
	return boots, err
}

// Append adds to the text of a boot.
func (l Logs) Append(node string, b bootlog.Boot, text []byte) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.AppendBootLog(ctx, rowOf(node, b), text)
}

// Read reads a part of the text of a boot.
func (l Logs) Read(node string, b bootlog.Boot, from, most int64) ([]byte, error) {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.ReadBootLog(ctx, rowOf(node, b), from, most)
}

// Replace writes the text of a boot anew.
func (l Logs) Replace(node string, b bootlog.Boot, text []byte) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.ReplaceBootLog(ctx, rowOf(node, b), text)
}

// Remove removes the text of a boot.
func (l Logs) Remove(node string, b bootlog.Boot) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.DeleteBootLog(ctx, rowOf(node, b))
}

// RemoveAll removes the texts of a node.
func (l Logs) RemoveAll(node string) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.DeleteBootLogs(ctx, node)
}
