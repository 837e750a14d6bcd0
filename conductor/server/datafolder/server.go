package datafolder

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// Server is a PostgreSQL database; the zero value is none.
type Server struct{ URL, Password string }

// ReadServer reads the password from its file, if there is one.
func ReadServer(url, passwordFile string) (Server, error) {
	switch {
	case url == "" && passwordFile != "":
		return Server{}, errors.New("--database-password-file is of no use without --database")
	case url == "":
		return Server{}, nil
	}
	if err := store.CheckPostgres(url); err != nil {
		return Server{}, fmt.Errorf("--database: %w", err)
	}
	if passwordFile == "" {
		return Server{URL: url}, nil
	}
	text, err := os.ReadFile(passwordFile) //nolint:gosec // the operator's own
	if err != nil {
		return Server{}, fmt.Errorf("--database-password-file: %w", err)
	}
	return Server{url, strings.TrimRight(string(text), "\r\n")}, nil
}

// openServer is Open for a database on a server. The keys are in the folder.
func (d Folder) openServer(
	ctx context.Context, log *slog.Logger, sealing func(step string) error,
) (*store.Database, error) {
	lost := d.Init && !d.Has(keys.SecretsFile)
	if begun := d.Has(keys.SecretsFile) || d.Has(keys.EraseReportFile); begun && !d.Init {
		if missing := d.MissingKeys(NewestKey); len(missing) > 0 {
			return nil, missing[0]
		}
	}
	if d.Has(DatabaseFile) {
		log.Warn("the SQLite database in the data folder is not used", "file", d.Path(DatabaseFile))
	}
	if err := d.makeKeys(log); err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.Dir, err)
	}
	ring, err := Ring(d.Dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.Dir, err)
	}
	db, err := store.OpenPostgres(ctx, d.Server.URL, store.PostgresOptions{
		Options:  store.Options{Keys: ring, DropLost: lost, Sealing: LoggedSealing(log, sealing)},
		Password: d.Server.Password, Connection: d.connection(log),
	})
	if err != nil {
		return nil, d.wrongKey(err)
	}
	if sealing != nil {
		err = sealing("seal everything")
	}
	if err == nil {
		err = keys.DropOldSecrets(d.Dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--data-dir %s: %w", d.Dir, err), db.Close())
	}
	return db, nil
}

// NewestKey is a version of the schema at which a folder must have all keys.
const NewestKey = 99

// connection logs the loss of the connection, and its return. After another conductor has taken the database, this one
// ends.
func (d Folder) connection(log *slog.Logger) func(error) {
	name := store.PostgresName(d.Server.URL)
	return func(err error) {
		switch {
		case err == nil:
			log.Info("the database can be reached again", "database", name)
		case errors.Is(err, store.ErrSuperseded) && d.Ended != nil:
			d.Ended(fmt.Errorf("%s: %w", name, err))
		default:
			log.Error("the database cannot be reached: reads and writes wait for it", "database", name, "err", err)
		}
	}
}
