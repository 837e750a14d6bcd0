package serve

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/seal/keys"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
)

// SecretsCommand is `ferrite server secrets`: it works on the data folder of a conductor that
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
			done, err := datafolder.Rotation{Folder: datafolder.Folder{Dir: dir, Server: server}, Log: log}.Run(cmd.Context())
			if err != nil {
				return err
			}
			if done.Finished {
				fmt.Fprintln(cmd.OutOrStdout(), "secrets: finished a rotation that was cut off")
			}
			fmt.Fprintf(cmd.OutOrStdout(), "secrets: sealed with the new key %s, and the key %s is deleted\n"+
				"secrets: back up the folder now; older backups need the %s beside them\n", done.Key, done.Deleted,
				keys.SecretsFile)
			return nil
		},
	}
	rotate.Flags().StringVar(&dir, "data-dir", dir, "`folder` of the database, also $FERRITE_DATA_DIR")
	rotate.Flags().StringVar(&url, "database", os.Getenv("FERRITE_DATABASE"),
		"`URL` of a PostgreSQL database, as of ferrite serve")
	rotate.Flags().StringVar(&passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	siteconfig.Add(rotate, "data-dir", "database", "database-password-file")
	c.AddCommand(rotate, clusterKeyCommand())
	return c
}
