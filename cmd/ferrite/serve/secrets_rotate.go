package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/conductor/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/keys"
	"github.com/ferrite-metal/ferrite/conductor/seal"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// SecretsCommand is `ferrite secrets`: it works on the data folder of a conductor that
// does not run, or on the database of a cluster that does not.
func SecretsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "secrets", Short: "Change the key that seals passwords and tokens at rest", SilenceUsage: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	dir := os.Getenv("FERRITE_DATA_DIR")
	if dir == "" {
		dir = datafolder.Default
	}
	var url, passwordFile string
	rotate := &cobra.Command{
		Use: "rotate", Short: "Make a new key, and seal everything with it", Args: cobra.NoArgs,
		Long: `Makes a new key in secrets-key.pem, seals all passwords, tokens and Secrets in the database with
it, rewrites the database file, and then deletes the old key. The conductor must not run.

If it is killed, the file has both keys. Run it again, or start the conductor: either finishes.
Older backups open with the key that was saved beside them.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			server, err := datafolder.ReadServer(url, passwordFile)
			if err != nil {
				return err
			}
			return rotation{datafolder.Folder{Dir: dir, Server: server}, cmd.OutOrStdout(), log, nil}.run(cmd)
		},
	}
	rotate.Flags().StringVar(&dir, "data-dir", dir, "`folder` of the database, also $FERRITE_DATA_DIR")
	rotate.Flags().StringVar(&url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve")
	rotate.Flags().StringVar(&passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	c.AddCommand(rotate, clusterKeyCommand())
	return c
}

// rotation is one change of the key.
type rotation struct {
	datafolder.Folder
	out io.Writer
	log *slog.Logger
	// killed is called after each step; its error ends the rotation there. For tests; may
	// be nil.
	killed func(step string) error
}

func (r rotation) run(cmd *cobra.Command) (err error) {
	if !r.Has(datafolder.DatabaseFile) && r.Server.URL == "" {
		if err := r.LostDatabase(); err != nil {
			return err
		}
		return fmt.Errorf("--data-dir %s: there is no database in it, and nothing else of a conductor: name the folder "+
			"that ferrite serve is given", r.Dir)
	}
	unlock, err := datafolder.Lock(r.Dir)
	if err != nil {
		return fmt.Errorf("%w: stop it first", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if _, err := os.Stat(r.Path(datafolder.NewFile)); err == nil {
		return fmt.Errorf("--data-dir %s: the first start of its conductor was cut off: start the conductor once", r.Dir)
	}
	if err := r.notShared(cmd.Context()); err != nil {
		return err
	}
	before, err := keys.Secrets(r.Dir)
	if err != nil {
		return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	// With the keys as they are: it refuses a key of another database before one is added,
	// and finishes a rotation that was cut off.
	if err := r.reseal(cmd); err != nil {
		return err
	}
	if len(before) == 1 {
		if err := keys.AddSecrets(r.Dir); err != nil {
			return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
		}
		if err := r.step("add a key"); err != nil {
			return err
		}
		if err := r.reseal(cmd); err != nil {
			return err
		}
	}
	return r.print(before)
}

// notShared refuses a database whose key a cluster shares: its conductors would seal with another one.
func (r rotation) notShared(ctx context.Context) error {
	if r.Server.URL == "" {
		return nil
	}
	shared, err := store.HasCluster(ctx, r.Server.URL, store.PostgresOptions{Password: r.Server.Password})
	if err == nil && shared {
		err = fmt.Errorf("%s: the conductors of a cluster share its key: expected a database of a single conductor; "+
			"see docs/operate/several-conductors.md", store.PostgresName(r.Server.URL))
	}
	return err
}

// reseal seals everything with the newest key, and leaves only that one.
func (r rotation) reseal(cmd *cobra.Command) error {
	db, err := r.Open(cmd.Context(), r.log, r.killed)
	if err != nil {
		return err
	}
	if err := errors.Join(r.Closing(), db.Close()); err != nil {
		return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	return nil
}

func (r rotation) step(name string) error {
	if r.killed == nil {
		return nil
	}
	return r.killed(name)
}

func (r rotation) print(before [][]byte) error {
	now, err := keys.Secrets(r.Dir)
	if err != nil {
		return fmt.Errorf("--data-dir %s: %w", r.Dir, err)
	}
	if len(before) > 1 {
		fmt.Fprintln(r.out, "secrets: finished a rotation that was cut off")
	}
	fmt.Fprintf(r.out, "secrets: sealed with the new key %s, and the key %s is deleted\n"+
		"secrets: back up the folder now; older backups need the %s beside them\n",
		seal.IDOf(now[0]), seal.IDOf(before[len(before)-1]), keys.SecretsFile)
	return nil
}
