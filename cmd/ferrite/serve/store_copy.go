package serve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

func storeCopyCommand() *cobra.Command {
	passwordFile := os.Getenv("FERRITE_DATABASE_PASSWORD_FILE")
	c := &cobra.Command{
		Use: "copy FROM TO", Short: "Copy a database between a data folder and PostgreSQL", Args: cobra.ExactArgs(2),
		Long: `Copies all rows of FROM into TO, which must be empty. Each is a data folder, or the URL of a
PostgreSQL database: postgres://user@host/name. No conductor may run on either. FROM keeps its rows.

Rows are streamed. Both databases are read again, and compared, before TO shows anything: a copy
that is cut off leaves TO empty. Prints each table with its rows and their SHA-256, which is the
same in every database with these rows, then "store: copied".

The keys of a conductor are not in its database. Keep its data folder when you go to PostgreSQL.
To come back to a folder, put secrets-key.pem and erase-key.pem into it first.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return storeCopy{out: cmd.OutOrStdout(), passwordFile: passwordFile}.run(cmd, args[0], args[1])
		},
	}
	c.Flags().StringVar(&passwordFile, "database-password-file", passwordFile,
		"`file` with the password of PostgreSQL, where the URL has none")
	return c
}

// storeCopy is one copy of a database.
type storeCopy struct {
	out          io.Writer
	passwordFile string
}

func (s storeCopy) run(cmd *cobra.Command, from, to string) (err error) {
	switch fromServer, toServer := store.IsPostgres(from), store.IsPostgres(to); {
	case !fromServer && !toServer:
		return errors.New("expected the URL of a PostgreSQL database for FROM or TO, found two data folders: " +
			"copy a folder as docs/data-folder.md says")
	case fromServer && toServer:
		if from == to {
			return errors.New("FROM and TO are the same database")
		}
	}
	source, closeSource, err := s.place(from, datafolder.Folder.CheckSource)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeSource()) }()
	target, closeTarget, err := s.place(to, datafolder.Folder.CheckTarget)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTarget()) }()
	ring, err := ringOfEither(from, to)
	if err != nil {
		return err
	}
	var rows int64
	all, err := store.Copy(cmd.Context(), source, target, store.CopyOptions{Keys: ring, Done: func(c store.Copied) error {
		rows += c.Rows
		_, err := fmt.Fprintf(s.out, "%-18s %8d %s\n", c.Table, c.Rows, c.Checksum)
		return err
	}})
	if errors.Is(err, store.ErrKeys) {
		err = fmt.Errorf("%s of the data folder does not open the database: %w; put the key of the same conductor there",
			keys.SecretsFile, err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "store: copied %d rows of %d tables; both databases have the same counts and checksums\n", rows,
		len(all))
	fmt.Fprintln(s.out, s.next(from, to))
	return nil
}

// next is how to go on with the copy.
func (s storeCopy) next(from, to string) string {
	switch {
	case !store.IsPostgres(from):
		return fmt.Sprintf("store: start ferrite serve --data-dir %s with --database and this URL: keys and logs stay in "+
			"the folder; then move %s away, which grows old", from, filepath.Join(from, datafolder.DatabaseFile))
	case !store.IsPostgres(to):
		return fmt.Sprintf("store: start ferrite serve --data-dir %s without --database", to)
	default:
		return "store: start ferrite serve with --database, the URL of the copy, and the same data folder"
	}
}

// place is FROM or TO, locked if it is a folder.
func (s storeCopy) place(
	name string, check func(datafolder.Folder) error,
) (p store.Place, unlock func() error, err error) {
	if store.IsPostgres(name) {
		server, err := datafolder.ReadServer(name, s.passwordFile)
		return store.Place{Address: server.URL, Password: server.Password}, func() error { return nil }, err
	}
	d := datafolder.Folder{Dir: name}
	if _, err := os.Stat(name); err != nil {
		return p, nil, fmt.Errorf("expected a data folder or a URL as postgres://user@host/name: %w", err)
	}
	if unlock, err = datafolder.Lock(name); err != nil {
		return p, nil, fmt.Errorf("%w: stop it first", err)
	}
	if err := check(d); err != nil {
		return p, nil, errors.Join(err, unlock())
	}
	return store.Place{File: d.Path(datafolder.DatabaseFile)}, unlock, nil
}

// ringOfEither is the keys of the side that is a folder; nil when none is.
func ringOfEither(from, to string) (*seal.Ring, error) {
	for _, name := range []string{from, to} {
		if !store.IsPostgres(name) {
			return datafolder.Ring(name)
		}
	}
	return nil, nil
}
