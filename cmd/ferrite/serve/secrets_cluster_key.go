package serve

import (
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/ferrite-metal/ferrite/cmd/ferrite/internal/siteconfig"
	"github.com/ferrite-metal/ferrite/conductor/cluster"
	"github.com/ferrite-metal/ferrite/conductor/server/datafolder"
	"github.com/ferrite-metal/ferrite/conductor/store"
)

// clusterKeyCommand is `ferrite server secrets cluster-key`.
func clusterKeyCommand() *cobra.Command {
	var url, passwordFile, last, next string
	c := &cobra.Command{
		Use: "cluster-key", Short: "Change the cluster key, which seals the shared keys of a cluster", Args: cobra.NoArgs,
		Long: `Seals the keys in the database, which the conductors of a cluster share, with another cluster key: all of
them, or none. No conductor may run. Then start all with the new file: a conductor with the old key is refused.`,
		Example: `  ferrite server secrets cluster-key --database postgres://ferrite@db.example/ferrite \
    --cluster-key-file /etc/ferrite/cluster-key --new-cluster-key-file /etc/ferrite/cluster-key.new`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn}))
			server, err := datafolder.ReadServer(url, passwordFile)
			if err == nil && server.URL == "" {
				err = siteconfig.NotNamed(cmd, "database of the cluster", "database")
			}
			if err != nil {
				return err
			}
			from, err := cluster.ReadKey(last, log)
			if err != nil {
				return err
			}
			to, err := cluster.ReadKey(next, log)
			if err != nil {
				return fmt.Errorf("the new key: %w", err)
			}
			reseal, err := cluster.Resealing(from, to)
			if err != nil {
				return err
			}
			n, err := store.ChangeSharedKeys(cmd.Context(), server.URL, store.PostgresOptions{Password: server.Password}, reseal)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "secrets: %d shared keys are sealed with the key in %s: start every conductor with "+
				"it\n", n, next)
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&url, "database", os.Getenv("FERRITE_DATABASE"), "`URL` of the cluster's database, as of ferrite serve")
	f.StringVar(&passwordFile, "database-password-file", os.Getenv("FERRITE_DATABASE_PASSWORD_FILE"),
		"`file` with its password")
	f.StringVar(&last, "cluster-key-file", os.Getenv("FERRITE_CLUSTER_KEY_FILE"), "`file` of the key so far")
	f.StringVar(&next, "new-cluster-key-file", "", "`file` of the new key")
	siteconfig.Add(c, "database", "database-password-file", "cluster-key-file")
	return c
}
