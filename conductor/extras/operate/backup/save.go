// Package backup makes a backup of a conductor or a cluster while it runs, and restores one into an empty data folder
// or an empty database on a server. A restored conductor acts on no machine until an operator resumes it.
//
// It knows no settings. Package format is the file.
package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ferrite-metal/ferrite/conductor/extras/operate/backup/format"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Source is the data of a conductor, or of a cluster, that a backup is of.
type Source struct {
	Dir        string            // the data folder
	Server     datafolder.Server // of the database; the zero value for the folder's database
	ClusterKey string            // file of the cluster's key; "" for the keys of the folder
	Logs       bool              // with the machines' logs
	Release    string            // of this program
	ScryptN    int               // how costly the passphrase is to guess; 0 for the format's own
	Now        func() time.Time
}

// Made is a backup that was made.
type Made struct {
	Size  int64
	Taken time.Time
}

func (s Source) folder() datafolder.Folder { return datafolder.Folder{Dir: s.Dir} }

// To writes a backup beside its place, and moves it there when it is whole.
func (s Source) To(ctx context.Context, file, passphrase string) (made Made, err error) {
	if len(passphrase) < format.LeastPassphrase {
		return made, fmt.Errorf("the passphrase has %d characters, expected %d or more: nothing was saved", len(passphrase),
			format.LeastPassphrase)
	}
	if err := s.RefuseUsed(file); err != nil {
		return made, err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(file), ".ferrite-backup-") // mode 0700
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	made.Taken = s.Now().UTC()
	copied, whole := filepath.Join(tmp, datafolder.DatabaseFile), filepath.Join(tmp, "backup")
	copyIt := s.copyFolder
	if s.Server.URL != "" {
		copyIt = s.copyServer
	}
	keyFiles, err := copyIt(ctx, copied)
	if err != nil {
		return made, err
	}
	out, err := create(whole, file)
	if err != nil {
		return made, err
	}
	if made.Size, err = s.pack(ctx, out, copied, made.Taken, passphrase, keyFiles); err != nil {
		return made, err
	}
	return made, os.Rename(whole, file)
}

// RefuseUsed refuses a file that is there already, and a source without a database.
func (s Source) RefuseUsed(file string) error {
	if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already: name a new file", file), err)
	}
	if s.Server.URL == "" && !s.folder().Has(datafolder.DatabaseFile) {
		return fmt.Errorf("--data-dir %s: there is no SQLite database in it: name the folder that ferrite serve is "+
			"given, or the URL of a database on PostgreSQL by --database", s.Dir)
	}
	return nil
}

// copyFolder copies the database of the data folder, and returns its keys.
func (s Source) copyFolder(ctx context.Context, to string) (map[string][]byte, error) {
	if _, err := os.Stat(s.folder().Path(datafolder.NewFile)); err == nil {
		return nil, fmt.Errorf("--data-dir %s: the first start of its conductor was cut off: start the conductor once", s.Dir)
	}
	if err := s.folder().RefuseRestoring(); err != nil {
		return nil, err
	}
	before, err := s.keyFiles()
	if err != nil {
		return nil, err
	}
	if err := store.Snapshot(ctx, s.folder().Path(datafolder.DatabaseFile), to); err != nil {
		return nil, err
	}
	after, err := s.keyFiles()
	if err != nil {
		return nil, err
	}
	for name := range before {
		if !bytes.Equal(before[name], after[name]) {
			return nil, fmt.Errorf("the key %s was changed meanwhile: nothing was saved; try again", name)
		}
	}
	return after, nil
}

// keyFiles are the keys of the folder.
func (s Source) keyFiles() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range []string{keys.EraseReportFile, keys.SecretsFile} {
		text, err := os.ReadFile(s.folder().Path(name))
		if err != nil {
			return nil, fmt.Errorf("key of --data-dir %s: %w: a database without its keys is no backup", s.Dir, err)
		}
		all[name] = text
	}
	return all, nil
}

// pack writes the file, and closes it. It returns its size.
func (s Source) pack(
	ctx context.Context, out output, copied string, taken time.Time, passphrase string, keyFiles map[string][]byte,
) (size int64, err error) {
	defer func() { err = errors.Join(err, out.close()) }()
	schema, err := store.SchemaVersion(ctx, copied)
	if err != nil {
		return 0, err
	}
	header := format.Header{Release: s.Release, Taken: taken, Schema: schema}
	header.KDF.N = s.ScryptN
	w, err := format.NewWriter(out, header, passphrase, keyFiles)
	if err != nil {
		return 0, err
	}
	if err := add(w, datafolder.DatabaseFile, copied); err != nil {
		return 0, err
	}
	if s.Logs {
		if err := s.addLogs(w); err != nil {
			return 0, err
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return out.sync()
}

// addLogs adds the machines' logs. A log that grows is saved up to its size at the start; a log that disappears is left
// out.
func (s Source) addLogs(w *format.Writer) error {
	root := s.folder().Path("logs")
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.Dir, path)
		if err != nil {
			return err
		}
		if err := add(w, name, path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

func add(w *format.Writer, name, path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return w.Add(filepath.ToSlash(name), info.Size(), f)
}
