package serve

import (
	"context"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/bootlog"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// logs keep what machines log: in the database of a cluster, else in the data folder.
func (c Config) logs(p parts) (*bootlog.Keeper, error) {
	if p.logs != nil {
		return bootlog.New(p.logs, bootlog.Limits{}), nil
	}
	return bootlog.Open(filepath.Join(c.DataDir, "logs"), bootlog.Limits{})
}

// logTime bounds one read or write of a log.
const logTime = 30 * time.Second

// sharedLogs are the logs of machines in a database, for the time of a term.
type sharedLogs struct {
	db   *store.Database
	term context.Context //nolint:containedctx // logs are written for nobody's request
}

func (l sharedLogs) within() (context.Context, context.CancelFunc) {
	return context.WithTimeout(l.term, logTime)
}

func rowOf(node string, b bootlog.Boot) store.BootLog {
	return store.BootLog{Node: node, Number: b.Number, Name: b.Name, Size: b.Size}
}

// Nodes are none: the logs of a node go with it.
func (sharedLogs) Nodes() ([]string, error) { return nil, nil }

// Boots lists the boots of a node, oldest first.
func (l sharedLogs) Boots(node string) (boots []bootlog.Boot, err error) {
	ctx, cancel := l.within()
	defer cancel()
	all, err := l.db.BootLogs(ctx, node)
	for _, b := range all {
		boots = append(boots, bootlog.Boot{Number: b.Number, Name: b.Name, Size: b.Size})
	}
	return boots, err
}

// Append adds to the text of a boot.
func (l sharedLogs) Append(node string, b bootlog.Boot, text []byte) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.AppendBootLog(ctx, rowOf(node, b), text)
}

// Read reads a part of the text of a boot.
func (l sharedLogs) Read(node string, b bootlog.Boot, from, most int64) ([]byte, error) {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.ReadBootLog(ctx, rowOf(node, b), from, most)
}

// Replace writes the text of a boot anew.
func (l sharedLogs) Replace(node string, b bootlog.Boot, text []byte) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.ReplaceBootLog(ctx, rowOf(node, b), text)
}

// Remove removes the text of a boot.
func (l sharedLogs) Remove(node string, b bootlog.Boot) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.DeleteBootLog(ctx, rowOf(node, b))
}

// RemoveAll removes the texts of a node.
func (l sharedLogs) RemoveAll(node string) error {
	ctx, cancel := l.within()
	defer cancel()
	return l.db.DeleteBootLogs(ctx, node)
}
