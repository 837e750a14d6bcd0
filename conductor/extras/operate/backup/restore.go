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

	"github.com/ferrite-metal/ferrite/conductor/extras/operate/backup/format"
	"github.com/ferrite-metal/ferrite/conductor/node"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Target is where a backup is restored to.
type Target struct {
	Dir    string            // the data folder, which is empty or missing
	Server datafolder.Server // of an empty database; the zero value for the folder
	Now    func() time.Time
}

// Restored is the result of From.
type Restored struct {
	Taken       time.Time // when the backup was made
	Nodes, Busy int       // all nodes, and those at work
	Rows        int64     // that were moved to the server
}

func (t Target) folder() datafolder.Folder { return datafolder.Folder{Dir: t.Dir} }

// RefuseUsed refuses a folder that has anything in it but a lock.
func (t Target) RefuseUsed() error {
	entries, err := os.ReadDir(t.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--data-dir: %w", err)
	}
	for _, e := range entries {
		if e.Name() != datafolder.LockFile {
			return fmt.Errorf("--data-dir %s is not empty (%s): move its content away, or name an empty folder", t.Dir,
				e.Name())
		}
	}
	return nil
}

// From fills the folder, and the server if there is one. After a failure it removes everything that it made.
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
	if err := t.RefuseUsed(); err != nil { // checked again under the lock: another process may have filled it
		return done, err
	}
	if err := keys.WriteFile(t.folder().Path(datafolder.RestoringFile), nil); err != nil {
		return done, err
	}
	made := append(databaseFiles(), keys.EraseReportFile, keys.SecretsFile)
	defer func() {
		if err != nil {
			if left := t.remove(made...); left != nil {
				err = errors.Join(err, left)
				return
			}
		}
		err = errors.Join(err, t.remove(datafolder.RestoringFile))
	}()
	c, err := format.Read(f, passphrase, func(name string, size int64, r io.Reader) error {
		out, err := t.create(name)
		if err != nil {
			return err
		}
		made = append(made, name)
		_, err = io.CopyN(out, r, size)
		return errors.Join(err, out.Sync(), out.Close())
	})
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

// create makes one file, for this user alone.
func (t Target) create(name string) (*os.File, error) {
	path := t.folder().Path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// databaseFiles are the files of an open database, beside its keys.
func databaseFiles() []string {
	return []string{datafolder.DatabaseFile, datafolder.WALFile, datafolder.DatabaseFile + "-shm", datafolder.RunningFile}
}

// remove removes files, those that are there, and the folders that are empty then.
func (t Target) remove(names ...string) (err error) {
	for _, name := range names {
		if gone := os.Remove(t.folder().Path(name)); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
			_ = os.Remove(t.folder().Path(dir)) // it may have more files
		}
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
		err = fmt.Errorf("%s: a cluster has used it with other keys than the backup's: name an empty database", to)
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
	if err := t.remove(databaseFiles()...); err != nil {
		return 0, err
	}
	for _, c := range all {
		rows += c.Rows
	}
	return rows, nil
}
