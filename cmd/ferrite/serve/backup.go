package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/secret"
	"github.com/ferrite-metal/ferrite/conductor/backup"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// passphraseVariable is where scripts have the passphrase, for which they have no file.
const passphraseVariable = "FERRITE_BACKUP_PASSPHRASE"

// saved is a backup that is made of a data folder, or read into one.
type saved struct {
	datafolder.Folder
	savedServer
	file, passphraseFile string
	release              string
	logs                 bool
	out                  io.Writer
	now                  func() time.Time
}

func (s *saved) flags(c *cobra.Command) {
	dir := os.Getenv("FERRITE_DATA_DIR")
	if dir == "" {
		dir = datafolder.Default
	}
	c.Flags().StringVar(&s.Dir, "data-dir", dir, "`folder` of the database, also $FERRITE_DATA_DIR")
	c.Flags().StringVar(&s.passphraseFile, "passphrase-file", "",
		"`file` whose first line is the passphrase; - is standard input; also $"+passphraseVariable)
	s.savedServer.flags(c)
}

// BackupCommand is `ferrite backup`.
func BackupCommand() *cobra.Command {
	s := &saved{now: time.Now}
	c := &cobra.Command{
		Use: "backup FILE", Short: "Save the database and the keys of a conductor, which may be running",
		Args: cobra.ExactArgs(1), SilenceUsage: true,
		Long: `Writes the database of a conductor, as it is at one moment, and its keys to a new file. Conductors may
be running; they go on working. The keys are sealed by a passphrase of 12 characters or more; without
it, nobody gets the passwords in the database, nor do you. Logs of machines are left out without
--logs. Keep a copy of /etc/ferrite, too.

Without --database it is the SQLite database of the data folder. With it, the keys are those that a
cluster shares (--cluster-key-file), else those of the data folder. All backups are alike: each can be
restored into a data folder and into PostgreSQL.`,
		Example: `  ferrite backup /var/backups/ferrite-1.backup --passphrase-file /root/passphrase
  ferrite backup /var/backups/ferrite-2.backup --passphrase-file /root/passphrase \
    --database postgres://ferrite@db.example/ferrite --cluster-key-file /etc/ferrite/cluster-key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			s.file, s.out, s.release = args[0], cmd.OutOrStdout(), cmd.Root().Version
			passphrase, err := s.passphrase(cmd)
			if err != nil {
				return err
			}
			return s.save(cmd.Context(), passphrase)
		},
	}
	s.flags(c)
	c.Flags().StringVar(&s.clusterKey, "cluster-key-file", os.Getenv("FERRITE_CLUSTER_KEY_FILE"),
		"`file` with the key of a cluster, whose conductors share --database")
	c.Flags().BoolVar(&s.logs, "logs", false, "save the machines' logs, too: up to 20 MiB for each node")
	return c
}

// passphrase is that of the flag, the variable or the terminal, in this order.
func (s *saved) passphrase(cmd *cobra.Command) (string, error) {
	if s.passphraseFile != "" {
		return secret.FirstLine(cmd.InOrStdin(), "--passphrase-file", s.passphraseFile)
	}
	if p := os.Getenv(passphraseVariable); p != "" {
		return p, nil
	}
	return secret.Ask(cmd.ErrOrStderr(), "Passphrase", "--passphrase-file")
}

// save writes the backup beside its place, and moves it there when it is whole.
func (s *saved) save(ctx context.Context, passphrase string) (err error) {
	if len(passphrase) < backup.LeastPassphrase {
		return fmt.Errorf("the passphrase has %d characters, expected %d or more: nothing was saved", len(passphrase),
			backup.LeastPassphrase)
	}
	if _, err := os.Lstat(s.file); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("%s is there already: name a new file", s.file), err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(s.file), ".ferrite-backup-") // mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	taken, copied := s.now().UTC(), filepath.Join(tmp, datafolder.DatabaseFile)
	copyIt := s.copyFolder
	if s.url != "" {
		copyIt = s.copyServer
	}
	keyFiles, err := copyIt(ctx, copied)
	if err != nil {
		return err
	}
	size, err := s.pack(ctx, filepath.Join(tmp, "backup"), copied, taken, passphrase, keyFiles)
	if err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(tmp, "backup"), s.file); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "backup: %s, %.1f MB, as of %s; restore it with: ferrite restore %s\n", s.file,
		float64(size)/1e6, taken.Format(time.RFC3339), s.file)
	return err
}

// copyFolder copies the database of the data folder, and returns its keys.
func (s *saved) copyFolder(ctx context.Context, to string) (map[string][]byte, error) {
	if !s.Has(datafolder.DatabaseFile) {
		return nil, fmt.Errorf("--data-dir %s: there is no SQLite database in it: name the folder that ferrite serve is "+
			"given, or the URL of a database on PostgreSQL by --database", s.Dir)
	}
	if _, err := os.Stat(s.Path(datafolder.NewFile)); err == nil {
		return nil, fmt.Errorf("--data-dir %s: the first start of its conductor was cut off: start the conductor once", s.Dir)
	}
	before, err := s.keyFiles()
	if err != nil {
		return nil, err
	}
	if err := store.Snapshot(ctx, s.Path(datafolder.DatabaseFile), to); err != nil {
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
func (s *saved) keyFiles() (map[string][]byte, error) {
	all := map[string][]byte{}
	for _, name := range []string{keys.EraseReportFile, keys.SecretsFile} {
		text, err := os.ReadFile(s.Path(name))
		if err != nil {
			return nil, fmt.Errorf("key of --data-dir %s: %w: a database without its keys is no backup", s.Dir, err)
		}
		all[name] = text
	}
	return all, nil
}

// pack writes the file. It returns its size.
func (s *saved) pack(
	ctx context.Context, to, copied string, taken time.Time, passphrase string, keyFiles map[string][]byte,
) (size int64, err error) {
	schema, err := store.SchemaVersion(ctx, copied)
	if err != nil {
		return 0, err
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, err := backup.NewWriter(f, backup.Header{Release: s.release, Taken: taken, Schema: schema}, passphrase, keyFiles)
	if err != nil {
		return 0, err
	}
	if err := add(w, datafolder.DatabaseFile, copied); err != nil {
		return 0, err
	}
	if s.logs {
		if err := s.addLogs(w); err != nil {
			return 0, err
		}
	}
	if err := errors.Join(w.Close(), f.Sync()); err != nil {
		return 0, fmt.Errorf("write %s: %w", s.file, err)
	}
	return f.Seek(0, io.SeekCurrent)
}

// addLogs adds what machines have logged. A log that grows is saved as long as it was; one that goes is left out.
func (s *saved) addLogs(w *backup.Writer) error {
	root := s.Path("logs")
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

func add(w *backup.Writer, name, path string) (err error) {
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
