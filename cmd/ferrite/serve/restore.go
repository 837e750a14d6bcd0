package serve

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

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/backup"
	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/node"
)

// RestoreCommand is `ferrite restore`.
func RestoreCommand() *cobra.Command {
	s := &saved{now: time.Now}
	c := &cobra.Command{
		Use: "restore FILE", Short: "Restore a backup into an empty data folder; effects are then held until: ferrite resume",
		Args: cobra.ExactArgs(1), SilenceUsage: true,
		Long: `Writes what "ferrite backup" has saved into a data folder that is empty or missing, and brings the
database up to this build. Everything in the file is checked; a file that was cut off or changed
leaves the folder empty. With --database, the database goes into an empty one of PostgreSQL, and the
keys into the folder: start the conductor with this folder first, which gives them to its cluster.

The machines have gone on since the backup. So a restored conductor answers, and reads power states,
but does nothing to any machine, and boots none, until "ferrite resume" has shown what it would do.`,
		Example: "  ferrite restore /var/backups/ferrite-1.backup --passphrase-file /root/passphrase",
		RunE: func(cmd *cobra.Command, args []string) error {
			s.file, s.out = args[0], cmd.OutOrStdout()
			if err := s.refuseUsed(); err != nil {
				return err
			}
			passphrase, err := s.passphrase(cmd)
			if err != nil {
				return err
			}
			return s.restore(cmd.Context(), passphrase)
		},
	}
	s.flags(c)
	return c
}

// refuseUsed refuses a folder that has anything in it.
func (s *saved) refuseUsed() error {
	entries, err := os.ReadDir(s.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("--data-dir: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("--data-dir %s is not empty (%s): move what is in it away, or name an empty folder", s.Dir,
			entries[0].Name())
	}
	return nil
}

// restore fills the folder, or leaves it empty.
func (s *saved) restore(ctx context.Context, passphrase string) (err error) {
	f, err := os.Open(s.file)
	if err != nil {
		return err
	}
	defer f.Close()
	unlock, err := datafolder.Lock(s.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	defer func() {
		if err != nil {
			err = errors.Join(err, s.empty())
		}
	}()
	c, err := backup.Read(f, passphrase, s.extract)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	for name, text := range c.Keys {
		if name != keys.EraseReportFile && name != keys.SecretsFile {
			return fmt.Errorf("%s: it has a key %q, which this build does not know", s.file, name)
		}
		if err := keys.WriteFile(s.Path(name), text); err != nil {
			return err
		}
	}
	said, err := s.hold(ctx, c.Header)
	if err == nil && s.url != "" {
		said, err = s.toServer(ctx, said)
	}
	if err == nil {
		_, err = fmt.Fprintf(s.out, "%srestore: start the conductor; it acts on no machine until: ferrite resume\n", said)
	}
	return err
}

// extract writes one file, for this user alone.
func (s *saved) extract(name string, size int64, r io.Reader) (err error) {
	path := s.Path(name)
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
func (s *saved) empty() error {
	entries, err := os.ReadDir(s.Dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(s.Path(e.Name())))
	}
	return err
}

// hold opens the database, which brings its schema up to date and tries its keys, and holds its effects. It returns
// what was restored, for people.
func (s *saved) hold(ctx context.Context, h backup.Header) (said string, err error) {
	s.Ended = nil
	db, err := s.Open(ctx, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		return "", err
	}
	closed := false
	end := func() error {
		if closed {
			return nil
		}
		closed = true
		return errors.Join(s.Closing(), db.Close())
	}
	defer func() { err = errors.Join(err, end()) }()
	if err := db.SetHold(ctx, node.RestoreHold{Since: s.now().UTC(), Backup: h.Taken}); err != nil {
		return "", err
	}
	nodes, err := db.Nodes(ctx, node.Query{WithChildren: true})
	if err != nil {
		return "", err
	}
	busy, err := db.NodesWithEffects(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("restore: %s holds the backup of %s: nodes %d, at work %d\n", s.Dir,
		h.Taken.UTC().Format(time.RFC3339), len(nodes), len(busy)), end()
}
