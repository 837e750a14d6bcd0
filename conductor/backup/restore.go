package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/backup/format"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Target is where a backup is restored to.
type Target struct {
	Dir    string            // the data folder, which is empty or missing
	Server datafolder.Server // of an empty database; the zero value for the folder
	Now    func() time.Time
}

// Restored is what was restored.
type Restored struct {
	Taken       time.Time // when the backup was made
	Nodes, Busy int       // all nodes, and those at work
	Rows        int64     // that were moved to the server
}

func (t Target) folder() datafolder.Folder { return datafolder.Folder{Dir: t.Dir} }

// RefuseUsed refuses a folder that has anything in it.
func (t Target) RefuseUsed() error {
	entries, err := os.ReadDir(t.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--data-dir: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--data-dir %s is not empty (%s): move what is in it away, or name an empty folder", t.Dir,
			entries[0].Name())
	}
	return nil
}

// From fills the folder, and the server if there is one, or leaves both empty.
func (t Target) From(ctx context.Context, file, passphrase string) (done Restored, err error) {
	f, err := os.Open(file) //nolint:gosec // the operator's own
	if err != nil {
		return done, err
	}
	defer f.Close()
	unlock, err := datafolder.Lock(t.Dir)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	defer func() {
		if err != nil {
			err = errors.Join(err, t.empty())
		}
	}()
	c, err := format.Read(f, passphrase, t.extract)
	if err != nil {
		return done, fmt.Errorf("%s: %w", file, err)
	}
	for name, text := range c.Keys {
		if name != keys.EraseReportFile && name != keys.SecretsFile {
			return done, fmt.Errorf("%s: it has a key %q, which this build does not know", file, name)
		}
		if err := keys.WriteFile(t.folder().Path(name), text); err != nil {
			return done, err
		}
	}
	if done, err = t.hold(ctx, c.Header); err == nil && t.Server.URL != "" {
		done.Rows, err = t.toServer(ctx)
	}
	return done, err
}

// extract writes one file, for this user alone.
func (t Target) extract(name string, size int64, r io.Reader) (err error) {
	path := t.folder().Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, r, size)
	return errors.Join(err, out.Sync(), out.Close())
}

// empty takes everything out of the folder, which was empty before.
func (t Target) empty() error {
	entries, err := os.ReadDir(t.Dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(t.folder().Path(e.Name())))
	}
	return err
}

// hold opens the database, which brings its schema up to date and tries its keys, and holds its effects.
func (t Target) hold(ctx context.Context, h format.Header) (done Restored, err error) {
	db, err := t.folder().Open(ctx, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, t.folder().Closing(), db.Close()) }()
	if err := db.SetHold(ctx, node.RestoreHold{Since: t.Now().UTC(), Backup: h.Taken}); err != nil {
		return done, err
	}
	nodes, err := db.Nodes(ctx, node.Query{WithChildren: true})
	if err != nil {
		return done, err
	}
	busy, err := db.NodesWithEffects(ctx)
	return Restored{Taken: h.Taken, Nodes: len(nodes), Busy: len(busy)}, err
}

// toServer moves the restored database from the folder to the server. The keys stay in the folder.
func (t Target) toServer(ctx context.Context) (rows int64, err error) {
	to := store.Place{Address: t.Server.URL, Password: t.Server.Password}
	has, err := store.HasCluster(ctx, to.Address, store.PostgresOptions{Password: to.Password})
	if err == nil && has {
		err = fmt.Errorf("%s: a cluster has used it, and its keys are not those of the backup: name an empty database", to)
	}
	if err != nil {
		return 0, err
	}
	ring, err := datafolder.Ring(t.Dir)
	if err != nil {
		return 0, err
	}
	from := t.folder().Path(datafolder.DatabaseFile)
	all, err := store.Copy(ctx, store.Place{File: from}, to, store.CopyOptions{Keys: ring})
	if err != nil {
		return 0, err
	}
	for _, name := range []string{datafolder.DatabaseFile, datafolder.WALFile, datafolder.DatabaseFile + "-shm",
		datafolder.RunningFile} {
		if err := os.Remove(t.folder().Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	for _, c := range all {
		rows += c.Rows
	}
	return rows, nil
}
