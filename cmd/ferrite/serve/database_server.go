package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// databaseServer is a PostgreSQL database; the zero value is none.
type databaseServer struct{ url, password string }

// databaseServerOf reads the password from its file, if there is one.
func databaseServerOf(url, passwordFile string) (databaseServer, error) {
	switch {
	case url == "" && passwordFile != "":
		return databaseServer{}, errors.New("--database-password-file is of no use without --database")
	case url == "":
		return databaseServer{}, nil
	}
	if err := store.CheckPostgres(url); err != nil {
		return databaseServer{}, fmt.Errorf("--database: %w", err)
	}
	if passwordFile == "" {
		return databaseServer{url: url}, nil
	}
	text, err := os.ReadFile(passwordFile) //nolint:gosec // the operator's own
	if err != nil {
		return databaseServer{}, fmt.Errorf("--database-password-file: %w", err)
	}
	return databaseServer{url, strings.TrimRight(string(text), "\r\n")}, nil
}

// server is the database of the flags, which checkDatabase has accepted.
func (c *Config) server() databaseServer {
	server, _ := databaseServerOf(c.Database, c.PasswordFile)
	return server
}

func (c *Config) checkDatabase() error {
	if _, err := databaseServerOf(c.Database, c.PasswordFile); err != nil {
		return err
	}
	return c.checkCluster()
}

// groupName is what Ironic allows as the name of a conductor group.
var groupName = regexp.MustCompile(`^[a-z0-9_.-]{0,255}$`)

// checkCluster refuses settings of a cluster without one.
func (c *Config) checkCluster() error {
	c.Group = strings.ToLower(c.Group) // as Ironic does
	switch {
	case !groupName.MatchString(c.Group):
		return fmt.Errorf("--group %q: expected letters, digits, _, . and -", c.Group)
	case c.ClusterKey != "" && c.Database == "":
		return errors.New("--cluster-key-file needs --database: conductors share a PostgreSQL database")
	case c.ClusterKey == "" && (c.Group != "" || c.ClusterAddress != ""):
		return errors.New("--group and --cluster-address are of use in a cluster: say --cluster-key-file, too")
	}
	if c.ClusterAddress == "" {
		return nil
	}
	if _, _, err := net.SplitHostPort(c.ClusterAddress); err != nil {
		return fmt.Errorf("--cluster-address %q is not host:port", c.ClusterAddress)
	}
	return nil
}

// readiness is how a database says that it cannot be used at the moment.
func readiness(db Database) func() error {
	if r, ok := db.(interface{ Ready() error }); ok {
		return r.Ready
	}
	return nil
}

// openServer is open for a database on a server. The keys are in the folder.
func (d dataFolder) openServer(
	ctx context.Context, log *slog.Logger, sealing func(step string) error,
) (*store.Database, error) {
	lost := d.init && !d.has(keys.SecretsFile)
	if begun := d.has(keys.SecretsFile) || d.has(keys.EraseReportFile); begun && !d.init {
		if missing := d.missingKeys(newestKey); len(missing) > 0 {
			return nil, missing[0]
		}
	}
	if d.has(databaseFile) {
		log.Warn("the SQLite database in the data folder is not used", "file", d.path(databaseFile))
	}
	if err := d.makeKeys(log); err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.dir, err)
	}
	ring, err := secretsRing(d.dir)
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: %w", d.dir, err)
	}
	db, err := store.OpenPostgres(ctx, d.server.url, store.PostgresOptions{
		Options:  store.Options{Keys: ring, DropLost: lost, Sealing: loggedSealing(log, sealing)},
		Password: d.server.password, Connection: d.connection(log),
	})
	if err != nil {
		return nil, d.wrongKey(err)
	}
	if sealing != nil {
		err = sealing("seal everything")
	}
	if err == nil {
		err = keys.DropOldSecrets(d.dir)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--data-dir %s: %w", d.dir, err), db.Close())
	}
	return db, nil
}

// newestKey is a schema whose folder has all keys.
const newestKey = 99

// connection logs the loss of the connection, and its return. A conductor whose database another
// one has taken ends.
func (d dataFolder) connection(log *slog.Logger) func(error) {
	name := store.PostgresName(d.server.url)
	return func(err error) {
		switch {
		case err == nil:
			log.Info("the database can be reached again", "database", name)
		case errors.Is(err, store.ErrSuperseded) && d.ended != nil:
			d.ended(fmt.Errorf("%s: %w", name, err))
		default:
			log.Error("the database cannot be reached: reads and writes wait for it", "database", name, "err", err)
		}
	}
}
